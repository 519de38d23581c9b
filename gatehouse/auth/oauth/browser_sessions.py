"""The session of a browser at our pages: one of our sessions, named by a cookie that only we can make.

The cookie names the session and the time of its login, so a new login in the same session makes the old cookie void.
It holds no token: what it opens are our own pages and the applications that ask us.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from gatehouse.auth.audit import SessionEndReason
from gatehouse.auth.sealed_tickets.sealed_tickets import Tickets
from gatehouse.auth.sessions.tokens import user_of_session

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.auth.audit import ClientInfo
    from gatehouse.auth.identity.directory_recheck import DirectoryRecheck
    from gatehouse.auth.keys.key_ring import KeyRing
    from gatehouse.auth.sealed_tickets.sealed_tickets import Ticket
    from gatehouse.auth.sessions.sessions import Sessions
    from gatehouse.stores.state.protocol import Session


class CookieContent(msgspec.Struct, frozen=True, array_like=True):
    session: str
    opened: float


class BrowserSessions:
    def __init__(
        self,
        *,
        ring: KeyRing,
        sessions: Sessions,
        recheck: DirectoryRecheck,
        clock: Callable[[], float],
        max_seconds: int,
    ) -> None:
        self._cookies = Tickets(ring, "browser sessions", CookieContent, max_seconds, clock)
        self._sessions = sessions
        self._recheck = recheck

    def cookie(self, session: Session) -> str:
        return self._cookies.make(CookieContent(session.id, session.opened)).text

    def names(self, cookie: str, session: str) -> bool:
        """Whether this is a cookie of that session, whatever has become of it."""
        ticket = self._cookies.open(cookie) if cookie else None
        return ticket is not None and ticket.content.session == session

    async def of(self, cookie: str, client: ClientInfo) -> Session | None:
        """The live session of this cookie, whose end is moved as by a refresh: its person is here."""
        ticket = self._cookies.open(cookie) if cookie else None
        if ticket is None:
            return None
        await self._recheck.check(user_of_session(ticket.content.session), client)
        return await self._live(ticket)

    async def without_recheck(self, cookie: str) -> Session | None:
        """The same for what opens nothing, such as its end: works while the directory of its person is away."""
        ticket = self._cookies.open(cookie) if cookie else None
        return await self._live(ticket) if ticket else None

    async def _live(self, ticket: Ticket[CookieContent]) -> Session | None:
        session = await self._sessions.touch(ticket.content.session)
        return session if session is not None and session.opened == ticket.content.opened else None

    async def replace(self, before: Session | None, session: Session, client: ClientInfo) -> str:
        """The cookie of a login. The session that the browser had before ends, unless it goes on in this one."""
        if before is not None and before.id != session.id:
            await self._sessions.end(before.id, SessionEndReason.LOGOUT, client)
        return self.cookie(session)
