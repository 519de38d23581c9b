"""What a store can say when it cannot answer."""


class StoreError(Exception):
    """Base of everything a store raises on purpose."""


class StoreUnavailable(StoreError):
    """The engine cannot be reached, is too slow, or refused the work. Nothing may be assumed to have happened."""


class ValuesRefused(StoreUnavailable):
    """The engine answers, and refuses these values: asking again is in vain."""


class Duplicate(StoreError):
    """Something with this name exists already."""


class Missing(StoreError):
    """There is nothing of this name or id."""


class InUse(StoreError):
    """It cannot go while others refer to it."""


class LastAdministrator(InUse):
    """After this change nobody could manage anything any more."""


class RateExceeded(StoreError):
    """A rate limit refused the operation; `wait` is in seconds."""

    def __init__(self, wait: float) -> None:
        super().__init__(f"{wait:.1f} s to wait")
        self.wait = wait
