"""How many calls ask a directory at once, how many wait, and when none of them tries."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from gatehouse.identity_sources.errors import SourceUnavailable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

WAITING_FOR_EACH = 4  # calls that may wait, for each that runs
OPEN_SECONDS = 3.0


class CallQueue:
    """At most `limit` calls at once; a few wait, and the next is refused instead of waiting for its timeout."""

    def __init__(self, limit: int) -> None:
        self._running = asyncio.Semaphore(limit)
        self._waiting = 0
        self._most_waiting = limit * WAITING_FOR_EACH

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        if self._waiting >= self._most_waiting:
            raise SourceUnavailable("too many logins wait for the directory")
        self._waiting += 1
        try:
            await self._running.acquire()
        finally:
            self._waiting -= 1
        try:
            yield
        finally:
            self._running.release()


class CircuitBreaker:
    """After no server has answered, calls fail at once for a few seconds; then one of them tries."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._problem = ""
        self._closed_again = 0.0
        self._probing = False

    @asynccontextmanager
    async def guard(self) -> AsyncIterator[None]:
        if self._problem and (self._probing or self._clock() < self._closed_again):
            raise SourceUnavailable(f"not asked again yet: {self._problem}", "connect")
        probe = self._probing = bool(self._problem)
        try:
            yield
            self._problem = ""
        finally:
            if probe:
                self._probing = False

    def open(self, problem: str) -> None:
        self._problem = problem
        self._closed_again = self._clock() + OPEN_SECONDS
