"""A document of a provider, fetched when it is needed and kept for a while."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

T = TypeVar("T")

MAX_AGE = 3600.0
# Whoever sends tokens with invented key ids makes us fetch no more often than this.
REFETCH_PAUSE = 15.0


class Fetched(Generic[T]):
    """One caller fetches, the others wait for the lock and take what it got. Each is bounded by its own time."""

    def __init__(self, fetch: Callable[[], Awaitable[T]], clock: Callable[[], float]) -> None:
        self._fetch = fetch
        self._clock = clock
        self._lock = asyncio.Lock()
        self._kept: tuple[float, T] | None = None
        self._tried = 0.0

    async def get(self) -> T:
        # Whoever needs nothing new does not wait for a fetch that is under way.
        if self._kept is not None and self._kept[0] > self._clock() - MAX_AGE:
            return self._kept[1]
        async with self._lock:
            return await self._get_newer_than(self._clock() - MAX_AGE)

    async def get_again(self) -> T:
        """Fetched anew, unless somebody has just tried that."""
        async with self._lock:
            pause_over = self._clock() - self._tried >= REFETCH_PAUSE
            return await self._get_newer_than(self._clock() if pause_over else self._clock() - MAX_AGE)

    async def _get_newer_than(self, moment: float) -> T:
        if self._kept is not None and self._kept[0] > moment:
            return self._kept[1]
        self._tried = self._clock()
        document = await self._fetch()
        self._kept = (self._clock(), document)
        return document
