"""The writer thread of an SQLite file: everything in the queue is one transaction (group commit).

A caller passes a function of the connection and awaits its result, which arrives after the commit: what was answered
survives a kill. Writes of one iteration of the event loop are handed over together, and the next batch is collected
while one commit waits for the disk. So all waiting callers share the cost of waking the thread and of the sync, and the
event loop never waits for a lock or a disk.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import apsw

from gatehouse.stores.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

# With this many writes waiting, further ones are refused: the disk does not keep up.
QUEUE_LIMIT = 10_000
# Of a batch, so that no transaction holds up other workers for long; two may be taken together.
BATCH_LIMIT = 512
CLOSE_SECONDS = 10.0


class _Job(NamedTuple):
    work: Callable[[apsw.Connection], Any]
    future: asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop


class Writer:
    def __init__(self, connect: Callable[[], apsw.Connection]) -> None:
        self._connect = connect
        self._batches: queue.SimpleQueue[list[_Job] | None] = queue.SimpleQueue()
        self._pending: list[_Job] = []
        self._submitted = 0
        self.written = 0
        self.commits = 0
        self._thread = threading.Thread(target=self._run, name="state-writer", daemon=True)
        self._thread.start()

    def write(self, work: Callable[[apsw.Connection], T]) -> asyncio.Future[T]:
        if self._submitted - self.written >= QUEUE_LIMIT:
            raise StoreUnavailable("too many writes are waiting")
        self._submitted += 1
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        if not self._pending or self._pending[0].loop is not loop:
            loop.call_soon(self._hand_over)
        self._pending.append(_Job(work, future, loop))
        return future

    def _hand_over(self) -> None:
        """All that was asked in one iteration of the event loop: the thread is woken once for it."""
        jobs, self._pending = self._pending, []
        for start in range(0, len(jobs), BATCH_LIMIT):
            self._batches.put(jobs[start : start + BATCH_LIMIT])

    def close(self) -> bool:
        """Finish what is queued and stop. False if the disk takes too long over it; the thread ends by itself then."""
        self._hand_over()
        self._batches.put(None)
        self._thread.join(CLOSE_SECONDS)
        return not self._thread.is_alive()

    def _run(self) -> None:
        connection = self._connect()
        while jobs := self._next():
            results = _commit(connection, jobs)
            self.written += len(jobs)
            self.commits += 1
            _deliver(jobs, results)
        connection.close()

    def _next(self) -> list[_Job]:
        """All queued jobs, waiting for at least one; empty when the writer closes."""
        jobs: list[_Job] = []
        while not jobs or (len(jobs) < BATCH_LIMIT and not self._batches.empty()):
            batch = self._batches.get()
            if batch is None:
                self._batches.put(None)  # for the next time, when what is here has been written
                return jobs
            jobs += batch
        return jobs


def _commit(connection: apsw.Connection, jobs: list[_Job]) -> list[Any] | Exception:
    try:
        connection.execute("BEGIN IMMEDIATE")
        try:
            results = [job.work(connection) for job in jobs]
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:  # a full disk has ended it already
                connection.execute("ROLLBACK")
            raise
    except apsw.Error as problem:
        return StoreUnavailable(f"state file: {problem}")
    except Exception as problem:  # noqa: BLE001 - a fault in one job must reach its caller, not end the thread
        return problem
    return results


def _deliver(jobs: list[_Job], results: list[Any] | Exception) -> None:
    """Wake the callers: one call into each event loop for the whole batch."""
    by_loop: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[Any], Any]]] = {}
    for index, job in enumerate(jobs):
        result = results if isinstance(results, Exception) else results[index]
        by_loop.setdefault(job.loop, []).append((job.future, result))
    for loop, settled in by_loop.items():
        try:
            loop.call_soon_threadsafe(_settle, settled)
        except RuntimeError:
            continue  # that loop is closed: no caller waits any more


def _settle(settled: list[tuple[asyncio.Future[Any], Any]]) -> None:
    for future, result in settled:
        if future.done():
            continue  # the caller was cancelled; its write is committed
        if isinstance(result, Exception):
            future.set_exception(result)
        else:
            future.set_result(result)
