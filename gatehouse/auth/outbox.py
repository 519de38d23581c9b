"""Delivers what must happen after a commit: at once by whoever committed it, later by any node if that failed.

A delivery is written in the transaction of its cause (`stores/database/outbox.py`), so it is neither lost nor done for
a change that never happened. It happens at least once, so each kind must bear being repeated: a node that is killed
between the delivery and its removal leaves it to another. Failures are retried with growing pauses; one that is
permanent, or has lasted for `GIVE_UP_SECONDS`, is an audit event and a finding of `gatehouse doctor`.

Several are under way at a time, a few for each recipient: one that does not answer holds up nobody else's.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from gatehouse.auth.audit import Audit, ClientInfo, Event
from gatehouse.common.logs import log
from gatehouse.stores.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from gatehouse.stores.database.outbox import Backlog, Delivery, OutboxStore, RecipientBacklog

# For so long a delivery belongs to whoever has written or claimed it; then it is taken as abandoned.
LEASE_SECONDS = 30.0
MAX_PAUSE_SECONDS = 300.0
RECIPIENT_MAX_PAUSE_SECONDS = 60.0
GIVE_UP_SECONDS = 3 * 86_400.0
# Under way at a time in one worker, and for one recipient among them.
MAX_RUNNING = 16
MAX_FOR_RECIPIENT = 4
POLL_SECONDS = 0.5
CLOSE_SECONDS = 8.0


class DeliveryFailed(Exception):
    """The recipient has not taken it. `permanent`: it would not take it another time either."""

    def __init__(self, problem: str, *, permanent: bool = False) -> None:
        super().__init__(problem)
        self.permanent = permanent


class Outbox:
    def __init__(self, store: OutboxStore, audit: Audit, clock: Callable[[], float], stopping: asyncio.Event) -> None:
        """Once `stopping` is set nothing more is begun: what is cut off half-way may happen twice."""
        self._store = store
        self._audit = audit
        self._clock = clock
        self._stopping = stopping
        self._kinds: dict[str, Callable[[Delivery], Awaitable[None]]] = {}
        self._running: dict[asyncio.Task[None], str | None] = {}  # and the recipient of each
        self._soon: asyncio.Task[None] | None = None

    def register(self, kind: str, deliver: Callable[[Delivery], Awaitable[None]]) -> None:
        """`deliver` raises `StoreUnavailable` if it is to be tried again, or `DeliveryFailed`."""
        self._kinds[kind] = deliver

    async def deliver_now(self, delivery: Delivery) -> None:
        """What the caller has just committed. If it fails, the caller fails, and any node delivers it later."""
        await self._kinds[delivery.kind](delivery)
        await self._store.remove(delivery)

    def deliver_soon(self) -> None:
        """What the caller has just committed and does not wait for."""
        if self._soon is None or self._soon.done():
            self._soon = asyncio.create_task(self._deliver_quietly())

    async def _deliver_quietly(self) -> None:
        with suppress(StoreUnavailable):  # the next round tries again
            await self.deliver_due()

    async def backlog(self) -> Backlog:
        return await self._store.backlog()

    async def recipients(self) -> Sequence[RecipientBacklog]:
        return await self._store.recipients()

    async def deliver_due(self) -> None:
        """Until nothing is due and nothing is under way."""
        while True:
            delivery = await self._claim()
            if delivery is not None:
                task = asyncio.create_task(self._attempt(delivery))
                self._running[task] = delivery.recipient
                task.add_done_callback(self._running.pop)
            elif self._running:
                await asyncio.wait(self._running, timeout=POLL_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            else:
                return

    async def close(self) -> None:
        """Let what is under way come to its end."""
        self._stopping.set()
        if self._soon is not None:
            self._soon.cancel()
        if self._running:
            await asyncio.wait(self._running, timeout=CLOSE_SECONDS)
        for task in self._running:
            task.cancel()

    async def _claim(self) -> Delivery | None:
        if len(self._running) >= MAX_RUNNING or self._stopping.is_set():
            return None
        now, recipients = self._clock(), list(self._running.values())
        busy = {name for name in recipients if name is not None and recipients.count(name) >= MAX_FOR_RECIPIENT}
        return await self._store.claim(now, now + LEASE_SECONDS, busy)

    async def _attempt(self, delivery: Delivery) -> None:
        deliver = self._kinds.get(delivery.kind)
        if deliver is None:
            return  # of a newer release: a node that knows it will deliver it
        try:
            await deliver(delivery)
        except (StoreUnavailable, DeliveryFailed) as problem:
            with suppress(StoreUnavailable):  # its lease ends, and then it is tried again
                await self._postpone(delivery, problem)
            return
        await self._remove(delivery)
        if delivery.attempts > 1 or delivery.recipient is None:
            log.info("delivered late", kind=delivery.kind, attempts=delivery.attempts)

    async def _remove(self, delivery: Delivery) -> None:
        """However long the database takes over it: what stays there is delivered again."""
        while True:
            try:
                return await self._store.remove(delivery)
            except StoreUnavailable:
                await asyncio.sleep(POLL_SECONDS)

    async def _postpone(self, delivery: Delivery, problem: Exception) -> None:
        now = self._clock()
        permanent = isinstance(problem, DeliveryFailed) and problem.permanent
        if not permanent and now - delivery.created < GIVE_UP_SECONDS:
            longest = MAX_PAUSE_SECONDS if delivery.recipient is None else RECIPIENT_MAX_PAUSE_SECONDS
            pause = min(2.0 ** min(delivery.attempts, 10), longest)
            await self._store.postpone(delivery, now + pause, str(problem))
            return
        await self._store.postpone(delivery, None, str(problem))
        log.warning("delivery given up", kind=delivery.kind, recipient=delivery.recipient, problem=str(problem))
        self._audit.record(Event.DELIVERY_GIVEN_UP, ClientInfo(), detail=_detail(delivery, problem))


def _detail(delivery: Delivery, problem: Exception) -> Mapping[str, object]:
    detail: dict[str, object] = {"kind": delivery.kind, "attempts": delivery.attempts}
    return detail if delivery.recipient is None else detail | {"recipient": delivery.recipient, "problem": str(problem)}
