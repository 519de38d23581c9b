"""Writes audit events to the accounts database: from a bounded queue, in batches, by a task of its own.

When the queue is full (the database is unavailable for long) an event is kept as a log line only, and counted as lost.
An event that the database refuses for its values is lost too, and no other with it. A stop writes what is queued.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from gatehouse.common import logs
from gatehouse.stores.errors import StoreUnavailable, UnstorableValue

if TYPE_CHECKING:
    from gatehouse.stores.database.audit_trail import AuditEntry, AuditTrail

QUEUE_LIMIT = 20_000
BATCH = 2_000
RETRY_SECONDS = 1.0
# A write for each event would cost more than the requests; a kill loses no more of the trail than this.
BATCH_WAIT_SECONDS = 0.25

log = logs.named("gatehouse.audit")


class AuditWriter:
    def __init__(self, trail: AuditTrail) -> None:
        self._trail = trail
        self.queue: list[AuditEntry] = []
        self.lost = 0
        self._wake = asyncio.Event()
        self._full = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._stopping = False

    def add(self, entry: AuditEntry) -> None:
        if len(self.queue) >= QUEUE_LIMIT:
            self.lost += 1
            return
        self.queue.append(entry)
        self._wake.set()
        if len(self.queue) >= BATCH:
            self._full.set()

    def start(self) -> None:
        self._task = asyncio.create_task(self._write_forever())

    async def stop(self) -> None:
        """Write what is queued and stop; if the database is unavailable, the log lines are all that remains."""
        self._stopping = True
        self._wake.set()
        self._full.set()
        if self._task:
            await self._task
        else:
            await self._write_forever()

    async def _write_forever(self) -> None:
        while self.queue or not self._stopping:
            await self._wake.wait()
            self._wake.clear()
            await self._wait_for_batch()
            try:
                await self._flush()
            except StoreUnavailable as problem:
                log.warning("audit events wait for the database", queued=len(self.queue), problem=str(problem))
                if self._stopping:
                    return
                await asyncio.sleep(RETRY_SECONDS)
                self._wake.set()

    async def _wait_for_batch(self) -> None:
        """Let a batch come together, unless it is there already or the service stops."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._full.wait(), 0 if self._stopping else BATCH_WAIT_SECONDS)

    async def _flush(self) -> None:
        """Write one batch. Events that arrive in the meantime are collected for the next."""
        left = min(len(self.queue), BATCH)
        while left:
            left -= await self._write(left)
        if self.queue:
            self._wake.set()
        if len(self.queue) < BATCH:
            self._full.clear()

    async def _write(self, limit: int) -> int:
        """Write up to `limit` events from the head of the queue, and return how many were removed from it.

        A batch that is refused is halved until the refused event is alone, so that the others are written.
        """
        size = limit
        while size:
            batch = self.queue[:size]
            try:
                await self._trail.append(batch)
                break
            except UnstorableValue as problem:
                if size == 1:
                    self.lost += 1
                    log.warning("the database refuses an audit event", problem=str(problem), entry=repr(batch[0]))
                    break
                size //= 2
        del self.queue[:size]
        return size
