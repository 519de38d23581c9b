"""Tickets of a login with a provider, from its callback to the session. What the provider said is sealed in state.

The text in the URL is short and names nothing. It is bound to address and User-Agent of the browser that came back from
the provider, and what is kept under it can be taken once. A pending one waits for the code of our own second factor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from gatehouse.auth.audit import Audit, ClientInfo, Event, TicketKind
from gatehouse.auth.factors.app_enrolment import CONFIRM_SECONDS
from gatehouse.auth.keys.sealing import WrongSecret, seal, unseal
from gatehouse.auth.refusals import TicketGone
from gatehouse.auth.sealed_tickets.browser_binding import binding_of
from gatehouse.auth.sealed_tickets.sealed_tickets import Ticket, Tickets
from gatehouse.common.base64url import base64url, from_base64url
from gatehouse.common.clock_skew import CLOCK_SKEW_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.auth.keys.key_ring import KeyRing
    from gatehouse.stores.state.protocol import State

COMPLETE_SECONDS = 60
PENDING_SECONDS = CONFIRM_SECONDS  # long enough to enrol an app meanwhile
PURPOSE = "company login"
TAKEN = "taken"


class Arrival(msgspec.Struct, frozen=True, array_like=True):
    """Somebody whom a provider has authenticated, as one of our users."""

    user: int
    source: int
    issuer: str
    subject: str
    sid: str
    id_token: str
    methods: tuple[str, ...]
    at: float
    to: str
    factor: str = ""  # of ours, that was shown beside it


class Held(msgspec.Struct, frozen=True, array_like=True):
    binding: bytes


class CompanyTickets:
    def __init__(
        self, *, ring: KeyRing, state: State, audit: Audit, clock: Callable[[], float], pending: bool = False
    ) -> None:
        stage, seconds = ("pending", PENDING_SECONDS) if pending else ("complete", COMPLETE_SECONDS)
        self._purpose = f"{PURPOSE}, {stage}"
        self._tickets = Tickets(ring, self._purpose, Held, seconds, clock)
        self._ring = ring
        self._state = state
        self._audit = audit
        self._clock = clock

    async def make(self, arrival: Arrival, client: ClientInfo) -> str:
        ticket = self._tickets.make(Held(binding_of(client)))
        value = seal(self._ring.secrets[0], self._purpose, ticket.id, msgspec.msgpack.encode(arrival))
        await self._swap(ticket, None, base64url(value))
        return ticket.text

    def knows(self, text: str) -> bool:
        return self._tickets.open(text) is not None

    async def read(self, text: str, client: ClientInfo) -> Arrival:
        return (await self._read(text, client))[2]

    async def take(self, text: str, client: ClientInfo) -> Arrival:
        """Of any number of callers one gets it."""
        ticket, value, arrival = await self._read(text, client)
        if not await self._swap(ticket, value, TAKEN):
            raise self._refused("taken before", client)
        return arrival

    async def _read(self, text: str, client: ClientInfo) -> tuple[Ticket[Held], str, Arrival]:
        ticket = self._tickets.open(text)
        if ticket is None or ticket.content.binding != binding_of(client):
            raise self._refused("not a ticket of this browser", client)
        value = await self._state.value(_key(ticket), self._clock())
        if value is None or value == TAKEN:
            raise self._refused("taken before", client)
        try:
            content = unseal(self._ring.secrets, self._purpose, ticket.id, from_base64url(value))
        except WrongSecret:
            raise self._refused("sealed under another master secret", client) from None
        return ticket, value, msgspec.msgpack.decode(content, type=Arrival)

    async def _swap(self, ticket: Ticket[Held], before: str | None, after: str) -> bool:
        expires = ticket.expires + CLOCK_SKEW_SECONDS
        return await self._state.compare_and_set(_key(ticket), before, after, expires, self._clock())

    def _refused(self, why: str, client: ClientInfo) -> TicketGone:
        self._audit.record(Event.TICKET_REFUSED, client, reason=TicketKind.COMPANY)
        return TicketGone(why)


def _key(ticket: Ticket[Held]) -> str:
    return f"company|{ticket.id}"
