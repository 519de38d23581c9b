"""Tickets for one user that are void as soon as the user is disabled, renamed or has another password."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import msgspec

from gatehouse.auth.refusals import TicketGone
from gatehouse.auth.sealed_tickets.sealed_tickets import Ticket, Tickets

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.auth.keys.key_ring import KeyRing
    from gatehouse.stores.database.users import User, Users


class UserTicket(msgspec.Struct, array_like=True):
    username: str
    user: int
    password_hash_digest: bytes
    maker: int | None = None  # the user who made it for this one


class UserTickets:
    def __init__(self, ring: KeyRing, purpose: str, seconds: int, users: Users, clock: Callable[[], float]) -> None:
        self._tickets = Tickets(ring, purpose, UserTicket, seconds, clock)
        self._users = users

    def make(self, user: User, maker: int | None = None) -> Ticket[UserTicket]:
        return self._tickets.make(UserTicket(user.username, user.id, _digest(user), maker))

    async def user_of(self, text: str) -> User:
        """The user the ticket was issued to, if the account has not changed since."""
        return (await self.open(text))[0]

    async def open(self, text: str) -> tuple[User, int | None]:
        """The same with the maker."""
        ticket = self._tickets.open(text)
        found = await self._users.credentials(ticket.content.username) if ticket else None
        if ticket is None or found is None:
            raise TicketGone("forged, expired or outdated")
        user = found.user
        if not user.enabled or user.id != ticket.content.user or _digest(user) != ticket.content.password_hash_digest:
            raise TicketGone("the account has changed")
        return user, ticket.content.maker


def _digest(user: User) -> bytes:
    return hashlib.sha256(user.password_hash.encode()).digest()
