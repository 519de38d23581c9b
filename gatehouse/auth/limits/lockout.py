"""Lockout: after too many failed logins a name is locked, each time for longer.

Failed logins are counted under (name, source). A source is an address from which this name has logged in before, or
else `elsewhere`, which all other addresses share; the API and the CLI call it `place`. So guessing from a thousand
addresses is guessing from one, and it does not lock the owner out at a known address. The failure that reaches
`GATEHOUSE_LIMIT_LOGIN_NAME` locks for the first of `LOCKOUT_SECONDS`, each further one for the next, up to 15 minutes.

A login with a code in place of the captcha's answer has solved nothing, so its failures are counted apart, and lock
only further logins with codes: else anybody could lock any name without solving a captcha.

A failure is counted when the password has been checked, and the outcome is returned only while the name is not locked.
So N guesses at once count as N and reveal no more than N in a row would, and N correct logins at once all succeed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gatehouse.auth.limits.addresses import address_bucket
from gatehouse.auth.refusals import NameLocked
from gatehouse.stores.database.users import name_key
from gatehouse.stores.state.protocol import BackoffPolicy, Failures, State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gatehouse.common.parsing import Rate

LOCKOUT_SECONDS = (30, 60, 120, 240, 480, 900)
# How far lockouts have grown is kept for a day after the last one; a known source for 30 days.
BACKOFF_KEPT_SECONDS = 86_400
KNOWN_SOURCE_SECONDS = 30 * 86_400

ELSEWHERE = "elsewhere"
WITH_CODE = " (code)"  # behind the source, where logins with a code in place of a captcha are counted


class Lockout(NamedTuple):
    """A locked name, and the source it is locked for."""

    name: str
    source: str
    failures: int
    until: float


class LoginLockout:
    """Counts failed logins and locks names; `BackoffPolicy` says from which failure on, and for how long."""

    def __init__(self, state: State, clock: Callable[[], float], limit: Rate) -> None:
        self._state = state
        self._clock = clock
        self._policy = BackoffPolicy(limit.count, limit.seconds, LOCKOUT_SECONDS, BACKOFF_KEPT_SECONDS)

    async def key_for(self, username: str, address: str, *, with_code: bool = False) -> str:
        """Under which (name, source) a login from this address is counted."""
        name, source = name_key(username), address_bucket(address)
        known = await self._state.has_flag(_known_source_flag(name, source), self._clock())
        return _key(name, source if known else ELSEWHERE) + (WITH_CODE if with_code else "")

    async def raise_if_locked(self, key: str) -> None:
        now = self._clock()
        failures = await self._state.failures(key)
        if failures is not None and failures.until > now:
            raise NameLocked(failures.until - now, "this name is locked")

    async def record_failure(self, key: str) -> Failures:
        """Count a failure. If the name is locked by now, it is not counted and `NameLocked` is raised."""
        failures = await self._state.record_failure(key, self._policy, self._clock())
        if failures is None:
            await self.raise_if_locked(key)
            raise NameLocked(1, "this name is locked")
        return failures

    async def record_success(self, key: str, username: str, address: str) -> bool:
        """Clear the failures, and record the source as known; True if that is new, or half its life ago.

        A code was given beside the right password, so failures with and without one are cleared.
        """
        await self._state.clear_failures(key)
        if key.endswith(WITH_CODE):
            await self._state.clear_failures(key.removesuffix(WITH_CODE))
        flag = _known_source_flag(name_key(username), address_bucket(address))
        # Renewed at half its life, so that everyday logins write nothing.
        now = self._clock()
        if await self._state.has_flag(flag, now + KNOWN_SOURCE_SECONDS / 2):
            return False
        await self._state.set_flag(flag, now + KNOWN_SOURCE_SECONDS, now)
        return True

    async def lockouts(self) -> list[Lockout]:
        """Locked names, the longest wait first."""
        found = await self._state.locked(self._clock())
        return [Lockout(*_parts(each.key), each.failures, each.until) for each in found]

    async def lift(self, username: str, addresses: Iterable[str] = ()) -> int:
        """Clear the failures of a name: wherever it is locked, elsewhere, and at these addresses."""
        name = name_key(username)
        keys = {each.key for each in await self._state.locked(self._clock()) if _parts(each.key)[0] == name}
        for source in (ELSEWHERE, *map(address_bucket, addresses)):
            keys |= {_key(name, source), _key(name, source) + WITH_CODE}
        return sum([await self._state.clear_failures(key) for key in keys])


class NoLockout(LoginLockout):
    """For `LIMITS=off`."""

    async def key_for(self, username: str, address: str, *, with_code: bool = False) -> str:  # noqa: ARG002 - one key
        return ""

    async def raise_if_locked(self, key: str) -> None: ...

    async def record_failure(self, key: str) -> Failures:
        return Failures(key, 0, 0.0, 0, 0.0)

    async def record_success(self, key: str, username: str, address: str) -> bool:  # noqa: ARG002 - nothing is known
        return False


def _key(name: str, source: str) -> str:
    return f"{name}|{source}"


def _parts(key: str) -> tuple[str, str]:
    """Name and source of a key; a name may contain a bar, a source never does."""
    name, _, source = key.rpartition("|")
    return name, source


def _known_source_flag(name: str, source: str) -> str:
    return f"place|{name}|{source}"  # the stored name from 0.1.0
