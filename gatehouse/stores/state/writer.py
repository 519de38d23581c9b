"""One thread that writes to an SQLite file, committing whatever queued up in one transaction (group commit).

A caller hands in a function of the connection and awaits its result, which arrives after the commit: what was
answered survives a kill. While one commit waits for the disk the next batch gathers, so the cost of a sync is
shared by all who wait, and the event loop never waits for a lock or a disk.
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

# Beyond this many waiting writes the disk is not keeping up: refuse, rather than answer minutes late.
QUEUE_LIMIT = 10_000
BATCH_LIMIT = 512


class _Job(NamedTuple):
    work: Callable[[apsw.Connection], Any]
    future: asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop


class Writer:
    def __init__(self, connect: Callable[[], apsw.Connection]) -> None:
        self._connect = connect
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self.written = 0
        self.commits = 0
        self._thread = threading.Thread(target=self._run, name="state-writer", daemon=True)
        self._thread.start()

    def write(self, work: Callable[[apsw.Connection], T]) -> asyncio.Future[T]:
        if self._jobs.qsize() >= QUEUE_LIMIT:
            raise StoreUnavailable("too many writes are waiting")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._jobs.put(_Job(work, future, loop))
        return future

    def close(self) -> None:
        """Finish what is queued and stop."""
        self._jobs.put(None)
        self._thread.join(timeout=10)

    def _run(self) -> None:
        connection = self._connect()
        open_for_work = True
        while open_for_work:
            batch = [self._jobs.get()]
            while len(batch) < BATCH_LIMIT:
                try:
                    batch.append(self._jobs.get_nowait())
                except queue.Empty:
                    break
            jobs = [job for job in batch if job is not None]
            open_for_work = len(jobs) == len(batch)
            if jobs:
                self.written += len(jobs)
                self.commits += 1
                _deliver(jobs, _commit(connection, jobs))
        connection.close()


def _commit(connection: apsw.Connection, jobs: list[_Job]) -> list[Any] | Exception:
    try:
        connection.execute("BEGIN IMMEDIATE")
        try:
            results = [job.work(connection) for job in jobs]
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
    except apsw.Error as problem:
        return StoreUnavailable(f"state file: {problem}")
    except Exception as problem:  # noqa: BLE001 - a fault in one job must reach its caller, not end the thread
        return problem
    return results


def _deliver(jobs: list[_Job], results: list[Any] | Exception) -> None:
    """Wake the callers: one call into each event loop, whatever the size of the batch."""
    by_loop: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[Any], Any]]] = {}
    for index, job in enumerate(jobs):
        result = results if isinstance(results, Exception) else results[index]
        by_loop.setdefault(job.loop, []).append((job.future, result))
    for loop, settled in by_loop.items():
        try:
            loop.call_soon_threadsafe(_settle, settled)
        except RuntimeError:
            continue  # that loop has been closed: nobody waits there any more


def _settle(settled: list[tuple[asyncio.Future[Any], Any]]) -> None:
    for future, result in settled:
        if future.done():
            continue  # the caller went away; its write stands
        if isinstance(result, Exception):
            future.set_exception(result)
        else:
            future.set_result(result)
