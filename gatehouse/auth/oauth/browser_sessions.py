"""The session of a browser at our pages: one of our sessions, named by a cookie that only we can make.

The cookie names the session and the time of its login, so a new login in the same session makes the old cookie void.
It holds no token: what it opens are our own pages and the applications that ask us.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from gatehouse.auth.sealed_tickets.sealed_tickets import Tickets

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.auth.keys.key_ring import KeyRing
    from gatehouse.auth.sessions.sessions import Sessions
    from gatehouse.stores.state.protocol import Session


class CookieContent(msgspec.Struct, frozen=True, array_like=True):
    session: str
    opened: float


class BrowserSessions:
    def __init__(self, ring: KeyRing, sessions: Sessions, clock: Callable[[], float], max_seconds: int) -> None:
        self._cookies = Tickets(ring, "browser sessions", CookieContent, max_seconds, clock)
        self._sessions = sessions

    def cookie(self, session: Session) -> str:
        return self._cookies.make(CookieContent(session.id, session.opened)).text

    async def of(self, cookie: str) -> Session | None:
        """The live session of this cookie, whose end is moved as by a refresh: its person is here."""
        ticket = self._cookies.open(cookie) if cookie else None
        if ticket is None:
            return None
        session = await self._sessions.touch(ticket.content.session)
        return session if session is not None and session.opened == ticket.content.opened else None
