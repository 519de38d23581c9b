"""Enrolment of those who must have a second factor and have none: with a ticket that can do nothing else.

A login with the right password and captcha is refused, and the refusal carries a ticket. It opens both steps of the
enrolment of an authenticator app for this user, for ten minutes, as long as password and user stay as they are and no
factor is on. It opens no session: after the enrolment its holder logs in like everybody else. Made-up tickets and wrong
codes cost the address tries of its own at the login.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.auth.audit import Audit, ClientInfo, Event, TicketKind
from gatehouse.auth.refusals import SecondFactorCodeWrong, TicketGone

if TYPE_CHECKING:
    from gatehouse.auth.factors.app_enrolment import Enrolment, NewTotp
    from gatehouse.auth.limits.throttle import Throttle
    from gatehouse.auth.sealed_tickets.user_tickets import UserTickets
    from gatehouse.stores.database.passkeys import Passkeys
    from gatehouse.stores.database.users import User


class ForcedEnrolment:
    def __init__(
        self, *, tickets: UserTickets, enrolment: Enrolment, passkeys: Passkeys, throttle: Throttle, audit: Audit
    ) -> None:
        self._tickets = tickets
        self._enrolment = enrolment
        self._passkeys = passkeys
        self._throttle = throttle
        self._audit = audit

    async def begin(self, ticket: str, client: ClientInfo) -> NewTotp:
        user = await self._user_of(ticket, client)
        return await self._enrolment.begin_for(user.id, user.username)

    async def confirm(self, ticket: str, typed: str, client: ClientInfo) -> list[str]:
        user = await self._user_of(ticket, client)
        async with self._throttle.admitted(client.address, SecondFactorCodeWrong):
            return await self._enrolment.confirm(user.id, typed, client)

    async def _user_of(self, ticket: str, client: ClientInfo) -> User:
        async with self._throttle.admitted(client.address, TicketGone):
            try:
                user = await self._tickets.user_of(ticket)
                if await self._passkeys.of_user(user.id):
                    raise TicketGone("the user has a passkey by now, which the password alone must not get around")
            except TicketGone:
                self._audit.record(Event.TICKET_REFUSED, client, reason=TicketKind.ENROLMENT)
                raise
            return user
