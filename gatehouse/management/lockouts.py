"""Lockouts for the console and the command line: which names are locked after failed logins, and unlocking them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.auth.audit import Event
from gatehouse.auth.login_name import LoginName

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatehouse.auth.audit import Audit
    from gatehouse.auth.limits.lockout import LockedName, Lockout
    from gatehouse.auth.sessions.sessions import Sessions
    from gatehouse.management.authority import Actor
    from gatehouse.management.users import UserChanges
    from gatehouse.stores.database.users import Users


class Lockouts:
    def __init__(
        self, *, lockout: Lockout, users: Users, changes: UserChanges, sessions: Sessions, audit: Audit
    ) -> None:
        self._lockout = lockout
        self._users = users
        self._changes = changes
        self._sessions = sessions
        self._audit = audit

    async def all(self) -> Sequence[LockedName]:
        """The longest wait first. They need not be names of users."""
        return await self._lockout.locked_names()

    async def lift(self, actor: Actor, name: str) -> int:
        """Unlock a name for all sources; returns how many lockouts and counts were cleared."""
        user = await self._users.by_name(name)
        if user:
            # Who cannot change a user must not be able to try that user's passwords without end either.
            await self._changes.require_can_manage(actor, user.id)
        sessions = await self._sessions.of_user(user.id) if user else ()
        lifted = await self._lockout.lift(LoginName.of(name), {session.address for session in sessions})
        if lifted:
            self._audit.record(
                Event.LIMIT_LIFTED,
                actor.client,
                user=user.id if user else None,
                actor=actor.user,
                detail={"name": name},
            )
        return lifted
