"""Re-authentication before a sensitive change: an open session is not enough, it may be an unlocked screen.

The current password, guessed at no faster than at login: both count under the same key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.auth.audit import ClientInfo, LoginFailure
from gatehouse.auth.login_name import LoginName
from gatehouse.auth.refusals import AccessTokenInvalid, CredentialsWrong, FieldMissing, RecentLoginRequired
from gatehouse.auth.sessions.amr import Method

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.auth.identity.password_check import PasswordChecks
    from gatehouse.auth.limits.lockout import Attempt, Lockout
    from gatehouse.auth.passwords.hash_pool import HashPool
    from gatehouse.auth.principal import Principal
    from gatehouse.auth.sessions.sessions import Sessions
    from gatehouse.stores.database.users import Credentials, Users

RECENT_SECONDS = 300


class Reauthentication:
    def __init__(
        self,
        *,
        users: Users,
        hashes: HashPool,
        passwords: PasswordChecks,
        lockout: Lockout,
        sessions: Sessions,
        clock: Callable[[], float],
    ) -> None:
        self._users = users
        self._hashes = hashes
        self._passwords = passwords
        self._lockout = lockout
        self._sessions = sessions
        self._clock = clock

    async def reauthenticate(self, principal: Principal, given: str, client: ClientInfo) -> Credentials:
        """Returns what the password was checked against; `CredentialsWrong` if it is not the current one."""
        with self._hashes.reserve(LoginName.of(principal.profile.user.username).key):
            return await self.check_password(principal, given, client)

    async def check_password(self, principal: Principal, given: str, client: ClientInfo) -> Credentials:
        """The same for a caller who has a place in the queue of hashes."""
        attempt = await self._attempt(principal, client)
        await self._lockout.raise_if_locked(attempt)
        found = await self._users.credentials_of(attempt.name.key)
        if found is None or not await self._passwords.is_right(found, given):
            await self._lockout.record_failure(attempt, LoginFailure.PASSWORD)
            raise CredentialsWrong
        # While the hash ran, other failures may have locked the name, and the session may have ended.
        await self._lockout.raise_if_locked(attempt)
        if await self._sessions.live_epoch(principal.claims.session, found.user.id, self._clock()) is None:
            raise AccessTokenInvalid("the session has ended")
        return found

    def require_recent_login(self, principal: Principal) -> None:
        """In place of a password, for those who have none: a provider has just logged them in."""
        claims = principal.claims
        if principal.profile.user.password_hash or Method.PROVIDER not in claims.methods:
            raise FieldMissing("currentPassword")
        if self._clock() - (claims.authenticated or 0) > RECENT_SECONDS:
            raise RecentLoginRequired("the login with the provider is too old")

    async def record_failure(self, principal: Principal, client: ClientInfo, reason: LoginFailure) -> None:
        """Count a failure under the caller's name, as a failed login."""
        await self._lockout.record_failure(await self._attempt(principal, client), reason)

    async def _attempt(self, principal: Principal, client: ClientInfo) -> Attempt:
        attempt = await self._lockout.attempt(LoginName.of(principal.profile.user.username), client)
        return attempt._replace(user=principal.claims.user, session=principal.claims.session)
