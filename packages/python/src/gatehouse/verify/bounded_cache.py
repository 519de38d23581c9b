"""As the server's `gatehouse.common.bounded_cache`, which is not installed here: evicts its oldest entry if full."""

from __future__ import annotations

from contextlib import suppress
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class BoundedCache(dict[K, V]):
    """Reads cost what a dictionary costs. Setting a key again makes it the newest. Safe to use from several threads."""

    __slots__ = ("max_size",)

    def __init__(self, max_size: int) -> None:
        super().__init__()
        self.max_size = max_size

    def __setitem__(self, key: K, value: V) -> None:
        self.pop(key, None)
        while self and len(self) >= self.max_size:  # not once: another thread may have kept it from making room before
            with suppress(RuntimeError, StopIteration):  # another thread has just changed it
                self.pop(next(iter(self)), None)
        super().__setitem__(key, value)
