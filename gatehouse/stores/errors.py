"""The errors that stores raise."""


class StoreError(Exception):
    """Base of everything a store raises on purpose."""


class StoreUnavailable(StoreError):
    """The engine cannot be reached, is too slow, or refused the work. Nothing may be assumed to have happened."""


class UnstorableValue(StoreError):
    """The engine cannot store a value, and a retry would fail again: the mistake of whoever sent it."""


class Duplicate(StoreError):
    """Something with this name exists already."""


class Missing(StoreError):
    """There is nothing of this name or id."""


class InUse(StoreError):
    """It cannot be deleted or moved while others refer to it."""


class LastAdministrator(InUse):
    """The change would leave no enabled administrator."""
