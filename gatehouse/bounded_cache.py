"""A bounded cache: a dictionary that evicts its oldest entry when it is full."""

from __future__ import annotations

from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class BoundedCache(dict[K, V]):
    """Reads cost what a dictionary costs. Setting a key again makes it the newest."""

    __slots__ = ("max_size",)

    def __init__(self, max_size: int) -> None:
        super().__init__()
        self.max_size = max_size

    def __setitem__(self, key: K, value: V) -> None:
        self.pop(key, None)
        if len(self) >= self.max_size:
            del self[next(iter(self))]
        super().__setitem__(key, value)
