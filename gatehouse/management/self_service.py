"""Self-service of users: list and end their own sessions, change their own password."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.auth.audit import ClientInfo, SessionEndReason
from gatehouse.auth.passwords.password_policy import password_problem
from gatehouse.auth.refusals import (
    AccessTokenInvalid,
    CredentialsWrong,
    NoSuchSession,
    PasswordProblem,
    PasswordRefused,
    TooManyRequests,
)
from gatehouse.common.name_key import name_key

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gatehouse.auth.factors.current_password_check import Reauthentication
    from gatehouse.auth.limits.throttle import Throttle
    from gatehouse.auth.passwords.hash_pool import HashPool
    from gatehouse.auth.principal import Principal
    from gatehouse.auth.sessions.sessions import Sessions
    from gatehouse.management.users import UserChanges
    from gatehouse.stores.state.protocol import Session


class SelfService:
    def __init__(
        self,
        *,
        sessions: Sessions,
        changes: UserChanges,
        hashes: HashPool,
        throttle: Throttle,
        reauthentication: Reauthentication,
        clock: Callable[[], float],
    ) -> None:
        self._sessions = sessions
        self._changes = changes
        self._hashes = hashes
        self._throttle = throttle
        self._reauthentication = reauthentication
        self._clock = clock
        self._changing: set[int] = set()  # users whose change is under way in this worker

    async def sessions(self, principal: Principal) -> Sequence[Session]:
        return await self._sessions.of_user(principal.claims.user)

    async def end_session(self, principal: Principal, session_id: str, client: ClientInfo) -> None:
        """End a session of the caller. A session of another user is reported as not found."""
        if not any(session.id == session_id for session in await self._sessions.of_user(principal.claims.user)):
            raise NoSuchSession(session_id)
        await self._sessions.end(session_id, SessionEndReason.USER, client)

    async def end_other_sessions(self, principal: Principal, client: ClientInfo) -> int:
        ended = await self._sessions.end_all(
            principal.claims.user, SessionEndReason.USER, client, except_session=principal.claims.session
        )
        return len(ended)

    async def change_password(self, principal: Principal, current: str, new: str, client: ClientInfo) -> None:
        """Needs the current password, guessed at no faster than at login; the other sessions end.

        One change at a time for each user: it costs two hashes, and the queue of hashes belongs to everybody.
        """
        user = principal.profile.user
        if user.id in self._changing:
            raise TooManyRequests(1, "a change of this user's password is under way")
        self._changing.add(user.id)
        try:
            with self._hashes.reserve(name_key(user.username)):
                await self._change_password(principal, current, new, client)
        finally:
            self._changing.discard(user.id)

    async def _change_password(self, principal: Principal, current: str, new: str, client: ClientInfo) -> None:
        user, session = principal.profile.user, principal.claims.session
        await self._throttle.admit_password_change(user.id)
        await self._changes.require_own_password(user.id)
        checked = await self._reauthentication.check_password(principal, current, client)
        problem = PasswordProblem.SAME if new == current else password_problem(new, user.username)
        if problem:
            raise PasswordRefused(problem)
        hashed = await self._hashes.hash(new)
        # Hashing takes a while: if the session was ended or the password was set in that time, this change loses.
        if await self._sessions.live_epoch(session, user.id, self._clock()) is None:
            raise AccessTokenInvalid("the session has ended")
        if not await self._changes.replace_own_password(
            user.id, checked.user.password_hash, hashed, client, except_session=session
        ):
            raise CredentialsWrong("the password was changed by another request")
