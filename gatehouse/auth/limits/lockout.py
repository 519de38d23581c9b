"""Lockout: after too many failed logins a name is locked, each time for longer.

Failed logins are counted under (name, source). A source is an address from which this name has logged in before, or
else `elsewhere`, which all other addresses share; the API and the CLI call it `place`. So guessing from a thousand
addresses is guessing from one, and it does not lock the owner out at a known address. The failure that reaches
`GATEHOUSE_LIMIT_LOGIN_NAME` locks for the first of `LOCKOUT_SECONDS`, each further one for the next, up to 15 minutes.

A login with a code in place of the captcha's answer has solved nothing, so its failures are counted apart, and lock
only further logins with codes: else anybody could lock any name without solving a captcha.

A failure is counted when the password has been checked, and the outcome is returned only while the name is not locked.
So N guesses at once count as N and reveal no more than N in a row would, and N correct logins at once all succeed.

Login and every other check of a password count under the same key, so a change of the password is no second way to
guess it. A failure counts for the address as well (`throttle.py`), and each is an audit event.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

from gatehouse.auth.audit import Audit, ClientInfo, Event, LoginFailure
from gatehouse.auth.limits.address_buckets import address_bucket
from gatehouse.auth.limits.throttle import KNOWN_SOURCE_SECONDS, MAX_WAIT_SECONDS
from gatehouse.auth.refusals import NameLocked
from gatehouse.stores.state.protocol import BackoffPolicy, State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gatehouse.auth.limits.throttle import Throttle
    from gatehouse.auth.login_name import LoginName
    from gatehouse.common.parsing import Rate

LOCKOUT_SECONDS = (30, 60, 120, 240, 480, MAX_WAIT_SECONDS)
BACKOFF_KEPT_SECONDS = 86_400  # how far lockouts have grown is kept for a day after the last one

ELSEWHERE = "elsewhere"
WITH_CODE = " (code)"  # behind the source, where logins with a code in place of a captcha are counted


class LockedName(NamedTuple):
    """A locked name, and the source it is locked for."""

    name: str
    source: str
    failures: int
    until: float


class Attempt(NamedTuple):
    """One check of a password: the key it is counted under, what its audit events say, whether it solved a captcha."""

    name: LoginName
    key: str
    client: ClientInfo
    user: int | None = None
    session: str | None = None
    solved: bool = False


class Lockout:
    """Counts failed logins and locks names; `BackoffPolicy` says from which failure on, and for how long."""

    def __init__(
        self, *, state: State, throttle: Throttle, audit: Audit, clock: Callable[[], float], limit: Rate
    ) -> None:
        self._state = state
        self._throttle = throttle
        self._audit = audit
        self._clock = clock
        self._policy = BackoffPolicy(limit.count, limit.seconds, LOCKOUT_SECONDS, BACKOFF_KEPT_SECONDS)

    async def attempt(self, name: LoginName, client: ClientInfo, *, with_code: bool = False) -> Attempt:
        """Under which (name, source) an attempt from this address is counted."""
        source = address_bucket(client.address)
        known = await self._state.has_flag(_known_source_flag(name.key, source), self._clock())
        key = _key(name.key, source if known else ELSEWHERE) + (WITH_CODE if with_code else "")
        return Attempt(name, key, client)

    async def raise_if_locked(self, attempt: Attempt) -> None:
        now = self._clock()
        failures = await self._state.failures(attempt.key)
        if failures is not None and failures.until > now:
            raise self._locked(attempt, failures.until - now)

    async def record_failure(self, attempt: Attempt, reason: LoginFailure) -> None:
        """Count a failure. If the name is locked by now, `NameLocked` is raised instead of the real outcome."""
        await self._throttle.record_login_failure(attempt.client.address, solved=attempt.solved)
        failures = await self._state.record_failure(attempt.key, self._policy, self._clock())
        if failures is None:
            await self.raise_if_locked(attempt)
            raise self._locked(attempt, 1)
        self._audit_failure(attempt, reason)
        if failures.until:
            wait = {"seconds": round(failures.until - self._clock())}
            self._audit.record(
                Event.LOGIN_LOCKED, attempt.client, user=attempt.user, session=attempt.session, detail=wait
            )

    async def record_success(self, attempt: Attempt) -> None:
        """Clear the failures, record the source as known, and give back what the address is owed for it.

        A code was given beside the right password, so failures with and without one are cleared.
        """
        now, address = self._clock(), attempt.client.address
        flag = _known_source_flag(attempt.name.key, address_bucket(address))
        # Renewed at half its life, so that everyday logins write nothing.
        known, owing, _ = await asyncio.gather(
            self._state.has_flag(flag, now + KNOWN_SOURCE_SECONDS / 2),
            self._throttle.owing(address),
            self._clear({attempt.key, attempt.key.removesuffix(WITH_CODE)}),
        )
        # The reward first: of several logins at once, none must find the source known before the room for it is earned.
        await self._throttle.reward_login(attempt.name, address, owing, is_new=not known)
        if not known:
            await self._state.set_flag(flag, now + KNOWN_SOURCE_SECONDS, now)

    async def locked_names(self) -> list[LockedName]:
        """The longest wait first."""
        return [
            LockedName(*_parts(locked.key), locked.failures, locked.until)
            for locked in await self._state.locked(self._clock())
        ]

    async def lift(self, name: LoginName, addresses: Iterable[str] = ()) -> int:
        """Clear the failures of a name: wherever it is locked, elsewhere, and at these addresses."""
        locked = await self._state.locked(self._clock())
        keys = {failures.key for failures in locked if _parts(failures.key)[0] == name.key}
        for source in (ELSEWHERE, *map(address_bucket, addresses)):
            keys |= {_key(name.key, source), _key(name.key, source) + WITH_CODE}
        return await self._clear(keys)

    async def _clear(self, keys: Iterable[str]) -> int:
        return sum(await asyncio.gather(*map(self._state.clear_failures, keys)))

    def _locked(self, attempt: Attempt, wait: float) -> NameLocked:
        self._audit_failure(attempt, LoginFailure.LOCKED)
        return NameLocked(wait, "this name is locked")

    def _audit_failure(self, attempt: Attempt, reason: LoginFailure) -> None:
        self._audit.record(
            Event.LOGIN_FAILED, attempt.client, user=attempt.user, session=attempt.session, reason=reason
        )


class NoLockout(Lockout):
    """For `LIMITS=off`: failures are recorded and not counted."""

    async def attempt(self, name: LoginName, client: ClientInfo, *, with_code: bool = False) -> Attempt:  # noqa: ARG002 - one key
        return Attempt(name, "", client)

    async def raise_if_locked(self, attempt: Attempt) -> None: ...

    async def record_failure(self, attempt: Attempt, reason: LoginFailure) -> None:
        self._audit_failure(attempt, reason)

    async def record_success(self, attempt: Attempt) -> None: ...


def _key(name: str, source: str) -> str:
    return f"{name}|{source}"


def _parts(key: str) -> tuple[str, str]:
    """Name and source of a key; a name may contain a bar, a source never does."""
    name, _, source = key.rpartition("|")
    return name, source


def _known_source_flag(name: str, source: str) -> str:
    return f"place|{name}|{source}"  # the stored name from 0.1.0
