"""Authentication: from a token to its live session and user, and from a session to new tokens.

Login, refresh, logout and users/me all pass through here; it combines sessions, tokens and profiles. Signatures are
verified, and verified tokens cached, in `sessions/tokens.py`; profiles in `sessions/profile_cache.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.auth.audit import (
    Audit,
    ClientInfo,
    Event,
    LoginFailure,
    RefreshFailure,
    RefreshOutcome,
    SessionEndReason,
)
from gatehouse.auth.principal import Principal
from gatehouse.auth.refusals import (
    AccessNeedsFactor,
    AccessTokenInvalid,
    CredentialsWrong,
    RefreshNeedsFactor,
    RefreshTokenInvalid,
    StrongerLoginRequired,
)
from gatehouse.auth.sessions.amr import source_of, unpack_methods
from gatehouse.auth.sessions.tokens import TokenSet, user_of_session

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from gatehouse.auth.factors.factor_policy import SessionPolicy
    from gatehouse.auth.identity.directory_recheck import DirectoryRecheck
    from gatehouse.auth.limits.throttle import Throttle
    from gatehouse.auth.login.login import Login, LoginForm
    from gatehouse.auth.login.login_history import LoginHistory
    from gatehouse.auth.sessions.profile_cache import Profiles
    from gatehouse.auth.sessions.sessions import Sessions
    from gatehouse.auth.sessions.tokens import AccessTokens, Claims, RefreshTokens
    from gatehouse.stores.database.users import Profile
    from gatehouse.stores.state.protocol import Session


class Authenticator:
    def __init__(
        self,
        *,
        login: Login,
        login_history: LoginHistory,
        sessions: Sessions,
        profiles: Profiles,
        access: AccessTokens,
        refresh: RefreshTokens,
        throttle: Throttle,
        audit: Audit,
        clock: Callable[[], float],
        access_ttl: int,
        session_policy: SessionPolicy,
        directory_recheck: DirectoryRecheck,
    ) -> None:
        self._login = login
        self._login_history = login_history
        self._sessions = sessions
        self._profiles = profiles
        self._access = access
        self._refresh = refresh
        self._throttle = throttle
        self._audit = audit
        self._clock = clock
        self._access_ttl = access_ttl
        self._session_policy = session_policy
        self._directory_recheck = directory_recheck

    async def login(self, form: LoginForm, client: ClientInfo) -> TokenSet:
        session, factor = await self._login.log_in(form, client)
        return await self.issue(session, client, factor)

    async def issue(self, session: Session, client: ClientInfo, factor: str | None = None) -> TokenSet:
        """The first tokens of a session that a login has just opened; `factor` is what it showed beside a password."""
        return self._tokens(await self.admit(session, client, factor), session)

    async def admit(self, session: Session, client: ClientInfo, factor: str | None = None) -> Profile:
        """The user of a session that a login has just opened, or refused if it must not live. Records the login."""
        profile = await self._profile(session, client)
        if isinstance(profile, SessionEndReason):
            disabled = profile is SessionEndReason.DISABLED
            reason = LoginFailure.DISABLED if disabled else LoginFailure.SECOND_FACTOR_MISSING
            self._audit.record(Event.LOGIN_FAILED, client, user=session.user, session=session.id, reason=reason)
            raise CredentialsWrong("disabled while logging in") if disabled else StrongerLoginRequired
        facts = {"factor": factor, "source": source_of(session.proof)}
        detail = {name: value for name, value in facts.items() if value}
        self._audit.record(Event.LOGIN, client, user=session.user, session=session.id, detail=detail)
        await self._login_history.record(session, client)
        return profile

    async def user_of(self, session: Session, client: ClientInfo) -> Profile | None:
        """The user of a session that a browser comes back with; None if the session had to be ended."""
        profile = await self._profile(session, client)
        return None if isinstance(profile, SessionEndReason) else profile

    async def refresh(self, token: str, client: ClientInfo) -> TokenSet:
        known = self._refresh.decode(token)
        if known is None:
            raise await self._refresh_failed(RefreshFailure.NOT_OURS, client)
        session_id, generation = known
        await self._directory_recheck.check(user_of_session(session_id), client)
        await self._read_before_rotation(session_id)
        try:
            rotation = await self._sessions.refresh(session_id, generation, client)
        except RefreshTokenInvalid as refusal:
            raise await self._refresh_failed(refusal.reason, client, session_id) from None
        session = rotation.session
        profile = await self._profile(session, client)
        if profile is SessionEndReason.DISABLED:
            raise await self._refresh_failed(RefreshFailure.DISABLED, client, session.id, session.user)
        if isinstance(profile, SessionEndReason):
            await self._refresh_failed(RefreshFailure.SECOND_FACTOR, client, session.id, session.user)
            raise RefreshNeedsFactor(RefreshFailure.SECOND_FACTOR)
        outcome = RefreshOutcome.ROTATED if rotation.did_rotate else RefreshOutcome.REPEATED
        self._audit.record(Event.REFRESH, client, user=session.user, session=session.id, reason=outcome)
        return self._tokens(profile, session)

    async def _read_before_rotation(self, session_id: str) -> None:
        """Read what the new tokens are made of while a failure still leaves the refresh token unused.

        After the rotation, a client that cannot get its tokens until the grace window is over would be taken for a
        thief.
        """
        self._access.require_signer()
        user = user_of_session(session_id)
        if not self._profiles.is_cached(user):
            epoch = await self._sessions.live_epoch(session_id, user, self._clock())
            if epoch is not None:
                await self._profiles.get(user, epoch)

    async def _refresh_failed(
        self, reason: RefreshFailure, client: ClientInfo, session: str | None = None, user: int | None = None
    ) -> RefreshTokenInvalid:
        await self._throttle.record_refresh_failure(client.address)
        self._audit.record(Event.REFRESH_FAILED, client, user=user, session=session, reason=reason)
        return RefreshTokenInvalid(reason)

    async def logout(self, token: str | None, client: ClientInfo) -> Claims:
        claims, _ = await self._live_claims(token)
        if not await self.end(claims.session, client):
            raise AccessTokenInvalid("another request has just ended this session")
        return claims

    async def end(self, session_id: str, client: ClientInfo) -> bool:
        """Log out of a session; False if it has ended before."""
        session = await self._sessions.end(session_id, SessionEndReason.LOGOUT, client) if session_id else None
        if session is None:
            return False
        self._audit.record(Event.LOGOUT, client, user=session.user, session=session.id)
        return True

    async def authenticate(self, token: str | None) -> Principal:
        """The principal of an access token; refused unless its session is live and the user is enabled."""
        claims, epoch = await self._live_claims(token)
        return Principal(claims, await self.bearer(claims.user, claims.session, epoch, claims.methods))

    async def bearer(self, user: int, session: str, epoch: int, methods: Collection[str]) -> Profile:
        """The user of a token whose session is live; refused, and the session ended, if it must not be."""
        profile = await self._profiles.get(user, epoch)
        if profile is None:
            # The user was disabled and the epoch was not raised, or not yet: end the session here.
            await self._sessions.end(session, SessionEndReason.DISABLED, ClientInfo())
            raise AccessTokenInvalid("the user is disabled or gone")
        if self._session_policy.requires_some and not await self._session_policy.accepts(profile, methods):
            await self._sessions.end(session, SessionEndReason.SECOND_FACTOR, ClientInfo())
            raise AccessNeedsFactor("a role or the settings require a second factor, and this session shows none")
        return profile

    async def _live_claims(self, token: str | None) -> tuple[Claims, int]:
        """The token's claims and its user's epoch; refused unless the session is live."""
        now = self._clock()
        claims = await self._access.verify(token, now) if token else None
        if claims is None:
            raise AccessTokenInvalid("no valid access token")
        epoch = await self._sessions.live_epoch(claims.session, claims.user, now)
        if epoch is None:
            raise AccessTokenInvalid("the session has ended")
        return claims, epoch

    async def _profile(self, session: Session, client: ClientInfo) -> Profile | SessionEndReason:
        """The user with the current roles; or why the session was ended instead."""
        profile = await self._profiles.get(session.user, session.epoch)
        if profile is None:
            await self._sessions.end(session.id, SessionEndReason.DISABLED, client)
            return SessionEndReason.DISABLED
        if not await self._session_policy.accepts(profile, unpack_methods(session.proof)):
            await self._sessions.end(session.id, SessionEndReason.SECOND_FACTOR, client)
            return SessionEndReason.SECOND_FACTOR
        return profile

    def _tokens(self, profile: Profile, session: Session) -> TokenSet:
        now = self._clock()
        expires = min(now + self._access_ttl, session.ends)
        access = self._access.make(profile, session, now, expires)
        refresh = self._refresh.make(session.id, session.generation)
        return TokenSet(access, refresh, int(expires) - int(now), session.id)
