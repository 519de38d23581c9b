"""The longest life of access tokens that may still be valid: as long a follower of the feed keeps an ended session.

A token lives as long as GATEHOUSE_ACCESS_TTL said when it was issued. A lower setting, after a restart or on another
node, does not shorten it. So each life in force is stored in the state with the time when its last token has expired,
and every node renews its own. Where nothing is stored, as after an upgrade or when the state was lost, earlier lives
are unknown, and so are the sessions that had ended before: the longest that the setting allows is assumed until tokens
of that life have expired, and a new follower is told from when on ends are known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from gatehouse.common.clock_skew import CLOCK_SKEW_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.stores.state.protocol import State

# The most that GATEHOUSE_ACCESS_TTL allows.
MAX_ACCESS_TTL = 86_400
# A node stores its life for two of these ahead and renews it when one is left, so it writes once a day.
RENEWAL_SECONDS = 86_400

_KEY = "lives of access tokens"


class StoredLives(msgspec.Struct):
    """`until` says by life when its last token has expired; `since` when this state began."""

    since: float
    until: dict[int, float]


class LongestTokenLife:
    """`seconds` is right within the interval of `update`, which is shorter than the clock skew that readers add."""

    def __init__(self, state: State, clock: Callable[[], float], access_ttl: int) -> None:
        self._state = state
        self._clock = clock
        self._access_ttl = access_ttl
        self.seconds = MAX_ACCESS_TTL
        self._since = clock()

    def unknown_before(self) -> float | None:
        """Sessions that ended before this time may be in no log, and tokens of them may still be valid."""
        is_young = self._clock() < self._since + MAX_ACCESS_TTL + CLOCK_SKEW_SECONDS
        return float(int(self._since)) if is_young else None  # tokens count whole seconds

    async def update(self) -> None:
        """Store the life of this node's tokens, and learn those of the others."""
        while not await self._try_update():
            pass  # another node has stored its own in between

    async def _try_update(self) -> bool:
        now = self._clock()
        stored = await self._state.value(_KEY, now)
        if stored is None:
            since, lives = now, {MAX_ACCESS_TTL: now + MAX_ACCESS_TTL + CLOCK_SKEW_SECONDS}
        else:
            known = msgspec.json.decode(stored, type=StoredLives)
            since, lives = known.since, {life: until for life, until in known.until.items() if until > now}
        expires = now + self._access_ttl + CLOCK_SKEW_SECONDS
        renewal_due = lives.get(self._access_ttl, 0.0) < expires + RENEWAL_SECONDS
        if renewal_due:
            lives[self._access_ttl] = max(expires + 2 * RENEWAL_SECONDS, lives.get(self._access_ttl, 0.0))
        self.seconds, self._since = max(lives), since
        if not renewal_due:
            return True
        text = msgspec.json.encode(StoredLives(since, lives)).decode()
        return await self._state.compare_and_set(_KEY, stored, text, max(lives.values()), now)
