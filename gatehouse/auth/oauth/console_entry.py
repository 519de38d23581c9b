"""From the session of a browser at our page into a console: a ticket for the console's own address, good once.

The console gets a session of its own, because each rotates its refresh tokens alone; it is as old and as proven as the
browser's, and the two end together (`session_ends.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from gatehouse.auth.audit import Audit, ClientInfo, Event, SessionEndReason, TicketKind
from gatehouse.auth.refusals import TicketGone
from gatehouse.auth.sealed_tickets.browser_binding import binding_of
from gatehouse.auth.sealed_tickets.sealed_tickets import Tickets
from gatehouse.common.clock_skew import CLOCK_SKEW_SECONDS
from gatehouse.stores.database.grants import StoredGrant
from gatehouse.stores.state.protocol import SessionLogin

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.auth.keys.key_ring import KeyRing
    from gatehouse.auth.limits.throttle import Throttle
    from gatehouse.auth.sessions.sessions import Sessions
    from gatehouse.stores.database.grants import GrantStore
    from gatehouse.stores.state.protocol import Session, State

TICKET_SECONDS = 60


class EntryTicket(msgspec.Struct, frozen=True, array_like=True):
    session: str
    binding: bytes


class ConsoleEntry:
    def __init__(
        self,
        *,
        ring: KeyRing,
        state: State,
        sessions: Sessions,
        grants: GrantStore,
        throttle: Throttle,
        audit: Audit,
        clock: Callable[[], float],
    ) -> None:
        self._tickets = Tickets(ring, "console entry", EntryTicket, TICKET_SECONDS, clock)
        self._state = state
        self._sessions = sessions
        self._grants = grants
        self._throttle = throttle
        self._audit = audit
        self._clock = clock

    def ticket(self, session: Session, client: ClientInfo) -> str:
        return self._tickets.make(EntryTicket(session.id, binding_of(client))).text

    def knows(self, text: str) -> bool:
        return self._tickets.open(text) is not None

    async def exchange(self, text: str, client: ClientInfo) -> Session:
        async with self._throttle.admitted(client.address, TicketGone):
            ticket = self._tickets.open(text)
            if ticket is None or ticket.content.binding != binding_of(client):
                raise self._refused("not a ticket of this browser", client)
            until = ticket.expires + CLOCK_SKEW_SECONDS
            if not await self._state.compare_and_set(f"entry|{ticket.id}", None, "used", until, self._clock()):
                raise self._refused("used before", client)
            parent = await self._sessions.touch(ticket.content.session)
            if parent is None:
                raise self._refused("the session at our page has ended", client)
        session, _ = await self._sessions.open(parent.user, client, parent.proof.split("+"), parent=parent)
        await self._hang_on(parent, session, client)
        return session

    async def join(self, parent: Session, session: Session, client: ClientInfo) -> Session:
        """Two sessions of one user in one browser: the newer login counts for both from now on."""
        newer = max(parent, session, key=lambda each: each.opened)
        renewed = await self._sessions.touch(parent.id, SessionLogin(newer.opened, newer.proof))
        if renewed is None:
            return session
        await self._hang_on(renewed, session, client)
        return renewed

    async def parent_of(self, session: str) -> str | None:
        """The browser's session that this one was opened from, or has joined."""
        stored = await self._grants.by_id(session)
        return stored.session if stored else None

    async def _hang_on(self, parent: Session, session: Session, client: ClientInfo) -> None:
        stored = StoredGrant(session.id, parent.id, parent.user, None, "", self._clock())
        if await self._grants.by_id(session.id) is None:
            await self._grants.add(stored)
        # Whoever has ended the parent meanwhile has not seen this one.
        if await self._sessions.live_epoch(parent.id, parent.user, self._clock()) is None:
            await self._sessions.end(session.id, SessionEndReason.LOGOUT, client)
            raise TicketGone("the session at our page has ended")

    def _refused(self, why: str, client: ClientInfo) -> TicketGone:
        self._audit.record(Event.TICKET_REFUSED, client, reason=TicketKind.CONSOLE)
        return TicketGone(why)
