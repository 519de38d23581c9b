"""Follows the log of ended sessions: what hangs on one ends with it, and applications are told.

An ended session takes the grants of its applications along and the consoles that were opened from it; the end of such
a console is the end of the whole login. So a logout costs nothing more than before, and works from whatever process
has ended the session.

One worker of all nodes follows at a time; its position in the log is in state and advances when a page has been dealt
with. Dealing with one twice does no harm: each grant is removed, and its application told, by one transaction. Whoever
has missed entries looks for grants whose session is gone, which also happens now and then: it finds sessions that have
expired, and entries that a Redis Cluster has lost.
"""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING

from gatehouse.auth.audit import ClientInfo, SessionEndReason

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from gatehouse.auth.oauth.backchannel import BackchannelLogout
    from gatehouse.auth.sessions.ended_sessions_feed import EndedSessionsFeed
    from gatehouse.auth.sessions.sessions import Sessions
    from gatehouse.stores.database.grants import GrantStore
    from gatehouse.stores.state.protocol import State

LEASE_SECONDS = 5.0
LOOK_SECONDS = 10.0
POSITION_TTL = 30 * 86_400
SCAN_SECONDS = 3600
BATCH = 200

# Ends of one session that say nothing about the login: its user has ended this one or kept another, or it was old.
OF_ONE_SESSION = {
    SessionEndReason.USER,
    SessionEndReason.PASSWORD,
    SessionEndReason.LIMIT,
    SessionEndReason.IDLE,
    SessionEndReason.ABSOLUTE,
}

_REASONS = {reason.value: reason for reason in SessionEndReason}
_LEASE, _POSITION, _SCANNED = (f"session ends|{name}" for name in ("lease", "position", "scanned"))


class SessionEnds:
    def __init__(
        self,
        *,
        state: State,
        feed: EndedSessionsFeed,
        grants: GrantStore,
        sessions: Sessions,
        logout: BackchannelLogout,
        clock: Callable[[], float],
    ) -> None:
        self._state = state
        self._feed = feed
        self._grants = grants
        self._sessions = sessions
        self._logout = logout
        self._clock = clock
        self._worker = secrets.token_hex(8)
        self._renew_at = 0.0  # the lease of this worker
        self._look_at = 0.0  # whether there are grants by now
        self._followed: str | None = None  # up to here nothing is left to do

    async def follow(self) -> None:
        """Deal with what has ended since the last time. Asked often: one read if there is nothing, none without grants.

        Of the first grant the worker that has written it knows at once, the others a little later.
        """
        now = self._clock()
        if not self._grants.seen and now >= self._look_at:
            self._look_at = now + LOOK_SECONDS
            await self._grants.any()
        newest = await self._state.ended_position() if self._grants.seen else self._followed
        if newest == self._followed:
            return
        position = await self._state.value(_POSITION, now)
        if position is not None and position.partition(":")[2] == newest:
            self._followed = newest
        elif not await self._grants.any():
            self._followed = newest  # nobody could hear of it
        elif await self._has_lease() and await self._catch_up(position):
            self._followed = newest

    async def scan(self) -> None:
        """Look for grants whose session is gone; one worker of all nodes does, once in a while."""
        now = self._clock()
        if await self._grants.any() and await self._state.compare_and_set(_SCANNED, None, "", now + SCAN_SECONDS, now):
            async for gone in self._gone_sessions():
                await self.follow()  # the log knows the reasons; what it does not know is left for this
                await self._deal_with(gone)

    async def _has_lease(self) -> bool:
        now = self._clock()
        holder = await self._state.value(_LEASE, now)
        if holder == self._worker and now < self._renew_at:
            return True
        if holder not in {None, self._worker}:
            return False
        self._renew_at = now + LEASE_SECONDS / 2
        return await self._state.compare_and_set(_LEASE, holder, self._worker, now + LEASE_SECONDS, now)

    async def _catch_up(self, position: str | None) -> bool:
        """False if another worker goes on with it."""
        while True:
            newest = await self._feed.newest_position()
            page = await self._feed.read(position, BATCH)
            if page.missing_before is not None:
                async for gone in self._gone_sessions():
                    await self._deal_with(gone)
                after = newest
            else:
                await self._deal_with({entry.session: entry.reason for entry in page.entries})
                after = page.position
            if after == position:
                return True
            if not await self._advance(position, after) or not await self._has_lease():
                return False
            position = after

    async def _advance(self, before: str | None, after: str) -> bool:
        """False if another worker has advanced in the meantime."""
        now = self._clock()
        return await self._state.compare_and_set(_POSITION, before, after, now + POSITION_TTL, now)

    async def _deal_with(self, ended: Mapping[str, str]) -> None:
        """Sessions that have ended, and why."""
        if not ended:
            return
        for console in await self._grants.consoles(ended):
            if console.session in ended:
                await self._end(console.id, ended[console.session])
            else:
                await self._end(console.session, ended[console.id])
                await self._grants.remove(console.id)
        for session in await self._grants.with_grants(ended):
            await self._logout.end(session)

    async def _end(self, session: str, reason: str) -> None:
        if reason not in OF_ONE_SESSION:
            await self._sessions.end(session, _REASONS.get(reason, SessionEndReason.LOGOUT), ClientInfo())

    async def _gone_sessions(self) -> AsyncIterator[dict[str, str]]:
        """Sessions that have ended although something hangs on them. What hangs on an expired one is removed here."""
        after = ""
        while batch := await self._grants.sessions(after, BATCH):
            after, now = batch[-1], self._clock()
            statuses = dict(zip(batch, await asyncio.gather(*map(self._state.session_status, batch)), strict=True))
            for session, status in statuses.items():
                if status is not None and status[1] <= now:
                    await self._grants.end(session, _no_notice)
            yield {session: SessionEndReason.LOGOUT for session, status in statuses.items() if status is None}


def _no_notice(_session: str, _client: int, _user: int) -> None:
    """Of a session that has expired: its applications go by their own time."""
