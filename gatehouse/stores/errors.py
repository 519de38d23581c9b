"""The errors that stores raise."""


class StoreError(Exception):
    """Base of everything a store raises on purpose."""


class StoreUnavailable(StoreError):
    """The engine cannot be reached, is too slow, or refused the work. Nothing may be assumed to have happened."""


class ValuesRefused(StoreUnavailable):
    """The engine refuses these values: a retry would fail again.

    Still an outage to whoever did not take the value from a caller; the API answers it as a mistake of the caller.
    """


class Duplicate(StoreError):
    """Something with this name exists already."""


class Missing(StoreError):
    """There is nothing of this name or id."""


class InUse(StoreError):
    """It cannot be deleted or moved while others refer to it."""


class LastAdministrator(InUse):
    """The change would leave no enabled administrator."""


class RateExceeded(StoreError):
    """A rate limit refused the operation; `wait` is in seconds."""

    def __init__(self, wait: float) -> None:
        super().__init__(f"{wait:.1f} s to wait")
        self.wait = wait
