"""Limits: how often one may try, by address, by name, and all together.

Addresses. An IPv4 address counts by itself. A provider hands one customer an IPv6 network of /64 to /48, so IPv6 counts
under all three widths; the wider ones hold several customers and are allowed more. The limit of all logins together is
charged only for what has passed a captcha: nobody uses it up for the others without solving one for each try.

Names. Failed logins are counted under (name, place). A place is an address from which this name has logged in
before, or else `elsewhere`, which all other addresses share. So guessing from a thousand addresses is guessing from
one, and whoever uses up `elsewhere` has not locked the owner out at home. After the free failures each further one
costs a longer wait, up to 15 minutes.

The count is taken when the verdict is known, and a verdict is only told while the name need not wait. So N guesses
at once count as N and reveal no more than N in a row would, and N correct logins at once all succeed.
"""

from __future__ import annotations

import ipaddress
from dataclasses import replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from gatehouse.auth.refusals import NameLocked, TooManyRequests
from gatehouse.bounded_cache import BoundedCache
from gatehouse.stores.accounts.users import name_key
from gatehouse.stores.state.protocol import BackoffPolicy, Failures, RateLimit, State
from gatehouse.stores.state.rules import gcra

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from gatehouse.parsing import Rate

LOCKOUT_STEPS = (30, 60, 120, 240, 480, 900)
# Lockout steps are kept for a day after the last wait; a known place for 30 days.
BACKOFF_KEPT_SECONDS = 86_400
KNOWN_PLACE_SECONDS = 30 * 86_400
# Widths under which an IPv6 address is counted, narrowest first, and how many times the rate each is allowed.
IPV6_WIDTHS = ((64, 1), (56, 4), (48, 16))
# Addresses whose captcha allowance one worker keeps track of.
MAX_BUCKETS = 50_000

ELSEWHERE = "elsewhere"


class Limits(NamedTuple):
    login_address: Rate
    login_name: Rate
    login_total: Rate
    captcha_address: Rate
    refresh_address: Rate
    password_user: Rate


def address_bucket(address: str) -> str:
    """The narrowest unit that is counted: an IPv4 address, an IPv6 /64; all without an address share one."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return "unknown"
    if parsed.version == 4:
        return address
    return str(parsed.ipv4_mapped or ipaddress.IPv6Network((parsed, 64), strict=False).network_address)


@lru_cache(maxsize=4096)  # twenty microseconds each; addresses are short
def address_buckets(address: str) -> tuple[tuple[str, int], ...]:
    """Every unit an address counts under, and how many times the rate each is allowed."""
    narrowest = address_bucket(address)
    if ":" not in narrowest:
        return ((narrowest, 1),)
    wider = [(str(ipaddress.IPv6Network((narrowest, width), strict=False)), times) for width, times in IPV6_WIDTHS[1:]]
    return ((narrowest, 1), *wider)


class Lockout(NamedTuple):
    """A locked name, and the place it is locked for."""

    name: str
    place: str
    failures: int
    until: float


class Throttle:
    def __init__(self, state: State, clock: Callable[[], float], limits: Limits) -> None:
        self._state = state
        self._clock = clock
        self._limits = limits
        name = limits.login_name
        self._waits = BackoffPolicy(name.count, name.seconds, LOCKOUT_STEPS, BACKOFF_KEPT_SECONDS)
        self._captchas = {times: _LocalRateLimiter(_times(limits.captcha_address, times)) for _, times in IPV6_WIDTHS}

    def admit_captcha(self, address: str) -> None:
        """Counted in this process alone: a flood of captchas must not become a flood of writes."""
        for bucket, times in address_buckets(address):
            wait = self._captchas[times].rate_limit(bucket, self._clock())
            if wait:
                raise TooManyRequests(wait, "captchas from this address")

    async def admit_login(self, address: str) -> None:
        await self._consume_by_address("login", address, self._limits.login_address)

    async def admit_all_logins(self, *, solved: bool) -> None:
        """The limit of all logins together.

        Those with a code in place of the captcha's answer have solved nothing, so they have an allowance of their own:
        whoever uses that up keeps nobody from logging in who solves a captcha.
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

    async def key_for(self, username: str, address: str) -> str:
        """Under which (name, place) a login from here is counted."""
        name, place = name_key(username), address_bucket(address)
        known = await self._state.has_mark(_place_mark(name, place), self._clock())
        return _key(name, place if known else ELSEWHERE)

    async def raise_if_locked(self, key: str) -> None:
        now = self._clock()
        failures = await self._state.failures(key)
        if failures is not None and failures.until > now:
            raise NameLocked(failures.until - now, "this name is locked")

    async def failed(self, key: str) -> Failures:
        """Count a failure. If the name is locked by now, it is not counted and `NameLocked` is raised."""
        failures = await self._state.record_failure(key, self._waits, self._clock())
        if failures is None:
            await self.raise_if_locked(key)
            raise NameLocked(1, "this name is locked")
        return failures

    async def succeeded(self, key: str, username: str, address: str) -> None:
        """Clear the failures, and record the place as known."""
        await self._state.clear_failures(key)
        mark = _place_mark(name_key(username), address_bucket(address))
        # Renewed at half its life, so that everyday logins write nothing.
        now = self._clock()
        if not await self._state.has_mark(mark, now + KNOWN_PLACE_SECONDS / 2):
            await self._state.set_mark(mark, now + KNOWN_PLACE_SECONDS, now)

    async def lockouts(self) -> list[Lockout]:
        """Locked names, the longest wait first."""
        found = await self._state.locked(self._clock())
        return [Lockout(*_parts(each.key), each.failures, each.until) for each in found]

    async def lift(self, username: str, addresses: Iterable[str] = ()) -> int:
        """Clear the failures of a name: wherever it is locked, elsewhere, and at these addresses."""
        name = name_key(username)
        keys = {each.key for each in await self._state.locked(self._clock()) if _parts(each.key)[0] == name}
        keys |= {_key(name, ELSEWHERE), *(_key(name, address_bucket(address)) for address in addresses)}
        return sum([await self._state.clear_failures(key) for key in keys])


class Unlimited(Throttle):
    """What `LIMITS=off` puts in its place."""

    def admit_captcha(self, address: str) -> None: ...

    async def admit_login(self, address: str) -> None: ...

    async def admit_all_logins(self, *, solved: bool) -> None: ...

    async def admit_refresh(self, address: str) -> None: ...

    def refresh_limits(self, address: str) -> Sequence[RateLimit]:  # noqa: ARG002 - nothing is counted
        return ()

    async def admit_password_change(self, user: int) -> None: ...

    async def key_for(self, username: str, address: str) -> str:  # noqa: ARG002 - everybody shares one key
        return ""

    async def raise_if_locked(self, key: str) -> None: ...

    async def failed(self, key: str) -> Failures:
        return Failures(key, 0, 0.0, 0, 0.0)

    async def succeeded(self, key: str, username: str, address: str) -> None: ...


@cache  # as many as there are settings
def _times(rate: Rate, times: int) -> Rate:
    return replace(rate, count=rate.count * times)


def _key(name: str, place: str) -> str:
    return f"{name}|{place}"


def _parts(key: str) -> tuple[str, str]:
    """Name and place of a key; a name may hold a bar, a place does not."""
    name, _, place = key.rpartition("|")
    return name, place


def _place_mark(name: str, place: str) -> str:
    return f"place|{name}|{place}"


class _LocalRateLimiter:
    """Rates counted in this process alone; when it is full, the address seen longest ago is evicted."""

    def __init__(self, rate: Rate) -> None:
        self._rate = rate
        self._arrivals: BoundedCache[str, float] = BoundedCache(MAX_BUCKETS)

    def rate_limit(self, key: str, now: float) -> float:
        wait, self._arrivals[key] = gcra(self._arrivals.get(key), self._rate, now)
        return wait
