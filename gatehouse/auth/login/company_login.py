"""Login with a company account at an OpenID provider, in three steps that are requests of their own.

1. `begin`: the browser is sent to the provider. What must be kept until it comes back is sealed into a cookie, so it
   is this browser that must bring the answer, and nothing is stored.
2. `complete`: the answer is checked, once, and the person becomes one of our users; or the identity is linked to the
   user who has asked for that in a session that still lives. If our own second factor is needed, `show_code` follows.
3. `exchange`: a one-time ticket becomes a session, if nothing about the user has changed meanwhile.

A person is known by issuer and subject alone: no name and no address at a provider opens a user of ours.
"""

from __future__ import annotations

import hashlib
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from gatehouse.auth.audit import Audit, ClientInfo, Event, LoginFailure, SessionEndReason
from gatehouse.auth.identity.people import NotAdmitted
from gatehouse.auth.identity.provider_methods import provider_methods, vouches_for_second_factor
from gatehouse.auth.identity.sources import SourceOutcome
from gatehouse.auth.login.company_tickets import Arrival
from gatehouse.auth.login.return_addresses import with_ticket
from gatehouse.auth.login_name import LoginName
from gatehouse.auth.refusals import CredentialsWrong, Refused, TicketGone
from gatehouse.auth.sealed_tickets.sealed_tickets import Tickets
from gatehouse.auth.sessions.amr import SECOND_FACTORS, Method, pack_methods, unpack_methods
from gatehouse.common.clock_skew import CLOCK_SKEW_SECONDS
from gatehouse.common.logs import log
from gatehouse.identity_sources.clients import AuthorizationRequest, CallbackRefused
from gatehouse.identity_sources.errors import SourceUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.auth.identity.people import People
    from gatehouse.auth.identity.provider_logout import ProviderLogout
    from gatehouse.auth.identity.sources import Source, Sources
    from gatehouse.auth.keys.key_ring import KeyRing
    from gatehouse.auth.limits.lockout import Lockout
    from gatehouse.auth.limits.throttle import Throttle
    from gatehouse.auth.login.company_tickets import CompanyTickets
    from gatehouse.auth.login.return_addresses import ReturnAddresses
    from gatehouse.auth.login.second_factor_step import SecondFactor
    from gatehouse.auth.principal import Principal
    from gatehouse.auth.sessions.sessions import Sessions
    from gatehouse.identity_sources.clients import ProviderLogin
    from gatehouse.identity_sources.person import Person
    from gatehouse.stores.database.identity_sources import SourceStore
    from gatehouse.stores.database.users import Credentials, Users
    from gatehouse.stores.state.protocol import Session, State

STATE_SECONDS = 600  # what a person may take at the provider
CANCELLED = "access_denied"
OUTAGES = {"server_error", "temporarily_unavailable"}  # as the provider itself calls them
COOKIE_PREFIX = "gatehouse_login_"


class Problem(StrEnum):
    """What the login page tells a person; the log says why."""

    UNAVAILABLE = "unavailable"
    REFUSED = "refused"
    CANCELLED = "cancelled"
    NOT_ADMITTED = "not_admitted"
    NAME_TAKEN = "name_taken"
    DISABLED = "disabled"
    EXPIRED = "expired"


class CompanyLoginFailed(Refused):
    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.value)
        self.problem = problem


class RefusedByRule(CompanyLoginFailed):
    """One that counts as a failed login of the address."""


class LinkFor(msgspec.Struct, frozen=True, array_like=True):
    """The session that has asked to link an identity to its user."""

    user: int
    session: str


class Begun(msgspec.Struct, frozen=True, array_like=True):
    """A login under way, in a cookie. It names its source, so an answer of another provider does not fit it."""

    source: int
    state: str
    nonce: str
    verifier: str
    to: str
    link: LinkFor | None = None
    max_age: int | None = None  # how long before this the person may have logged in at the provider


class Departure(NamedTuple):
    url: str
    state: str
    sealed: str


class Onward(NamedTuple):
    """Where the browser of somebody goes who has come back from the provider: to `to` with the ticket; `pending`: to
    our login page, for a code."""

    to: str
    ticket: str
    pending: bool = False


class LinkWanted(NamedTuple):
    user: int
    person: Person


class CompanyLogin:
    def __init__(
        self,
        *,
        ring: KeyRing,
        state: State,
        sources: Sources,
        identities: SourceStore,
        people: People,
        users: Users,
        sessions: Sessions,
        second_factor: SecondFactor,
        throttle: Throttle,
        lockout: Lockout,
        audit: Audit,
        addresses: ReturnAddresses,
        complete_tickets: CompanyTickets,
        pending_tickets: CompanyTickets,
        logout: ProviderLogout,
        clock: Callable[[], float],
        public_url: str,
    ) -> None:
        self._under_way = Tickets(ring, "company login, under way", Begun, STATE_SECONDS, clock)
        self._state = state
        self._sources = sources
        self._identities = identities
        self._people = people
        self._users = users
        self._sessions = sessions
        self._second_factor = second_factor
        self._throttle = throttle
        self._lockout = lockout
        self._audit = audit
        self._addresses = addresses
        self._complete_tickets = complete_tickets
        self._pending_tickets = pending_tickets
        self._logout = logout
        self._clock = clock
        self._public_url = public_url

    # To the provider

    async def begin(self, source: Source, to: str, client: ClientInfo, max_age: int | None = None) -> Departure:
        """`max_age`: how long ago the person may have logged in at the provider; 0 asks for a fresh login there."""
        self._throttle.admit_captcha(client.address)
        return await self._begin(source, self._addresses.check(to), max_age=max_age)

    async def begin_link(self, source: Source, principal: Principal) -> Departure:
        """For a user who has just proven to be there: the answer links, and logs nobody in."""
        return await self._begin(source, "", LinkFor(principal.claims.user, principal.claims.session))

    async def _begin(
        self, source: Source, to: str, link: LinkFor | None = None, max_age: int | None = None
    ) -> Departure:
        try:
            prompt = "login" if max_age == 0 else ""
            request = await source.provider.begin(self._callback(source), prompt=prompt, max_age=max_age)
        except SourceUnavailable as outage:
            raise self._unavailable(source, outage) from None
        begun = Begun(source.id, request.state, request.nonce, request.verifier, to, link, max_age)
        return Departure(request.url, request.state, self._under_way.make(begun).text)

    # Back from the provider

    async def complete(
        self, source: Source, sealed: str, query: dict[str, str], client: ClientInfo
    ) -> Onward | LinkWanted:
        """`sealed`: the cookie of this login, or empty if the browser has none."""
        ticket = self._under_way.open(sealed)
        if ticket is None or ticket.content.source != source.id:
            raise CompanyLoginFailed(Problem.EXPIRED)
        begun = ticket.content
        async with self._throttle.admitted(client.address, RefusedByRule):
            until = ticket.expires + CLOCK_SKEW_SECONDS
            if not await self._state.compare_and_set(f"callback|{ticket.id}", None, "used", until, self._clock()):
                raise CompanyLoginFailed(Problem.EXPIRED)
            login = await self._ask(source, begun, query, client)
            if _is_too_old(login, begun.max_age, ticket.expires - STATE_SECONDS):
                log.warning("a provider has not asked for the login anew", source=source.name)
                raise self._failed(source, LoginFailure.PROVIDER, Problem.REFUSED, client)
            if begun.link is not None:
                return await self._to_link(source, begun.link, login.person)
            return await self._arrive(source, login, begun.to, client)

    def return_address(self, sealed: str) -> str:
        """Where that login was to lead; empty for what is none."""
        ticket = self._under_way.open(sealed)
        return ticket.content.to if ticket else ""

    def is_link(self, sealed: str) -> bool:
        """Whether that login was begun to link an identity, and so on the account page."""
        ticket = self._under_way.open(sealed)
        return ticket is not None and ticket.content.link is not None

    async def _ask(self, source: Source, begun: Begun, query: dict[str, str], client: ClientInfo) -> ProviderLogin:
        request = AuthorizationRequest("", begun.state, begun.nonce, begun.verifier)
        try:
            return await source.provider.complete(query, request, self._callback(source))
        except SourceUnavailable as outage:
            raise self._unavailable(source, outage) from None
        except CallbackRefused as refusal:
            if refusal.code == CANCELLED:
                raise CompanyLoginFailed(Problem.CANCELLED) from None
            if refusal.code in OUTAGES:
                raise self._unavailable(source, refusal) from None
            log.warning("the answer of a provider is refused", source=source.name, problem=str(refusal))
            raise self._failed(source, LoginFailure.PROVIDER, Problem.REFUSED, client) from None

    async def _to_link(self, source: Source, link: LinkFor, person: Person) -> LinkWanted:
        if await self._sessions.live_epoch(link.session, link.user, self._clock()) is None:
            raise CompanyLoginFailed(Problem.EXPIRED)
        self._sources.count(source, SourceOutcome.SUCCESS)
        return LinkWanted(link.user, person)

    async def _arrive(self, source: Source, login: ProviderLogin, to: str, client: ClientInfo) -> Onward:
        try:
            user = await self._people.arrive(source, login.person, client)
        except NotAdmitted as refusal:
            raise self._failed(source, refusal.failure, Problem(refusal.failure.value), client) from None
        found = await self._enabled(user)
        if found is None:
            raise self._failed(source, LoginFailure.DISABLED, Problem.DISABLED, client, user)
        self._sources.count(source, SourceOutcome.SUCCESS)
        config, person = source.provider_config, login.person
        arrival = Arrival(
            user=user,
            source=source.id,
            issuer=person.issuer,
            subject=person.subject,
            sid=login.sid,
            id_token=login.id_token if config.logout else "",
            methods=provider_methods(source.name, config, login),
            at=self._clock(),
            to=to,
        )
        vouched = vouches_for_second_factor(config, login)
        if not vouched and await self._second_factor.is_needed(found):
            return Onward(to, await self._pending_tickets.make(arrival, client), pending=True)
        return Onward(to, await self._complete_tickets.make(arrival, client))

    async def show_code(self, text: str, typed: str | None, client: ClientInfo) -> str:
        """Where the browser goes on. Guessed at no faster than at a login with a password: both count under one key."""
        async with self._throttle.admitted(client.address, TicketGone):
            arrival = await self._pending_tickets.read(text, client)
            found = await self._enabled(arrival.user)
            if found is None:
                raise TicketGone("the user is disabled or gone")
        attempt = await self._lockout.attempt(LoginName.of(found.user.username), client)
        attempt = attempt._replace(user=arrival.user)
        await self._lockout.raise_if_locked(attempt)
        factor = await self._second_factor.show(found, typed, attempt)
        arrival = await self._pending_tickets.take(text, client)
        methods = (*arrival.methods, Method.CODE) if factor else arrival.methods
        shown = msgspec.structs.replace(arrival, methods=methods, factor=factor or "")
        return with_ticket(arrival.to, await self._complete_tickets.make(shown, client))

    # To a session

    def knows(self, text: str) -> bool:
        """Whether a ticket is one of a login with a provider."""
        return self._complete_tickets.knows(text)

    async def exchange(self, text: str, client: ClientInfo, within: Session | None = None) -> tuple[Session, str]:
        """The session, and which factor of ours was shown. `within`: that of this browser, as at other logins."""
        async with self._throttle.admitted(client.address, TicketGone):
            arrival = await self._complete_tickets.take(text, client)
            session = await self._sessions.log_in(arrival.user, client, arrival.methods, within)
            found = await self._recheck(arrival, session, client)
        await self._lockout.record_success(await self._lockout.attempt(LoginName.of(found.user.username), client))
        return session, arrival.factor

    async def _recheck(self, arrival: Arrival, session: Session, client: ClientInfo) -> Credentials:
        """Once the session is there, so that what changes from now on finds and ends it."""
        who = arrival.issuer, arrival.subject, arrival.sid
        try:
            if self._sources.by_id(arrival.source) is None:
                raise TicketGone("the source is gone or disabled")
            await self._logout.remember(session.id, arrival.source, who, arrival.id_token)
            identity = await self._identities.by_subject(arrival.source, arrival.issuer, arrival.subject)
            if identity is None or identity.user != arrival.user:
                raise TicketGone("the identity is not linked to the user any more")
            if await self._logout.has_ended(arrival.source, arrival.subject, arrival.sid, arrival.at):
                raise TicketGone("logged out at the provider meanwhile")
            found = await self._enabled(arrival.user)
            if found is None:
                raise CredentialsWrong("disabled while logging in")
            proven = not SECOND_FACTORS.isdisjoint(unpack_methods(pack_methods(arrival.methods)))
            if not proven and await self._second_factor.is_needed(found):
                raise TicketGone("a second factor was switched on meanwhile")
        except Exception:
            await self._sessions.end(session.id, SessionEndReason.USER, client)
            raise
        return found

    async def _enabled(self, user: int) -> Credentials | None:
        found = await self._users.credentials_by_id(user)
        return found if found is not None and found.user.enabled else None

    def _callback(self, source: Source) -> str:
        return f"{self._public_url}/login/{source.name}/callback"

    def _unavailable(self, source: Source, outage: SourceUnavailable | CallbackRefused) -> CompanyLoginFailed:
        self._sources.count(source, SourceOutcome.UNAVAILABLE)
        log.warning("a provider cannot be asked", source=source.name, problem=str(outage))
        return CompanyLoginFailed(Problem.UNAVAILABLE)

    def _failed(
        self, source: Source, failure: LoginFailure, problem: Problem, client: ClientInfo, user: int | None = None
    ) -> RefusedByRule:
        self._sources.count(source, SourceOutcome.REFUSED)
        self._audit.record(Event.LOGIN_FAILED, client, user=user, reason=failure, detail={"source": source.name})
        return RefusedByRule(problem)


def _is_too_old(login: ProviderLogin, max_age: int | None, begun: float) -> bool:
    """Whether the provider itself says so. What says nothing of the time is believed: some have no `auth_time`."""
    if max_age is None or login.authenticated is None:
        return False
    return login.authenticated < begun - max_age - CLOCK_SKEW_SECONDS


def cookie_name(state: str) -> str:
    """One for each login under way, so that two tabs do not take each other's."""
    return f"{COOKIE_PREFIX}{hashlib.sha256(state.encode()).hexdigest()[:16]}"
