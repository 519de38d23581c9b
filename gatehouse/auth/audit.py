"""The audit trail: every event that someone may one day have to explain, with who, whence, when and why.

Recording never waits and never fails a request: the event goes to the log at once and into a bounded queue, from
which a task writes batches to the accounts. When the queue is full (the database has been away for long) the log
line is all that is kept, and the number of events lost to the database is counted. A stop writes what is queued.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from contextlib import suppress
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from gatehouse import logs
from gatehouse.stores.accounts.audit_trail import AuditEntry, AuditTrail
from gatehouse.stores.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

QUEUE_LIMIT = 20_000
BATCH = 2_000
RETRY_SECONDS = 1.0
# A write for each event would cost more than the requests; a kill loses no more of the trail than this.
GATHER_SECONDS = 0.25

AGENT_LENGTH = 200

log = logs.named("gatehouse.audit")


class Event(StrEnum):
    """What can happen. Tags are stored for years: they are added, never renamed."""

    LOGIN = "login"
    LOGIN_FAILED = "login.failed"
    LOGIN_LOCKED = "login.locked"
    REFRESH = "refresh"
    REFRESH_FAILED = "refresh.failed"
    LOGOUT = "logout"
    SESSION_ENDED = "session.ended"
    PASSWORD_CHANGED = "password.changed"
    PASSWORD_REHASHED = "password.rehashed"
    USER_ADDED = "user.added"
    USER_CHANGED = "user.changed"
    USER_DISABLED = "user.disabled"
    USER_ENABLED = "user.enabled"
    USER_DELETED = "user.deleted"
    ROLE_ADDED = "role.added"
    ROLE_CHANGED = "role.changed"
    ROLE_DELETED = "role.deleted"
    DEPARTMENT_ADDED = "department.added"
    DEPARTMENT_CHANGED = "department.changed"
    DEPARTMENT_DELETED = "department.deleted"
    FACTOR_ADDED = "factor.added"
    FACTOR_REMOVED = "factor.removed"
    FACTOR_RESET = "factor.reset"
    RECOVERY_CODE_USED = "recovery_code.used"
    RECOVERY_CODES_RENEWED = "recovery_codes.renewed"
    MENU_ADDED = "menu.added"
    MENU_CHANGED = "menu.changed"
    MENU_DELETED = "menu.deleted"
    LIMIT_LIFTED = "limit.lifted"
    KEY_ADDED = "key.added"
    KEY_RETIRED = "key.retired"
    SECRET_ROTATED = "secret.rotated"
    SERVICE_KEY_ADDED = "service_key.added"
    SERVICE_KEY_REVOKED = "service_key.revoked"


class LoginFailure(StrEnum):
    """Why a login or a change of the password was refused."""

    CAPTCHA_WRONG = "captcha_wrong"
    CAPTCHA_GONE = "captcha_gone"
    PASSWORD = "password"
    UNKNOWN_NAME = "unknown_name"
    DISABLED = "disabled"
    PASSWORD_LOGIN_OFF = "password_login_off"
    SECOND_FACTOR = "second_factor"
    SECOND_FACTOR_MISSING = "second_factor_missing"
    WAITING = "waiting"


class SessionEnd(StrEnum):
    """Why a session ended."""

    LOGOUT = "logout"
    REUSE = "reuse"
    IDLE = "idle"
    ABSOLUTE = "absolute"
    DISABLED = "disabled"
    DELETED = "deleted"
    PASSWORD = "password"
    OPERATOR = "operator"
    LIMIT = "limit"
    USER = "user"


class Caller(NamedTuple):
    """Where a request comes from. The address is one we believe, the agent whatever it says of itself."""

    address: str = ""
    agent: str = ""
    request: str = ""


class Audit:
    def __init__(self, trail: AuditTrail, clock: Callable[[], float]) -> None:
        self._trail = trail
        self._clock = clock
        self._queue: list[AuditEntry] = []
        self._wake = asyncio.Event()
        self._full = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._stopping = False
        self._log = log.bind()  # looked up once, and not for every event
        self.lost = 0
        self.counts: Counter[tuple[str, str]] = Counter()  # by event and reason, for the metrics

    def record(
        self,
        event: Event,
        caller: Caller,
        *,
        user: int | None = None,
        session: str | None = None,
        reason: str | None = None,
        detail: Mapping[str, object] | None = None,
        actor: int | None = None,
    ) -> None:
        """`actor` is who did it, if that was done to somebody else or to no user at all."""
        encoded = msgspec.json.encode(detail).decode() if detail else None
        address, request = caller.address or None, caller.request or None
        agent = caller.agent[:AGENT_LENGTH] or None
        entry = AuditEntry(
            0, self._clock(), event.value, user, session, address, request, reason, encoded, actor, agent
        )
        if self._log.is_enabled_for(logging.INFO):
            facts = {
                "user": user,
                "session": session,
                "address": address,
                "request": request,
                "reason": reason,
                "actor": actor,
            }
            known = {name: value for name, value in facts.items() if value is not None}
            self._log.info(event.value, **known | dict(detail or {}))
        self.counts[event.value, reason or ""] += 1
        if len(self._queue) >= QUEUE_LIMIT:
            self.lost += 1
            return
        self._queue.append(entry)
        self._wake.set()
        if len(self._queue) >= BATCH:
            self._full.set()

    @property
    def queued(self) -> int:
        return len(self._queue)

    def start(self) -> None:
        self._task = asyncio.create_task(self._write_forever())

    async def stop(self) -> None:
        """Write what is queued and stop; if the database is away, the log lines are all that remains."""
        self._stopping = True
        self._wake.set()
        self._full.set()
        if self._task:
            await self._task
        else:
            await self._write_forever()

    async def _write_forever(self) -> None:
        while self._queue or not self._stopping:
            await self._wake.wait()
            self._wake.clear()
            await self._gather()
            try:
                await self._flush()
            except StoreUnavailable as problem:
                log.warning("audit events wait for the database", queued=len(self._queue), problem=str(problem))
                if self._stopping:
                    return
                await asyncio.sleep(RETRY_SECONDS)
                self._wake.set()

    async def _gather(self) -> None:
        """Let a batch come together, unless it is there already or the service stops."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._full.wait(), 0 if self._stopping else GATHER_SECONDS)

    async def _flush(self) -> None:
        """Write one batch. What has come meanwhile gathers like the first: in a storm there is always something."""
        batch = self._queue[:BATCH]
        if batch:
            await self._trail.append(batch)
            del self._queue[: len(batch)]
        if self._queue:
            self._wake.set()
        if len(self._queue) < BATCH:
            self._full.clear()
