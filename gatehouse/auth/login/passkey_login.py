"""Login by passkey, which stands for username, password, captcha and second factor.

There is nothing to guess, so no name is ever locked by it; the limit by address bounds what it costs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gatehouse.auth.audit import Audit, Caller, Event, LoginFailure
from gatehouse.auth.factors.passkeys import from_base64url, is_clone
from gatehouse.auth.refusals import PasskeyRefused

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.auth.factors.passkeys import Ceremonies
    from gatehouse.auth.login.throttle import Throttle
    from gatehouse.auth.sessions.sessions import Sessions
    from gatehouse.stores.accounts.passkeys import Passkey, Passkeys
    from gatehouse.stores.accounts.users import Profile, Users
    from gatehouse.stores.state.protocol import Session


class PasskeyVerifier:
    """Whose passkey has answered a challenge; each challenge is good for one answer."""

    def __init__(self, *, ceremonies: Ceremonies, passkeys: Passkeys, audit: Audit, clock: Callable[[], float]) -> None:
        self._ceremonies = ceremonies
        self._passkeys = passkeys
        self._audit = audit
        self._clock = clock

    async def __call__(self, credential: dict[str, Any], caller: Caller) -> Passkey:
        ticket = await self._ceremonies.challenge_answered(credential)
        passkey = await self._find(credential)
        if passkey is None:
            raise PasskeyRefused("not registered here")
        asserted = await self._ceremonies.asserted(credential, ticket, passkey)
        if is_clone(passkey.sign_count, asserted.sign_count):
            counters = {"stored": passkey.sign_count, "presented": asserted.sign_count, "passkey": passkey.id}
            self._audit.record(Event.PASSKEY_CLONED, caller, user=passkey.user, detail=counters)
            raise PasskeyRefused("the counter did not rise")
        now = self._clock()
        if not await self._passkeys.used(passkey, asserted.sign_count, now, backed_up=asserted.backed_up):
            raise PasskeyRefused("removed, or used elsewhere in this moment")
        return passkey

    async def _find(self, credential: dict[str, Any]) -> Passkey | None:
        try:
            return await self._passkeys.by_credential(from_base64url(credential["rawId"]))
        except ValueError:
            return None


class PasskeyLogin:
    def __init__(
        self,
        *,
        verifier: PasskeyVerifier,
        users: Users,
        throttle: Throttle,
        sessions: Sessions,
        audit: Audit,
    ) -> None:
        self._verifier = verifier
        self._users = users
        self._throttle = throttle
        self._sessions = sessions
        self._audit = audit

    async def __call__(self, credential: dict[str, Any], caller: Caller) -> Session:
        await self._throttle.admit_login(caller.address)
        try:
            passkey = await self._verifier(credential, caller)
            profile = await self._enabled(passkey.user)
        except PasskeyRefused:
            self._audit.record(Event.LOGIN_FAILED, caller, reason=LoginFailure.PASSKEY)
            raise
        session = await self._sessions.open(passkey.user, caller)
        username = profile.user.username
        key = await self._throttle.key_for(username, caller.address)
        await self._throttle.succeeded(key, username, caller.address)
        return session

    async def _enabled(self, user: int) -> Profile:
        profile = await self._users.profile(user)
        if profile is None or not profile.user.enabled:
            raise PasskeyRefused("the user is disabled or gone")
        return profile
