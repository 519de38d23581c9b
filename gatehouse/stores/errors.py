"""The errors that stores raise."""


class StoreError(Exception):
    """Base of everything a store raises on purpose."""


class StoreUnavailable(StoreError):
    """The engine cannot be reached, is too slow, or refused the work. Nothing may be assumed to have happened."""


class UnstorableValue(StoreUnavailable):
    """The engine cannot store a value: a retry would fail again.

    Values come from a caller of the API, so it answers 400. Code that passes its own values treats it as an outage.
    """


class Duplicate(StoreError):
    """Something with this name exists already."""


class Missing(StoreError):
    """There is nothing of this name or id."""


class InUse(StoreError):
    """It cannot be deleted or moved while others refer to it."""


class LastAdministrator(InUse):
    """The change would leave no enabled administrator."""
