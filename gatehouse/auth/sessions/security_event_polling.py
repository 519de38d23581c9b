"""Delivery of security event tokens to one recipient, who acknowledges what it has got (RFC 8936).

A service key is a recipient. Its position in the log is stored in the state and advances past what it has acknowledged,
in order; the rest is delivered again. A recipient that is new starts with the oldest entry that may still matter.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from gatehouse.auth.keys.jws import sign_jwt
from gatehouse.auth.sessions.ended_sessions_feed import PAGE_SIZE, wait_for
from gatehouse.auth.sessions.security_event_tokens import TYPE, event_claims, gap_claims

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from gatehouse.auth.keys.key_ring import KeyRing
    from gatehouse.auth.sessions.ended_sessions_feed import EndedSessionsFeed, FeedPage
    from gatehouse.stores.state.protocol import State

# How long the position of a recipient is kept after it last advanced. It then starts anew with the oldest entry that
# may still matter, which is later.
POSITION_TTL = 30 * 86_400


class Delivery(NamedTuple):
    """Tokens by their `jti`, oldest first."""

    tokens: dict[str, str]
    more_available: bool


class EventDelivery:
    def __init__(
        self,
        *,
        feed: EndedSessionsFeed,
        state: State,
        ring: KeyRing,
        clock: Callable[[], float],
        issuer: str,
        audience: str,
    ) -> None:
        self._feed = feed
        self._state = state
        self._ring = ring
        self._clock = clock
        self._issuer = issuer
        self._audience = audience

    async def poll(self, recipient: int, acknowledged: Collection[str], limit: int, wait: float) -> Delivery:
        """Advance past what is acknowledged; return what comes next, waiting for it if there is nothing yet."""
        key = f"ended sessions of service key {recipient}"
        before = await self._state.value(key, self._clock())
        position = await self._acknowledge(key, before, acknowledged)
        if limit == 0:
            return Delivery({}, more_available=bool((await self._feed.read(position, 1)).entries))
        self._feed.require_listener_slot()
        with self._feed.listening():
            return self._tokens(await self._next(position, limit + 1, wait), limit)

    async def _next(self, position: str | None, limit: int, wait: float) -> FeedPage:
        deadline = monotonic() + wait
        while True:
            change = self._feed.change
            page = await self._feed.read(position, limit)
            left = 0.0 if self._feed.stopping.is_set() else deadline - monotonic()
            if page.entries or page.missing_before is not None or left <= 0:
                return page
            await wait_for(change, left)

    async def _acknowledge(self, key: str, before: str | None, acknowledged: Collection[str]) -> str | None:
        """The position behind what has been acknowledged without a break."""
        if not acknowledged:
            return before
        page = await self._feed.read(before, PAGE_SIZE)
        feed_id, position = page.position.partition(":")[0], before
        if page.missing_before is not None and not page.entries and _gap_name(page) in acknowledged:
            position = page.position
        for entry in page.entries:
            if f"{feed_id}:{entry.position}" not in acknowledged:
                break
            position = f"{feed_id}:{entry.position}"
        if position is not None and position != before:
            now = self._clock()
            await self._state.compare_and_set(key, before, position, now + POSITION_TTL, now)
        return position

    def _tokens(self, page: FeedPage, limit: int) -> Delivery:
        signer, feed_id = self._ring.signer, page.position.partition(":")[0]
        tokens = {}
        if page.missing_before is not None:
            name = _gap_name(page)
            tokens[name] = sign_jwt(signer, TYPE, gap_claims(page.missing_before, name, self._issuer, self._audience))
        for entry in page.entries[: limit - len(tokens)]:
            name = f"{feed_id}:{entry.position}"
            tokens[name] = sign_jwt(signer, TYPE, event_claims(entry, name, self._issuer, self._audience))
        gap = page.missing_before is not None
        return Delivery(tokens, more_available=len(page.entries) > len(tokens) - gap)


def _gap_name(page: FeedPage) -> str:
    first = page.entries[0].position if page.entries else ""
    return f"gap:{page.position.partition(':')[0]}:{first}"
