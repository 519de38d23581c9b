"""Who is online: users with a connection that stays open, over all workers and nodes.

Each worker keeps the users of its own connections in one value in state, renewed while there are any, and its name in a
list that all share. So a connection costs no writes of its own, and a worker that dies is forgotten when its value
expires. The number may lag by `REFRESH_SECONDS`.
"""

from __future__ import annotations

import secrets
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

import msgspec

from gatehouse.auth.refusals import TooBusy, TooManyRequests

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Iterator

    from gatehouse.stores.state.protocol import State

T = TypeVar("T")

# Connections that one worker keeps open, and those of one user among them.
MAX_CONNECTIONS = 1000
MAX_PER_USER = 20
REFRESH_SECONDS = 5.0
EXPIRE_SECONDS = 30.0
RETRY_AFTER_SECONDS = 30
ATTEMPTS = 5

WORKERS = "online"


class Presence:
    def __init__(self, state: State, clock: Callable[[], float], stopping: asyncio.Event) -> None:
        self._state = state
        self._clock = clock
        self._worker = secrets.token_hex(8)
        self._connections: Counter[int] = Counter()
        self._known = 0
        self._stale_at = 0.0
        self.stopping = stopping  # set when the worker stops: open connections would delay the stop

    @contextmanager
    def connected(self, user: int) -> Iterator[None]:
        """Count the user as online for as long as the block runs."""
        if self._connections.total() >= MAX_CONNECTIONS:
            raise TooBusy(RETRY_AFTER_SECONDS, "too many connections stay open")
        if self._connections[user] >= MAX_PER_USER:
            raise TooManyRequests(RETRY_AFTER_SECONDS, "too many connections of this user stay open")
        self._connections[user] += 1
        self._stale_at = 0.0
        try:
            yield
        finally:
            self._connections[user] -= 1
            self._connections += Counter()  # drops those at zero
            self._stale_at = 0.0

    async def count(self) -> int:
        """How many users are online."""
        now = self._clock()
        if now >= self._stale_at:
            self._stale_at = now + REFRESH_SECONDS
            await self._write(now)
            self._known = len(await self._online(now))
        return self._known

    async def _online(self, now: float) -> set[int]:
        online = set(self._connections)
        for worker in _decode(await self._state.value(WORKERS, now), dict[str, float]):
            if worker != self._worker:
                online |= set(_decode(await self._state.value(_key(worker), now), list[int]))
        return online

    async def _write(self, now: float) -> None:
        key, expires = _key(self._worker), now + EXPIRE_SECONDS
        stored = await self._state.value(key, now)
        await self._state.compare_and_set(key, stored, _encode(sorted(self._connections)), expires, now)
        for _ in range(ATTEMPTS):
            listed = await self._state.value(WORKERS, now)
            workers = _decode(listed, dict[str, float])
            if workers.get(self._worker, 0.0) > now + EXPIRE_SECONDS / 2:
                return
            workers = {worker: until for worker, until in workers.items() if until > now} | {self._worker: expires}
            if await self._state.compare_and_set(WORKERS, listed, _encode(workers), expires, now):
                return


def _key(worker: str) -> str:
    return f"online|{worker}"


def _encode(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _decode(text: str | None, kind: type[T]) -> T:
    return msgspec.json.decode(text, type=kind) if text else kind()
