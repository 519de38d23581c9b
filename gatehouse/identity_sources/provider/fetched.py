"""A document of a provider, fetched when it is needed and kept for a while."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

T = TypeVar("T")

MAX_AGE = 3600.0
# Whoever sends tokens with invented key ids makes us fetch no more often than this, but for a few times at first: a
# provider that changes its keys several times in a minute is rare, and its people are not to be kept out.
REFETCH_PAUSE = 15.0
REFETCH_BURST = 10


class Fetched(Generic[T]):
    """One caller fetches, the others wait for the lock and take what it got. Each is bounded by its own time."""

    def __init__(self, fetch: Callable[[], Awaitable[T]], clock: Callable[[], float]) -> None:
        self._fetch = fetch
        self._clock = clock
        self._lock = asyncio.Lock()
        self._kept: tuple[float, T] | None = None
        self._paid_until = 0.0  # each fetch is paid for with a pause

    async def get(self) -> T:
        # Whoever needs nothing new does not wait for a fetch that is under way.
        if self._kept is not None and self._kept[0] > self._clock() - MAX_AGE:
            return self._kept[1]
        async with self._lock:
            return await self._get_newer_than(self._clock() - MAX_AGE)

    async def get_again(self) -> T:
        """Fetched anew, unless somebody else has done so meanwhile, or it was fetched too often."""
        known = self._kept
        async with self._lock:
            allowed = self._paid_until - self._clock() <= (REFETCH_BURST - 1) * REFETCH_PAUSE
            anew = allowed and self._kept is known
            return await self._get_newer_than(self._clock() if anew else self._clock() - MAX_AGE)

    async def _get_newer_than(self, moment: float) -> T:
        if self._kept is not None and self._kept[0] > moment:
            return self._kept[1]
        self._paid_until = max(self._paid_until, self._clock()) + REFETCH_PAUSE
        document = await self._fetch()
        self._kept = (self._clock(), document)
        return document
