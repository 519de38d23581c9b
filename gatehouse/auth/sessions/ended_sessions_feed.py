"""The feed of ended sessions: what services that verify tokens by themselves read, so that a logout reaches them.

Entries are written by the state engines in the step that ends the session, all in `stores/state/`: in
`sqlite/ended_sessions_log.py`, `record_ended.lua` of Redis, and `append_ended` in `postgres/functions.sql`. Here they
are read.

A reader keeps a position: `<feed id>:<entry>`. The feed has a random id that lives in the state, so a position from a
state that was lost since, or from another one, is noticed. A reader who missed entries that may still matter gets
`missing_before`: sessions that ended before that time may not have been reported. Tokens that were issued later are not
affected.

While somebody listens, one task of the worker looks for new entries ten times a second; else nothing runs.
"""

from __future__ import annotations

import asyncio
import re
import secrets
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from gatehouse.auth.refusals import TooBusy
from gatehouse.stores.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gatehouse.stores.state.protocol import EndedLogEntry, State

POLL_SECONDS = 0.1
# Readers that wait for entries at the same time in one worker; one more is answered 503.
LISTENERS_MAX = 200
RETRY_AFTER_SECONDS = 5
PAGE_SIZE = 500
# The id of the feed is kept for as long as there are readers: each worker renews it once a day while it is read.
FEED_ID_TTL = 30 * 86_400
FEED_ID_RENEWAL_SECONDS = 86_400

_FEED_ID_KEY = "ended sessions"
_POSITION = re.compile(r"([0-9a-f]{12}):((?:\d{1,18}(?:-\d{1,18})?)?)")


class FeedPage(NamedTuple):
    entries: Sequence[EndedLogEntry]
    position: str
    missing_before: float | None = None


class EndedSessionsFeed:
    def __init__(self, state: State, clock: Callable[[], float], stopping: asyncio.Event) -> None:
        self._state = state
        self._clock = clock
        self.stopping = stopping  # set when the worker stops: readers then stop waiting
        self._listeners = 0
        self._poller: asyncio.Task[None] | None = None
        self._change = asyncio.Event()
        self._renew_at = 0.0  # the feed's id, at the first read after this time

    async def read(self, position: str | None, limit: int = PAGE_SIZE) -> FeedPage:
        """The entries after a position; None starts with the oldest entry that may still matter."""
        feed_id = await self._feed_id()
        found = _POSITION.fullmatch(position or f"{feed_id}:")
        if found is None or found[1] != feed_id:
            page = await self._state.ended_sessions("", limit)
            return FeedPage(page.entries, f"{feed_id}:{page.position}", self._clock())
        try:
            page = await self._state.ended_sessions(found[2], limit)
        except ValueError:
            # Not a position of this engine: treated as that of another feed.
            return await self.read(f"{'0' * 12}:", limit)
        if page.complete:
            return FeedPage(page.entries, f"{feed_id}:{page.position}")
        page = await self._state.ended_sessions("", limit)
        missing_before = page.entries[0].at if page.entries else self._clock()
        return FeedPage(page.entries, f"{feed_id}:{page.position}", missing_before)

    async def newest_position(self) -> str:
        """The position of the newest entry: reading from it returns only later ones."""
        return f"{await self._feed_id()}:{await self._state.ended_position()}"

    def require_listener_slot(self) -> None:
        if self._listeners >= LISTENERS_MAX:
            raise TooBusy(RETRY_AFTER_SECONDS, "too many listen to ended sessions")

    @contextmanager
    def listening(self) -> Iterator[None]:
        """While this is entered, `change` is set by new entries."""
        self._listeners += 1
        if self._poller is None:
            self._poller = asyncio.create_task(self._poll_forever())
        try:
            yield
        finally:
            self._listeners -= 1
            if self._listeners == 0 and self._poller is not None:
                self._poller.cancel()
                self._poller = None

    @property
    def change(self) -> asyncio.Event:
        """Set by the next change. Get it before reading, so that a change in between is not missed."""
        return self._change

    async def _poll_forever(self) -> None:
        seen: str | None = None
        while True:
            newest = ""
            with suppress(StoreUnavailable):  # the next read raises it
                newest = await self._state.ended_position()
            if newest != seen or self.stopping.is_set():
                seen = newest
                self._change.set()
                self._change = asyncio.Event()
            await asyncio.sleep(POLL_SECONDS)

    async def _feed_id(self) -> str:
        """A value of its own, because every page reads it: `State.identity` would write each time."""
        now = self._clock()
        name = await self._state.value(_FEED_ID_KEY, now)
        if name is None or now >= self._renew_at:
            self._renew_at = now + FEED_ID_RENEWAL_SECONDS
            kept = name or secrets.token_hex(6)
            await self._state.compare_and_set(_FEED_ID_KEY, name, kept, now + FEED_ID_TTL, now)
            name = await self._state.value(_FEED_ID_KEY, now)
        if name is None:
            raise StoreUnavailable("the feed of ended sessions has no id")
        return name


async def wait_for(change: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await change.wait()
