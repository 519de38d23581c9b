"""Names that must wait after failed logins, for the console and the command line: who, and how one is let in again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.auth.audit import Event

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatehouse.auth.accounts.authority import Actor
    from gatehouse.auth.audit import Audit
    from gatehouse.auth.limits.throttle import Lockout, Throttle
    from gatehouse.auth.sessions.sessions import Sessions
    from gatehouse.stores.accounts.users import Users


class Lockouts:
    def __init__(self, *, throttle: Throttle, users: Users, sessions: Sessions, audit: Audit) -> None:
        self._throttle = throttle
        self._users = users
        self._sessions = sessions
        self._audit = audit

    async def all(self) -> Sequence[Lockout]:
        """Longest wait first. They need not be names of users."""
        return await self._throttle.lockouts()

    async def lift(self, actor: Actor, name: str) -> int:
        """Let a name try again at once, from everywhere; how many waits and counts that ended."""
        user = await self._users.by_name(name)
        sessions = await self._sessions.of(user.id) if user else ()
        lifted = await self._throttle.lift(name, {session.address for session in sessions})
        if lifted:
            self._audit.record(
                Event.LIMIT_LIFTED,
                actor.caller,
                user=user.id if user else None,
                actor=actor.user,
                detail={"name": name},
            )
        return lifted
