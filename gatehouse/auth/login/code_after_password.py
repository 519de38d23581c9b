"""The second factor as a step of its own, for pages that ask for one thing after the other.

The first page has shown password and captcha; a sealed ticket carries that to the second. It is void once the account
has changed, good for one browser, and opens nothing without a code. Codes are guessed at no faster than at a login in
one step: both count under one key.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import msgspec

from gatehouse.auth.audit import SessionEndReason
from gatehouse.auth.login.login import OpenedLogin
from gatehouse.auth.login_name import LoginName
from gatehouse.auth.refusals import TicketGone
from gatehouse.auth.sealed_tickets.sealed_tickets import Tickets
from gatehouse.auth.sessions.amr import Method

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.auth.audit import ClientInfo
    from gatehouse.auth.keys.key_ring import KeyRing
    from gatehouse.auth.limits.lockout import Lockout
    from gatehouse.auth.limits.throttle import Throttle
    from gatehouse.auth.login.second_factor_step import SecondFactor
    from gatehouse.auth.refusals import PasswordShown
    from gatehouse.auth.sealed_tickets.user_tickets import UserTickets
    from gatehouse.auth.sessions.sessions import Sessions
    from gatehouse.stores.database.users import Users
    from gatehouse.stores.state.protocol import Session

TICKET_SECONDS = 300


class ShownTicket(msgspec.Struct, frozen=True, array_like=True):
    user_ticket: str
    method: str
    browser: bytes


class CodeAfterPassword:
    def __init__(
        self,
        *,
        ring: KeyRing,
        user_tickets: UserTickets,
        users: Users,
        second_factor: SecondFactor,
        sessions: Sessions,
        throttle: Throttle,
        lockout: Lockout,
        clock: Callable[[], float],
    ) -> None:
        self._tickets = Tickets(ring, "password shown", ShownTicket, TICKET_SECONDS, clock)
        self._user_tickets = user_tickets
        self._users = users
        self._second_factor = second_factor
        self._sessions = sessions
        self._throttle = throttle
        self._lockout = lockout

    def ticket(self, shown: PasswordShown, browser: str) -> str:
        """`browser`: a random text that only this browser has."""
        user_ticket = self._user_tickets.make(shown.user).text
        return self._tickets.make(ShownTicket(user_ticket, shown.method, _digest(browser))).text

    async def log_in(
        self, text: str, typed: str, browser: str, client: ClientInfo, within: Session | None
    ) -> OpenedLogin:
        async with self._throttle.admitted(client.address, TicketGone):
            ticket = self._tickets.open(text)
            if ticket is None or ticket.content.browser != _digest(browser):
                raise TicketGone("not a ticket of this browser")
            user = await self._user_tickets.user_of(ticket.content.user_ticket)
            found = await self._users.credentials_by_id(user.id)
            if found is None:
                raise TicketGone("the user is gone")
        attempt = await self._lockout.attempt(LoginName.of(user.username), client)
        attempt = attempt._replace(user=user.id, solved=True)
        await self._lockout.raise_if_locked(attempt)
        factor = await self._second_factor.show(found, typed, attempt)
        method = ticket.content.method
        session = await self._sessions.log_in(user.id, client, (method, Method.CODE) if factor else (method,), within)
        try:  # once the session is there, so that what changes from now on finds and ends it
            await self._user_tickets.user_of(ticket.content.user_ticket)
        except TicketGone:
            await self._sessions.end(session.id, SessionEndReason.PASSWORD, client)
            raise
        await self._lockout.record_success(attempt)
        return OpenedLogin(session, factor)


def _digest(browser: str) -> bytes:
    return hashlib.sha256(browser.encode()).digest()[:16]
