"""What people do for themselves: look at their sessions, end them, change their password."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.auth.accounts import policy
from gatehouse.auth.audit import Audit, Caller, Event, SessionEnd
from gatehouse.auth.refusals import CredentialsWrong, NoSuchSession, PasswordRefused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatehouse.auth.accounts.accounts import Accounts
    from gatehouse.auth.authenticator import Principal
    from gatehouse.auth.login.passwords import HashPool
    from gatehouse.auth.login.throttle import Throttle
    from gatehouse.auth.sessions.sessions import Sessions
    from gatehouse.stores.state.protocol import Session


class SelfService:
    def __init__(
        self, *, sessions: Sessions, accounts: Accounts, hashes: HashPool, throttle: Throttle, audit: Audit
    ) -> None:
        self._sessions = sessions
        self._accounts = accounts
        self._hashes = hashes
        self._throttle = throttle
        self._audit = audit

    async def sessions(self, principal: Principal) -> Sequence[Session]:
        return await self._sessions.of(principal.claims.user)

    async def end_session(self, principal: Principal, session_id: str, caller: Caller) -> None:
        """End one of one's own; of somebody else's sessions not even the existence is told."""
        if not any(session.id == session_id for session in await self._sessions.of(principal.claims.user)):
            raise NoSuchSession(session_id)
        await self._sessions.end(session_id, SessionEnd.USER, caller)

    async def end_other_sessions(self, principal: Principal, caller: Caller) -> int:
        ended = await self._sessions.end_all(
            principal.claims.user, SessionEnd.USER, caller, keep=principal.claims.session
        )
        return len(ended)

    async def change_password(self, principal: Principal, current: str, new: str, caller: Caller) -> None:
        """Needs the current password, guessed at no faster than at login; the other sessions end."""
        user = principal.cached.profile.user
        key = await self._throttle.key_for(user.username, caller.address)
        await self._throttle.raise_if_locked(key)
        stored = (await self._accounts.user(user.username)).user.password
        if not (await self._hashes.check(stored, current)).right:
            await self._throttle.failed(key)
            self._audit.record(
                Event.LOGIN_FAILED, caller, user=user.id, session=principal.claims.session, reason="password"
            )
            raise CredentialsWrong
        problem = policy.password_problem(new, user.username)
        if problem:
            raise PasswordRefused(problem)
        hashed = await self._hashes.hash(new)
        await self._accounts.set_password(user.username, hashed, keep=principal.claims.session, caller=caller)
