"""Rate limits (GCRA) and the backoff after failures, as every engine applies them. Pure functions.

SQLite's engine calls them, and counts by one statement. That statement, the Lua scripts of Redis and
`postgres/functions.sql` have the same rules; a property test in `tests/stores/test_limits.py` compares them all. The
rules of a session are in `auth/sessions/sessions.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.stores.state.protocol import Failures

if TYPE_CHECKING:
    from gatehouse.common.parsing import Rate
    from gatehouse.stores.state.protocol import BackoffPolicy

# Sums of floats differ in the last digits; a wait shorter than this is none.
NO_WAIT_SECONDS = 1e-9


def gcra(arrival: float | None, rate: Rate, now: float) -> tuple[float, float]:
    """One event under a rate, by the generic cell rate algorithm.

    `arrival` is the one number kept for a key: when it would be idle again. Returns the seconds to wait, 0 if the
    event is within the rate, and the number to keep.
    """
    emission_interval = rate.seconds / rate.count
    arrival = now if arrival is None else max(arrival, now)
    wait = arrival + emission_interval - rate.seconds - now
    if wait > NO_WAIT_SECONDS:
        return wait, arrival
    return 0.0, arrival + emission_interval


def filled(arrival: float | None, seconds: float, ceiling: float, now: float) -> float:
    """The number to keep after `seconds` were added to a rate, or taken out: it runs ahead of `now` by the level."""
    arrival = now if arrival is None else max(arrival, now)
    return min(max(arrival + seconds, now), now + ceiling)


def next_failures(before: Failures | None, key: str, policy: BackoffPolicy, now: float) -> Failures | None:
    """The record after one more failure; None if the key is locked and the failure does not count.

    Failures are counted in a window that starts with the first. The one that reaches `policy.failure_limit` starts the
    first lockout; from then on every failure starts the next, until `policy.kept_seconds` seconds pass
    without one.
    """
    if before is None or now >= forgotten_at(before, policy):
        before = Failures(key, 0, now, 0, 0.0)
    if before.until > now:
        return None
    failures = before.failures + 1
    if before.level == 0 and failures < policy.failure_limit:
        return before._replace(failures=failures)
    seconds = policy.lockout_seconds[min(before.level, len(policy.lockout_seconds) - 1)]
    return before._replace(failures=failures, since=now, level=before.level + 1, until=now + seconds)


def forgotten_at(failures: Failures, policy: BackoffPolicy) -> float:
    """When the record expires."""
    if failures.level == 0:
        return failures.since + policy.window
    return failures.until + policy.kept_seconds
