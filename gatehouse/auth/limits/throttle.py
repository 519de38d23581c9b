"""Rate limits: how often one may try, by address, by user, and all logins together.

Limits by address count failures: a whole office behind one address logs in at nine o'clock, and only guessing fails
again and again. What has solved a captcha and what has not are counted apart, so that nobody who solves none can use up
what those have who do. Login looks at the level first and raises it when it has failed. Guesses made at once may
exceed the limit by as many as are under way, and all of them are paid for by the wait after it.

A name that logs in gives a few failures of its address back, once an hour: most were its own. One that is new there
earns the address room for one more failure. Logging in to one account again and again gains nothing.

The limit of all logins together is charged only for logins that have solved a captcha: to use it up, an
attacker must solve one for each try. Failed logins of one name are counted in `lockout.py`.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from gatehouse.auth.limits.address_buckets import IPV6_WIDTHS, address_bucket, address_buckets
from gatehouse.auth.refusals import Refused, TooManyRequests
from gatehouse.common.bounded_cache import BoundedCache
from gatehouse.common.parsing import Rate
from gatehouse.stores.state.limit_rules import gcra

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from gatehouse.auth.login_name import LoginName
    from gatehouse.stores.state.protocol import State

MAX_WAIT_SECONDS = 900  # for failures, of an address or of a name
KNOWN_SOURCE_SECONDS = 30 * 86_400  # a name's address is known for so long after a login
SOLVED, UNSOLVED = "login", "unsolved"  # the keys of failed logins by address begin with one of them
# What a name that logs in gives back of its address's failures, and how often.
GIVEN_BACK = 3
GIVE_BACK_EVERY_SECONDS = 3600
# Names that are new at an address earn it room for one failure each, up to this many times the limit. Full, it is used
# up by time after as long as an address is known.
MAX_ROOM = 10
ROUNDING_SECONDS = 0.001  # sums of times since the epoch lose their last digits
# Addresses whose captcha allowance one worker keeps track of.
MAX_BUCKETS = 50_000
SOURCE_TESTS = Rate(20, 60)
COMPANY_LOGINS = Rate(300, 60)


class RateLimit(NamedTuple):
    """A rate, and the key under which events are counted against it."""

    key: str
    rate: Rate


class Limits(NamedTuple):
    login_address: Rate
    login_total: Rate
    captcha_address: Rate
    refresh_address: Rate
    password_user: Rate


class Throttle:
    def __init__(self, state: State, clock: Callable[[], float], limits: Limits) -> None:
        self._state = state
        self._clock = clock
        self._limits = limits
        self._captchas = _local_limiters(limits.captcha_address)
        self._company_logins = _local_limiters(COMPANY_LOGINS)

    def admit_captcha(self, address: str) -> None:
        """Counted in this process alone: a flood of captchas must not become a flood of writes."""
        self._admit(address, self._captchas, "captchas from this address")

    def admit_company_login(self, address: str) -> None:
        """The same for logins with a company account that an application waits for: state keeps what each is for."""
        self._admit(address, self._company_logins, "logins with a company account from this address")

    async def admit_login(self, address: str, *, solved: bool = False) -> None:
        """Refuse while too many logins from this address have failed. Nothing is counted."""
        limits = self._login_limits(address, solved=solved)
        levels = await self._levels(limits)
        for number, ((_, rate), level) in enumerate(zip(limits, levels, strict=True)):
            wait = level + _interval(rate) - rate.seconds
            if wait > ROUNDING_SECONDS and number == 0:
                wait = await self._less_room(wait, address)
            if wait > ROUNDING_SECONDS:
                raise TooManyRequests(wait, "failed logins from this address")

    async def record_login_failure(self, address: str, *, solved: bool = False) -> None:
        now = self._clock()
        limits = self._login_limits(address, solved=solved)
        await asyncio.gather(
            *(self._state.add_to_rate(key, _interval(rate), _ceiling(rate), now) for key, rate in limits)
        )

    @asynccontextmanager
    async def admitted(self, address: str, failure: type[Refused] | tuple[type[Refused], ...]) -> AsyncIterator[None]:
        """For what solves no captcha and hashes no guess: refused as a login is, and `failure` counts as one."""
        await self.admit_login(address)
        try:
            yield
        except failure:
            await self.record_login_failure(address)
            raise

    async def owing(self, address: str) -> list[RateLimit]:
        """Limits of the address that failures have used, and a success gives back.

        The address itself, and no wider network: one account could give back to it from each address within.
        """
        limits = [self._login_limits(address, solved=solved)[0] for solved in (True, False)]
        return [limit for limit, level in zip(limits, await self._levels(limits), strict=True) if level]

    async def reward_login(self, name: LoginName, address: str, owing: Sequence[RateLimit], *, is_new: bool) -> None:
        """Give back some failures of the address, and earn it room if the name is new there."""
        if not owing and not is_new:
            return
        now, source = self._clock(), address_bucket(address)
        # Of several logins at once one sets it: so a name gives once, however often it logs in.
        given = f"given|{name.key}|{source}"
        if not await self._state.compare_and_set(given, None, "1", now + GIVE_BACK_EVERY_SECONDS, now):
            return
        for back, rate in owing:
            await self._state.add_to_rate(back, -GIVEN_BACK * _interval(rate), _ceiling(rate), now)
        if is_new:
            await self._state.add_to_rate(f"names|{source}", self._name_seconds, KNOWN_SOURCE_SECONDS, now)

    async def admit_to_login_total(self, *, solved: bool) -> None:
        """The limit of all logins together.

        Logins with a code in place of the captcha's answer have solved nothing, so they have their own limit: using
        it up does not affect logins that solve a captcha.
        """
        await self._consume("login" if solved else "login|code", self._limits.login_total, "logins in all")

    async def record_refresh_failure(self, address: str) -> None:
        """Count a failed refresh; beyond the limit, `TooManyRequests` is raised in place of the real outcome."""
        # One after the other: what a narrow network is refused must not count against its neighbours.
        for key, rate in self._by_address("refresh", address, self._limits.refresh_address):
            await self._consume(key, rate, "failed refreshes from this address")

    async def record_client_failure(self, address: str) -> None:
        """The same for applications that are not authenticated."""
        for key, rate in self._by_address("client", address, self._limits.refresh_address):
            await self._consume(key, rate, "applications from this address that were not authenticated")

    async def admit_password_change(self, user: int) -> None:
        await self._consume(f"password|{user}", self._limits.password_user, "password changes of this user")

    async def admit_source_test(self, user: int) -> None:
        """A test makes the service connect to what an administrator has configured."""
        await self._consume(f"source test|{user}", SOURCE_TESTS, "tests of sources by this user")

    def _login_limits(self, address: str, *, solved: bool) -> Sequence[RateLimit]:
        return self._by_address(SOLVED if solved else UNSOLVED, address, self._limits.login_address)

    async def _levels(self, limits: Sequence[RateLimit]) -> list[float]:
        """One round trip, however many there are."""
        now = self._clock()
        return await asyncio.gather(*(self._state.rate_level(key, now) for key, _ in limits))

    async def _less_room(self, wait: float, address: str) -> float:
        """What is left of a wait where names have logged in; the room that they earned shrinks while one waits."""
        earned = await self._state.rate_level(f"names|{address_bucket(address)}", self._clock())
        room_of_a_second = _interval(self._limits.login_address) / self._name_seconds
        if room_of_a_second >= 1:  # a limit over many days
            return wait
        return min(wait, (wait - earned * room_of_a_second) / (1 - room_of_a_second))

    @property
    def _name_seconds(self) -> float:
        return KNOWN_SOURCE_SECONDS / (MAX_ROOM * self._limits.login_address.count)

    def _by_address(self, what: str, address: str, rate: Rate) -> Sequence[RateLimit]:
        return [RateLimit(f"{what}|{bucket}", _times(rate, times)) for bucket, times in address_buckets(address)]

    def _admit(self, address: str, limiters: dict[int, _LocalRateLimiter], what: str) -> None:
        for bucket, times in address_buckets(address):
            wait = limiters[times].rate_limit(bucket, self._clock())
            if wait:
                raise TooManyRequests(wait, what)

    async def _consume(self, key: str, rate: Rate, what: str) -> None:
        wait = await self._state.rate_limit(key, rate, self._clock())
        if wait:
            raise TooManyRequests(wait, what)


class NoLimits(Throttle):
    """For `LIMITS=off`. What a login earns its address is asked for by `Lockout` alone, which is off then too."""

    def admit_captcha(self, address: str) -> None: ...

    def admit_company_login(self, address: str) -> None: ...

    async def admit_login(self, address: str, *, solved: bool = False) -> None: ...

    async def record_login_failure(self, address: str, *, solved: bool = False) -> None: ...

    async def admit_to_login_total(self, *, solved: bool) -> None: ...

    async def record_refresh_failure(self, address: str) -> None: ...

    async def record_client_failure(self, address: str) -> None: ...

    async def admit_password_change(self, user: int) -> None: ...

    async def admit_source_test(self, user: int) -> None: ...


@cache  # as many as there are settings
def _times(rate: Rate, times: int) -> Rate:
    return replace(rate, count=rate.count * times)


def _interval(rate: Rate) -> float:
    return rate.seconds / rate.count


def _ceiling(rate: Rate) -> float:
    """The highest level, so that nobody waits longer than for a locked name; and never below the limit itself."""
    return rate.seconds + max(MAX_WAIT_SECONDS - _interval(rate), 0.0)


class _LocalRateLimiter:
    """Rates counted in this process alone; when it is full, the address seen longest ago is evicted."""

    def __init__(self, rate: Rate) -> None:
        self._rate = rate
        self._arrivals: BoundedCache[str, float] = BoundedCache(MAX_BUCKETS)

    def rate_limit(self, key: str, now: float) -> float:
        wait, self._arrivals[key] = gcra(self._arrivals.get(key), self._rate, now)
        return wait


def _local_limiters(rate: Rate) -> dict[int, _LocalRateLimiter]:
    """By how many times the rate a network of that width may have."""
    return {times: _LocalRateLimiter(_times(rate, times)) for _, times in IPV6_WIDTHS}
