"""Login by QR code: a browser shows a ticket, a phone that is logged in confirms it, the browser gets a session.

The ticket is a URL of our own page with a sealed text in it, so making one writes nothing. It lives 120 seconds. It is
bound to address and User-Agent of the browser that asked for it: for everybody else it has expired. Its status
is one value in state, changed by compare-and-swap:

    nothing -> scanned by a user -> confirmed by that user -> exchanged
                                 -> refused

So a person has seen who asks before anything is confirmed, and of any number of exchanges one opens a session, if the
session of the phone still lives then: a logout or a new password voids what was confirmed before it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qs, urlsplit

import msgspec

from gatehouse.auth.audit import Audit, ClientInfo, Event, SessionEndReason, TicketKind
from gatehouse.auth.refusals import TicketGone
from gatehouse.auth.sealed_tickets.browser_binding import binding_of
from gatehouse.auth.sealed_tickets.sealed_tickets import Ticket, Tickets
from gatehouse.auth.sessions.amr import confirmed_by_qr, with_source
from gatehouse.common.clock_skew import CLOCK_SKEW_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.auth.keys.key_ring import KeyRing
    from gatehouse.auth.limits.throttle import Throttle
    from gatehouse.auth.principal import Principal
    from gatehouse.auth.sessions.sessions import Sessions
    from gatehouse.stores.database.users import Profile, Users
    from gatehouse.stores.state.protocol import Session, State

TICKET_SECONDS = 120

Qr = Ticket["QrRequest"]


class QrRequest(msgspec.Struct, array_like=True):
    """Who asks. The browser's name is for people; what binds is the digest."""

    asked: float
    address: str
    browser: str
    binding: bytes


class QrStatus(StrEnum):
    WAITING = "WAITING"
    SCANNED = "SCANNED"
    CONFIRMED = "CONFIRMED"
    LOGGED_IN = "LOGGED_IN"
    CANCELED = "CANCELED"
    EXPIRED = "EXPIRED"


class StoredStatus(NamedTuple):
    """`user` is who scanned it, `session` the session in which it was confirmed, `proof` how that one was proven."""

    status: QrStatus
    user: int | None = None
    session: str = ""
    proof: str = ""


class QrLoginStatus(NamedTuple):
    """As the console asks for it. `user` is known from the scan to the exchange."""

    status: QrStatus
    seconds: int = 0
    user: Profile | None = None


class QrLogin:
    def __init__(
        self,
        *,
        ring: KeyRing,
        state: State,
        users: Users,
        sessions: Sessions,
        throttle: Throttle,
        audit: Audit,
        clock: Callable[[], float],
        page: str,
    ) -> None:
        self._tickets = Tickets(ring, "qr login", QrRequest, TICKET_SECONDS, clock)
        self._state = state
        self._users = users
        self._sessions = sessions
        self._throttle = throttle
        self._audit = audit
        self._clock = clock
        self._page = page

    # The browser

    def generate(self, client: ClientInfo, browser: str) -> str:
        self._throttle.admit_captcha(client.address)
        request = QrRequest(self._clock(), client.address, browser[:40], binding_of(client))
        return f"{self._page}?ticket={self._tickets.make(request).text}"

    async def status(self, text: str, client: ClientInfo) -> QrLoginStatus:
        """Any other browser than the one that asked gets the answer for an unknown ticket."""
        ticket = self._open(text)
        if ticket is None or ticket.content.binding != binding_of(client):
            return QrLoginStatus(QrStatus.EXPIRED)
        stored = await self._read(ticket)
        profile = await self._users.profile(stored.user) if stored.user is not None else None
        return QrLoginStatus(stored.status, max(1, round(ticket.expires - self._clock())), profile)

    async def exchange(self, text: str, client: ClientInfo) -> Session:
        async with self._throttle.admitted(client.address, TicketGone):
            return await self._exchange(text, client)

    async def _exchange(self, text: str, client: ClientInfo) -> Session:
        ticket = self._open(text)
        if ticket is None or ticket.content.binding != binding_of(client):
            self._audit.record(Event.TICKET_REFUSED, client, reason=TicketKind.QR)
            raise TicketGone("not a ticket of this browser")
        confirmed = await self._read(ticket)
        if confirmed.status is not QrStatus.CONFIRMED or confirmed.user is None:
            raise TicketGone("not confirmed, or exchanged before")
        epoch = await self._sessions.live_epoch(confirmed.session, confirmed.user, self._clock())
        if epoch is None:
            raise TicketGone("the session that confirmed it has ended")
        if not await self._swap_status(ticket, _text(confirmed), _text(StoredStatus(QrStatus.LOGGED_IN))):
            raise TicketGone("exchanged before")
        methods = confirmed_by_qr(confirmed.proof)
        session, evicted = await self._sessions.open(confirmed.user, client, methods)
        confirming_lives = await self._sessions.live_epoch(confirmed.session, confirmed.user, self._clock()) == epoch
        confirming_evicted = confirmed.session in {each.id for each in evicted}
        if session.epoch != epoch or not (confirming_lives or confirming_evicted):
            # The account has changed, or the session that confirmed has ended, in this moment. If that was to end all
            # sessions, it has not seen this one.
            await self._sessions.end(session.id, SessionEndReason.USER, client)
            raise TicketGone("the account has changed, or the session that confirmed it has ended")
        return session

    # The phone

    async def scan(self, text: str, principal: Principal, client: ClientInfo) -> QrRequest:
        """Who asks to be logged in as the caller. The first who scans is the only one who can confirm."""
        ticket, user = await self._require(text, client), principal.claims.user
        scanned = StoredStatus(QrStatus.SCANNED, user)
        if await self._swap_status(ticket, None, _text(scanned)):
            return ticket.content
        if await self._read(ticket) != scanned:
            raise TicketGone("scanned by another user, or already answered")
        return ticket.content

    async def confirm(self, text: str, principal: Principal, client: ClientInfo) -> None:
        await self._answer(text, principal, client, QrStatus.CONFIRMED, Event.QR_CONFIRMED)

    async def refuse(self, text: str, principal: Principal, client: ClientInfo) -> None:
        await self._answer(text, principal, client, QrStatus.CANCELED, Event.QR_REFUSED)

    async def _answer(
        self, text: str, principal: Principal, client: ClientInfo, answer: QrStatus, event: Event
    ) -> None:
        ticket, claims = await self._require(text, client), principal.claims
        scanned = StoredStatus(QrStatus.SCANNED, claims.user)
        answered = StoredStatus(answer, claims.user, claims.session, with_source(claims.methods, claims.source))
        if not await self._swap_status(ticket, _text(scanned), _text(answered)):
            raise TicketGone("not scanned by this user, or answered")
        asked = {"address": ticket.content.address, "browser": ticket.content.browser}
        self._audit.record(event, client, user=claims.user, session=claims.session, detail={"asked": asked})

    # The ticket

    def _open(self, text: str) -> Qr | None:
        """The whole URL, as the console sends it back, or the ticket alone."""
        try:
            [sealed] = parse_qs(urlsplit(text).query).get("ticket", [text])
        except ValueError:
            return None
        return self._tickets.open(sealed)

    async def _require(self, text: str, client: ClientInfo) -> Qr:
        """On the phone. A made-up ticket counts as a failed login of the address."""
        async with self._throttle.admitted(client.address, TicketGone):
            ticket = self._open(text)
            if ticket is None:
                self._audit.record(Event.TICKET_REFUSED, client, reason=TicketKind.QR)
                raise TicketGone("forged or expired")
            return ticket

    async def _read(self, ticket: Qr) -> StoredStatus:
        value = await self._state.value(_key(ticket), self._clock())
        if value is None:
            return StoredStatus(QrStatus.WAITING)
        status, user, session, proof = (*value.split(" "), "", "", "")[:4]
        return StoredStatus(QrStatus(status), int(user) if user else None, session, proof)

    async def _swap_status(self, ticket: Qr, before: str | None, after: str) -> bool:
        expires = ticket.expires + CLOCK_SKEW_SECONDS
        return await self._state.compare_and_set(_key(ticket), before, after, expires, self._clock())


def _key(ticket: Qr) -> str:
    return f"qr|{ticket.id}"


def _text(stored: StoredStatus) -> str:
    """As it is kept in state: `CONFIRMED 7 7-Yk3... pwd+otp`."""
    user = "" if stored.user is None else str(stored.user)
    return " ".join(part for part in (stored.status.value, user, stored.session, stored.proof) if part)
