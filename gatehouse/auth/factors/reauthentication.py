"""Re-authentication before a sensitive change: an open session is not enough, it may be an unlocked screen.

The current password, guessed at no faster than at login: both count under the same key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.auth.audit import Audit, ClientInfo, LoginFailure
from gatehouse.auth.limits.attempts import Attempt, Attempts
from gatehouse.auth.refusals import AccessTokenInvalid, CredentialsWrong
from gatehouse.stores.database.users import name_key

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.auth.limits.throttle import Throttle
    from gatehouse.auth.passwords.hash_pool import HashPool
    from gatehouse.auth.principal import Principal
    from gatehouse.auth.sessions.sessions import Sessions
    from gatehouse.stores.database.users import Credentials, Users


class Reauthentication:
    def __init__(
        self,
        *,
        users: Users,
        hashes: HashPool,
        throttle: Throttle,
        sessions: Sessions,
        audit: Audit,
        clock: Callable[[], float],
    ) -> None:
        self._users = users
        self._hashes = hashes
        self._throttle = throttle
        self._attempts = Attempts(throttle, audit, clock)
        self._sessions = sessions
        self._clock = clock

    async def reauthenticate(self, principal: Principal, given: str, client: ClientInfo) -> Credentials:
        """Returns what the password was checked against; `CredentialsWrong` if it is not the current one."""
        with self._hashes.reserve(name_key(principal.profile.user.username)):
            return await self.check_password(principal, given, client)

    async def check_password(self, principal: Principal, given: str, client: ClientInfo) -> Credentials:
        """The same for a caller who has a place in the queue of hashes."""
        attempt = await self._attempt(principal, client)
        await self._attempts.raise_if_locked(attempt)
        found = await self._users.credentials(principal.profile.user.username)
        if found is None or not (await self._hashes.check(found.user.password_hash, given)).correct:
            await self._attempts.record_failure(attempt, LoginFailure.PASSWORD)
            raise CredentialsWrong
        # While the hash ran, other failures may have locked the name, and the session may have ended.
        await self._attempts.raise_if_locked(attempt)
        if await self._sessions.live_epoch(principal.claims.session, found.user.id, self._clock()) is None:
            raise AccessTokenInvalid("the session has ended")
        return found

    async def record_failure(self, principal: Principal, client: ClientInfo, reason: LoginFailure) -> None:
        """Count a failure under the caller's name, as a failed login."""
        await self._attempts.record_failure(await self._attempt(principal, client), reason)

    async def _attempt(self, principal: Principal, client: ClientInfo) -> Attempt:
        key = await self._throttle.lockout.key_for(principal.profile.user.username, client.address)
        return Attempt(key, client, principal.claims.user, principal.claims.session)
