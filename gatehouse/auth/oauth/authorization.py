"""An authorization request meets the session of the browser that brings it: asks what the decision needs, carries it
out, and issues the code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gatehouse.auth.oauth.authorization_codes import CodeContent
from gatehouse.auth.oauth.authorization_decision import Person, Refusal, Step, decide, scopes_to_allow
from gatehouse.auth.oauth.errors import PageProblem, PageRefusal
from gatehouse.auth.oauth.grants import new_grant_id

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.auth.audit import ClientInfo
    from gatehouse.auth.authentication import Authenticator
    from gatehouse.auth.oauth.authorization_codes import AuthorizationCodes
    from gatehouse.auth.oauth.authorization_requests import AuthorizationRequest, PushedRequests
    from gatehouse.auth.oauth.browser_sessions import BrowserSessions
    from gatehouse.auth.oauth.clients import Client
    from gatehouse.stores.database.consents import Consents
    from gatehouse.stores.database.passkeys import Passkeys
    from gatehouse.stores.database.totp_and_recovery_codes import Factors
    from gatehouse.stores.database.users import Profile
    from gatehouse.stores.state.protocol import Session


class LoggedIn(NamedTuple):
    session: Session
    profile: Profile


class Authorization:
    def __init__(
        self,
        *,
        browser_sessions: BrowserSessions,
        authenticator: Authenticator,
        pushed: PushedRequests,
        codes: AuthorizationCodes,
        consents: Consents,
        factors: Factors,
        passkeys: Passkeys,
        clock: Callable[[], float],
    ) -> None:
        self._browser_sessions = browser_sessions
        self._authenticator = authenticator
        self._pushed = pushed
        self._codes = codes
        self._consents = consents
        self._factors = factors
        self._passkeys = passkeys
        self._clock = clock

    async def logged_in(self, cookie: str, client: ClientInfo) -> LoggedIn | None:
        return await self._with_profile(await self._browser_sessions.of(cookie, client), client)

    async def logging_out(self, cookie: str, client: ClientInfo) -> LoggedIn | None:
        """Whoever wants to end the session may, also while the directory that knows the person is away."""
        return await self._with_profile(await self._browser_sessions.without_recheck(cookie), client)

    async def _with_profile(self, session: Session | None, client: ClientInfo) -> LoggedIn | None:
        profile = await self._authenticator.user_of(session, client) if session else None
        return LoggedIn(session, profile) if session and profile else None

    async def next_step(self, request: AuthorizationRequest, client: Client, who: LoggedIn | None) -> Step | Refusal:
        if who is None:
            return decide(request, client, None, None)
        user = who.session.user
        person = Person(who.session, who.profile.roles, bool(request.acr_values) and await self._has_factor(user))
        is_asked = "consent" in request.prompt or not client.config.first_party
        return decide(request, client, person, await self._consents.find(user, client.id) if is_asked else None)

    async def consent(self, request: AuthorizationRequest, client: Client, user: int) -> None:
        before = await self._consents.find(user, client.id)
        scopes = dict.fromkeys((*(before.scopes if before else ()), *scopes_to_allow(request)))
        await self._consents.give(user, client.id, tuple(scopes), self._clock())

    async def code(self, request: AuthorizationRequest, session: Session) -> str:
        if not await self._pushed.use(request):
            raise PageRefusal(PageProblem.REQUEST_URI)
        return self._codes.make(
            CodeContent(
                client=request.client,
                redirect_uri=request.redirect_uri,
                challenge=request.challenge,
                nonce=request.nonce,
                scopes=request.scopes,
                session=session.id,
                grant=new_grant_id(session.user),
                claims=request.claims,
                id_token_claims=request.id_token_claims,
            )
        )

    async def _has_factor(self, user: int) -> bool:
        return bool(await self._factors.owners([user]) or await self._passkeys.owners([user]))
