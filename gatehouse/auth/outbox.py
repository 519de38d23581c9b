"""Delivers what must happen after a commit: at once by whoever committed it, later by any node if that failed.

A delivery is written in the transaction of its cause (`stores/database/outbox.py`), so it is neither lost nor done for
a change that never happened. It happens at least once, so each kind must bear being repeated. Failures are retried
with growing pauses; after `GIVE_UP_SECONDS` it is an audit event and a finding of `gatehouse doctor`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.auth.audit import Audit, ClientInfo, Event
from gatehouse.common import logs
from gatehouse.stores.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from gatehouse.stores.database.outbox import Backlog, Delivery, OutboxStore

# For so long a delivery belongs to whoever has written or claimed it; then it is taken as abandoned.
LEASE_SECONDS = 30.0
MAX_PAUSE_SECONDS = 300.0
GIVE_UP_SECONDS = 3 * 86_400.0

log = logs.named("gatehouse.outbox")


class Outbox:
    def __init__(self, store: OutboxStore, audit: Audit, clock: Callable[[], float]) -> None:
        self._store = store
        self._audit = audit
        self._clock = clock
        self._kinds: dict[str, Callable[[Delivery], Awaitable[None]]] = {}

    def register(self, kind: str, deliver: Callable[[Delivery], Awaitable[None]]) -> None:
        """`deliver` raises `StoreUnavailable` if it is to be tried again."""
        self._kinds[kind] = deliver

    async def deliver_now(self, delivery: Delivery) -> None:
        """What the caller has just committed. If it fails, the caller fails, and any node delivers it later."""
        await self._kinds[delivery.kind](delivery)
        await self._store.remove(delivery.id)

    async def backlog(self) -> Backlog:
        return await self._store.backlog()

    async def deliver_due(self) -> None:
        now = self._clock()
        while (delivery := await self._store.claim(now, now + LEASE_SECONDS)) is not None:
            await self._retry(delivery)

    async def _retry(self, delivery: Delivery) -> None:
        deliver = self._kinds.get(delivery.kind)
        if deliver is None:
            return  # of a newer release: a node that knows it will deliver it
        try:
            await deliver(delivery)
        except StoreUnavailable as problem:
            await self._postpone(delivery, str(problem))
        else:
            await self._store.remove(delivery.id)
            log.info("delivered late", kind=delivery.kind, attempts=delivery.attempts)

    async def _postpone(self, delivery: Delivery, problem: str) -> None:
        now = self._clock()
        if now - delivery.created < GIVE_UP_SECONDS:
            await self._store.postpone(delivery.id, now + min(2.0**delivery.attempts, MAX_PAUSE_SECONDS))
            return
        await self._store.postpone(delivery.id, None)
        log.warning("delivery given up", kind=delivery.kind, problem=problem)
        detail = {"kind": delivery.kind, "attempts": delivery.attempts}
        self._audit.record(Event.DELIVERY_GIVEN_UP, ClientInfo(), detail=detail)
