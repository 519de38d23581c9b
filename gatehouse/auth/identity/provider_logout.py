"""Logout in both directions: the provider ends our sessions, and our logout goes on to the provider.

Of each session that was opened with a provider a row is kept: whom the provider knows by it, and the ID token, sealed,
which its logout asks for. A logout at the provider that comes while a login is under way ends that, too.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import msgspec

from gatehouse.auth.audit import ClientInfo, SessionEndReason
from gatehouse.auth.keys.sealing import WrongSecret, seal, unseal
from gatehouse.auth.sealed_tickets.browser_binding import binding_of
from gatehouse.auth.sealed_tickets.sealed_tickets import Tickets
from gatehouse.common.clock_skew import CLOCK_SKEW_SECONDS
from gatehouse.common.logs import log
from gatehouse.identity_sources.clients import CallbackRefused
from gatehouse.identity_sources.errors import SourceUnavailable
from gatehouse.stores.database.provider_sessions import ProviderSession
from gatehouse.stores.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.auth.identity.sources import Source, Sources
    from gatehouse.auth.keys.key_ring import KeyRing
    from gatehouse.auth.sessions.sessions import Sessions
    from gatehouse.auth.sessions.tokens import Claims
    from gatehouse.stores.database.identity_sources import Identity
    from gatehouse.stores.database.provider_sessions import ProviderSessions
    from gatehouse.stores.state.protocol import State

PURPOSE = "provider sessions"
TICKET_SECONDS = 60
# How long a login may be under way, from the provider's answer to the session.
LOGIN_SECONDS = 900
MAX_ID_TOKEN = 16_384  # a provider's logout works without it, and asks


class LogoutTicket(msgspec.Struct, frozen=True, array_like=True):
    session: str
    binding: bytes


class ProviderLogout:
    def __init__(
        self,
        *,
        store: ProviderSessions,
        sources: Sources,
        sessions: Sessions,
        state: State,
        ring: KeyRing,
        clock: Callable[[], float],
        public_url: str,
    ) -> None:
        self._store = store
        self._sources = sources
        self._sessions = sessions
        self._state = state
        self._ring = ring
        self._clock = clock
        self._public_url = public_url
        self._tickets = Tickets(ring, "provider logout", LogoutTicket, TICKET_SECONDS, clock)

    async def remember(self, session: str, source: int, who: tuple[str, str, str], id_token: str) -> None:
        """`who`: issuer, subject and `sid`."""
        kept = id_token if len(id_token) <= MAX_ID_TOKEN else ""
        sealed = seal(self._ring.secrets[0], PURPOSE, session, kept.encode())
        await self._store.add(ProviderSession(session, source, *who, sealed, self._clock()))

    # The provider's logout ends our sessions

    async def back_channel(self, source: Source, token: str, client: ClientInfo) -> int:
        """How many sessions it has ended. A token is good once: those that were opened after it are not its matter."""
        logout = await source.provider.read_logout_token(token)
        now = self._clock()
        used = f"logout-token|{source.id}|{_digest(logout.jti)}"
        if await self._state.has_flag(used, now):
            raise CallbackRefused("the logout token was used before")
        await self._mark(_about(source.id, logout.subject, logout.sid), now)
        rows = await self._store.named(source.id, logout.issuer, logout.subject, logout.sid)
        ended = [await self._end(row.session, SessionEndReason.PROVIDER, client) for row in rows]
        # Marked last: a provider that tries again after an outage must not be refused. To end them twice does no harm.
        await self._state.set_flag(used, logout.expires + CLOCK_SKEW_SECONDS, now)
        return sum(ended)

    async def has_ended(self, source: int, subject: str, sid: str, since: float) -> bool:
        """Whether the provider has told of a logout since then, of this session there or of the whole person."""
        now = self._clock()
        marks = {_about(source, *who) for who in ((subject, ""), (subject, sid), ("", sid)) if any(who)}
        values = [await self._state.value(mark, now) for mark in sorted(marks)]
        return any(float(value) >= since for value in values if value)

    async def end_sessions_of(self, identity: Identity, client: ClientInfo, *, except_session: str = "") -> None:
        """Those that the identity has opened: it is not the user's any more."""
        for row in await self._store.named(identity.source, identity.issuer, identity.subject, ""):
            if row.session != except_session:
                await self._end(row.session, SessionEndReason.USER, client)

    async def _end(self, session: str, reason: SessionEndReason, client: ClientInfo) -> bool:
        ended = await self._sessions.end(session, reason, client)
        await self._store.remove(session)
        return ended is not None

    async def _mark(self, about: str, now: float) -> None:
        """The later of two logouts at once stays, whichever is written first: both are now."""
        before = await self._state.value(about, now)
        await self._state.compare_and_set(about, before, repr(now), now + LOGIN_SECONDS, now)

    # Our logout goes on to the provider

    async def onward(self, claims: Claims, client: ClientInfo) -> str | None:
        """Where the browser of a session that has just ended goes next; None if its provider is not asked."""
        source = self._sources.provider(claims.source) if claims.source else None
        if source is None or not source.provider_config.logout:
            return None
        try:
            row = await self._store.of_session(claims.session)
        except StoreUnavailable as problem:  # the logout itself needs no accounts
            log.warning("a logout does not go on to the provider", source=source.name, problem=str(problem))
            return None
        if row is None or row.source != source.id:
            return None
        ticket = self._tickets.make(LogoutTicket(claims.session, binding_of(client)))
        return f"{self._public_url}/login/{source.name}/logout?ticket={ticket.text}"

    async def redirect(self, source: Source, text: str, client: ClientInfo) -> str | None:
        """The provider's own address for it, once; None if the ticket is not good or the provider has no such thing."""
        ticket = self._tickets.open(text)
        if ticket is None or ticket.content.binding != binding_of(client):
            return None
        row = await self._store.of_session(ticket.content.session)
        if row is None or row.source != source.id or not await self._store.remove(row.session):
            return None
        try:
            id_token = unseal(self._ring.secrets, PURPOSE, row.session, row.sealed).decode()
            return await source.provider.logout_url(id_token, f"{self._public_url}/login/{source.name}/logged-out", "")
        except (SourceUnavailable, CallbackRefused, WrongSecret) as problem:
            log.warning("a logout does not go on to the provider", source=source.name, problem=str(problem))
            return None


def _about(source: int, subject: str, sid: str) -> str:
    return f"provider-logout|{source}|{_digest(subject)}|{_digest(sid)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32] if text else ""
