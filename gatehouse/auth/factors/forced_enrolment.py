"""Enrolment of those who must have a second factor and have none: with a ticket that can do nothing else.

A login with the right password and captcha is refused, and the refusal carries a ticket. It opens both steps of the
enrolment of an authenticator app for this user, for ten minutes, as long as password and user stay as they are and no
factor is on. It opens no session: after the enrolment its holder logs in like everybody else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gatehouse.auth.audit import ClientInfo
    from gatehouse.auth.factors.enrolment import Enrolment, NewTotp
    from gatehouse.auth.tickets.user_tickets import UserTickets


class ForcedEnrolment:
    def __init__(self, *, tickets: UserTickets, enrolment: Enrolment) -> None:
        self._tickets = tickets
        self._enrolment = enrolment

    async def begin(self, ticket: str) -> NewTotp:
        user = await self._tickets.user_of(ticket)
        return await self._enrolment.begin_for(user.id, user.username)

    async def confirm(self, ticket: str, typed: str, client: ClientInfo) -> list[str]:
        user = await self._tickets.user_of(ticket)
        return await self._enrolment.confirm(user.id, typed, client)
