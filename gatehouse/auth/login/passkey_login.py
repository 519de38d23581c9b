"""Login by passkey, which replaces username, password, captcha and second factor.

There is nothing to guess, so it never locks a name; the limit by address bounds its cost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gatehouse.auth.audit import Audit, ClientInfo, Event, LoginFailure
from gatehouse.auth.login_name import LoginName
from gatehouse.auth.refusals import PasskeyRefused, TicketGone
from gatehouse.auth.sessions.amr import Method

if TYPE_CHECKING:
    from gatehouse.auth.factors.passkey_verifier import PasskeyVerifier
    from gatehouse.auth.limits.lockout import Lockout
    from gatehouse.auth.limits.throttle import Throttle
    from gatehouse.auth.sessions.sessions import Sessions
    from gatehouse.stores.database.users import Profile, Users
    from gatehouse.stores.state.protocol import Session


class PasskeyLogin:
    def __init__(
        self,
        *,
        verifier: PasskeyVerifier,
        users: Users,
        throttle: Throttle,
        lockout: Lockout,
        sessions: Sessions,
        audit: Audit,
    ) -> None:
        self._verifier = verifier
        self._users = users
        self._throttle = throttle
        self._lockout = lockout
        self._sessions = sessions
        self._audit = audit

    async def log_in(self, credential: dict[str, Any], client: ClientInfo, within: Session | None = None) -> Session:
        """`within`: the session of this browser, which goes on if the same user logs in again."""
        async with self._throttle.admitted(client.address, (PasskeyRefused, TicketGone)):
            try:
                passkey = await self._verifier.verify(credential, client)
                profile = await self._enabled(passkey.user)
            except (PasskeyRefused, TicketGone):
                self._audit.record(Event.LOGIN_FAILED, client, reason=LoginFailure.PASSKEY)
                raise
        session = await self._sessions.log_in(passkey.user, client, [Method.PASSKEY], within)
        await self._lockout.record_success(await self._lockout.attempt(LoginName.of(profile.user.username), client))
        return session

    async def _enabled(self, user: int) -> Profile:
        profile = await self._users.profile(user)
        if profile is None or not profile.user.enabled:
            raise PasskeyRefused("the user is disabled or gone")
        return profile
