"""Rate limits: how often one may try, by address, by user, and all logins together.

The limit of all logins together is charged only for logins that have solved a captcha: to use it up, an
attacker must solve one for each try. Failed logins of one name are counted in `lockout.py`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from gatehouse.auth.limits.addresses import IPV6_WIDTHS, address_buckets
from gatehouse.auth.limits.lockout import LoginLockout, NoLockout
from gatehouse.auth.refusals import TooManyRequests
from gatehouse.bounded_cache import BoundedCache
from gatehouse.stores.state.limit_rules import gcra
from gatehouse.stores.state.protocol import RateLimit, State

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gatehouse.parsing import Rate

# Addresses whose captcha allowance one worker keeps track of.
MAX_BUCKETS = 50_000


class Limits(NamedTuple):
    login_address: Rate
    login_name: Rate
    login_total: Rate
    captcha_address: Rate
    refresh_address: Rate
    password_user: Rate


class Throttle:
    def __init__(self, state: State, clock: Callable[[], float], limits: Limits) -> None:
        self._state = state
        self._clock = clock
        self._limits = limits
        self.lockout = LoginLockout(state, clock, limits.login_name)
        self._captchas = {times: _LocalRateLimiter(_times(limits.captcha_address, times)) for _, times in IPV6_WIDTHS}

    def admit_captcha(self, address: str) -> None:
        """Counted in this process alone: a flood of captchas must not become a flood of writes."""
        for bucket, times in address_buckets(address):
            wait = self._captchas[times].rate_limit(bucket, self._clock())
            if wait:
                raise TooManyRequests(wait, "captchas from this address")

    async def admit_login(self, address: str) -> None:
        await self._consume_by_address("login", address, self._limits.login_address)

    async def admit_to_login_total(self, *, solved: bool) -> None:
        """The limit of all logins together.

        Logins with a code in place of the captcha's answer have solved nothing, so they have their own limit: using
        it up does not affect logins that solve a captcha.
        """
        await self._consume("login" if solved else "login|code", self._limits.login_total, "logins in all")

    async def admit_refresh(self, address: str) -> None:
        await self._consume_by_address("refresh", address, self._limits.refresh_address)

    def refresh_limits(self, address: str) -> Sequence[RateLimit]:
        """What `admit_refresh` counts, for the store to count together with the rotation."""
        return self._by_address("refresh", address, self._limits.refresh_address)

    async def admit_password_change(self, user: int) -> None:
        await self._consume(f"password|{user}", self._limits.password_user, "password changes of this user")

    async def _consume_by_address(self, what: str, address: str, rate: Rate) -> None:
        # One after the other: what a narrow network is refused must not count against its neighbours.
        for key, allowed in self._by_address(what, address, rate):
            await self._consume(key, allowed, f"{what} from this address")

    def _by_address(self, what: str, address: str, rate: Rate) -> Sequence[RateLimit]:
        return [RateLimit(f"{what}|{bucket}", _times(rate, times)) for bucket, times in address_buckets(address)]

    async def _consume(self, key: str, rate: Rate, what: str) -> None:
        wait = await self._state.rate_limit(key, rate, self._clock())
        if wait:
            raise TooManyRequests(wait, what)


class NoLimits(Throttle):
    """For `LIMITS=off`."""

    def __init__(self, state: State, clock: Callable[[], float], limits: Limits) -> None:
        super().__init__(state, clock, limits)
        self.lockout = NoLockout(state, clock, limits.login_name)

    def admit_captcha(self, address: str) -> None: ...

    async def admit_login(self, address: str) -> None: ...

    async def admit_to_login_total(self, *, solved: bool) -> None: ...

    async def admit_refresh(self, address: str) -> None: ...

    def refresh_limits(self, address: str) -> Sequence[RateLimit]:  # noqa: ARG002 - nothing is counted
        return ()

    async def admit_password_change(self, user: int) -> None: ...


@cache  # as many as there are settings
def _times(rate: Rate, times: int) -> Rate:
    return replace(rate, count=rate.count * times)


class _LocalRateLimiter:
    """Rates counted in this process alone; when it is full, the address seen longest ago is evicted."""

    def __init__(self, rate: Rate) -> None:
        self._rate = rate
        self._arrivals: BoundedCache[str, float] = BoundedCache(MAX_BUCKETS)

    def rate_limit(self, key: str, now: float) -> float:
        wait, self._arrivals[key] = gcra(self._arrivals.get(key), self._rate, now)
        return wait
