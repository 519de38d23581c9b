"""Audit events that anybody can cause at no cost: counted, and stored as one row for each interval.

A made-up refresh token or captcha id belongs to no user. Stored one by one, a flood of them would fill the trail.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

Kind = TypeVar("Kind")

AGGREGATE_SECONDS = 300
# Different addresses that are counted; a full set means "this many or more".
MAX_ADDRESSES = 1_000


class Aggregate:
    """Events of one kind since `opened`."""

    def __init__(self, opened: float) -> None:
        self.opened = opened
        self.count = 0
        self._addresses: set[str] = set()

    def add(self, address: str) -> None:
        self.count += 1
        if len(self._addresses) < MAX_ADDRESSES:
            self._addresses.add(address)

    @property
    def address(self) -> str:
        """Where they came from, if all came from one address."""
        return next(iter(self._addresses)) if len(self._addresses) == 1 else ""

    def detail(self, now: float) -> dict[str, object]:
        return {"count": self.count, "addresses": len(self._addresses), "seconds": round(now - self.opened)}


class Aggregates(Generic[Kind]):
    """`store` gets each aggregate when its interval is over."""

    def __init__(self, clock: Callable[[], float], store: Callable[[Kind, Aggregate], None]) -> None:
        self._clock = clock
        self._store = store
        self._open: dict[Kind, Aggregate] = {}
        self._timers: dict[Kind, asyncio.TimerHandle] = {}

    def add(self, kind: Kind, address: str) -> None:
        found = self._open.get(kind)
        if found is not None and self._clock() >= found.opened + AGGREGATE_SECONDS:
            self.close(kind)
            found = None
        if found is None:
            found = self._open[kind] = Aggregate(self._clock())
            loop = asyncio.get_running_loop()
            self._timers[kind] = loop.call_later(AGGREGATE_SECONDS, self.close, kind)
        found.add(address)

    def close(self, kind: Kind) -> None:
        self._timers.pop(kind).cancel()
        self._store(kind, self._open.pop(kind))

    def close_all(self) -> None:
        for kind in list(self._open):
            self.close(kind)
