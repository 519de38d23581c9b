"""Enrolment of those who must have a second factor and have none: with a ticket that can do nothing else.

A login with the right password and captcha is refused, and the refusal carries a ticket. It opens both steps of the
enrolment of an authenticator app for this user, for ten minutes, as long as password and user stay as they are and no
factor is on. It opens no session: after the enrolment its holder logs in like everybody else.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import msgspec

from gatehouse.auth.factors.enrolment import CONFIRM_SECONDS
from gatehouse.auth.factors.tickets import Tickets
from gatehouse.auth.refusals import TicketGone

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.auth.audit import Caller
    from gatehouse.auth.factors.enrolment import Enrolment, NewTotp
    from gatehouse.auth.keys.ring import KeyRing
    from gatehouse.stores.accounts.users import User, Users


class EnrolmentTicket(msgspec.Struct, array_like=True):
    username: str
    user: int
    password: bytes  # a digest of the stored hash


def enrolment_tickets(ring: KeyRing, clock: Callable[[], float]) -> Tickets[EnrolmentTicket]:
    return Tickets(ring, "enrolment tickets", EnrolmentTicket, CONFIRM_SECONDS, clock)


def ticket_for(tickets: Tickets[EnrolmentTicket], user: User) -> str:
    return tickets.make(EnrolmentTicket(user.username, user.id, _digest(user))).text


class ForcedEnrolment:
    def __init__(self, *, tickets: Tickets[EnrolmentTicket], users: Users, enrolment: Enrolment) -> None:
        self._tickets = tickets
        self._users = users
        self._enrolment = enrolment

    async def begin(self, ticket: str) -> NewTotp:
        user = await self._user(ticket)
        return await self._enrolment.begin_for(user.id, user.username)

    async def confirm(self, ticket: str, typed: str, caller: Caller) -> list[str]:
        user = await self._user(ticket)
        return await self._enrolment.confirm(user.id, typed, caller)

    async def _user(self, text: str) -> User:
        """The user the ticket was issued to, if the account has not changed since."""
        ticket = self._tickets.open(text)
        found = await self._users.credentials(ticket.content.username) if ticket else None
        if ticket is None or found is None:
            raise TicketGone("forged, expired or outdated")
        user = found.user
        if not user.enabled or user.id != ticket.content.user or _digest(user) != ticket.content.password:
            raise TicketGone("the account has changed")
        return user


def _digest(user: User) -> bytes:
    return hashlib.sha256(user.password.encode()).digest()
