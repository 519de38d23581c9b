"""Password attempts, at login and when a password is changed: locked names wait, failures are counted and recorded.

Both count under the same key, so a change of the password is no second way to guess it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gatehouse.auth.audit import Audit, ClientInfo, Event, LoginFailure
from gatehouse.auth.refusals import NameLocked

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.auth.limits.throttle import Throttle


class Attempt(NamedTuple):
    """One attempt: the key it is counted under, what its audit events say of it, and whether it solved a captcha."""

    key: str
    client: ClientInfo
    user: int | None
    session: str | None = None
    solved: bool = False


class Attempts:
    def __init__(self, throttle: Throttle, audit: Audit, clock: Callable[[], float]) -> None:
        self._throttle = throttle
        self._audit = audit
        self._clock = clock

    async def raise_if_locked(self, attempt: Attempt) -> None:
        try:
            await self._throttle.lockout.raise_if_locked(attempt.key)
        except NameLocked:
            self._record(attempt, LoginFailure.LOCKED)
            raise

    async def record_failure(self, attempt: Attempt, reason: LoginFailure) -> None:
        """Count a failure. If the name is locked by now, `NameLocked` is raised instead of the real outcome."""
        await self._throttle.record_login_failure(attempt.client.address, solved=attempt.solved)
        try:
            failures = await self._throttle.lockout.record_failure(attempt.key)
        except NameLocked:
            self._record(attempt, LoginFailure.LOCKED)
            raise
        self._record(attempt, reason)
        if failures.until:
            wait = {"seconds": round(failures.until - self._clock())}
            client, user, session = attempt.client, attempt.user, attempt.session
            self._audit.record(Event.LOGIN_LOCKED, client, user=user, session=session, detail=wait)

    def _record(self, attempt: Attempt, reason: LoginFailure) -> None:
        client, user, session = attempt.client, attempt.user, attempt.session
        self._audit.record(Event.LOGIN_FAILED, client, user=user, session=session, reason=reason)
