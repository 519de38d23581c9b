"""Runs password hashes in threads, behind a bounded queue, without delaying other requests.

A hash takes tens of milliseconds on purpose. The threads run at idle priority, so that the event loop preempts them at
once: a login storm leaves users/me as fast as before. A full queue raises `TooBusy` before a login has cost anything.

At idle priority a hash may get no CPU at all while other processes keep every core busy. If no hash has finished for
`STARVED_SECONDS`, one more thread of normal priority works on the oldest of them, one hash every `CHECK_SECONDS` at
most, until the others make progress again.
"""

from __future__ import annotations

import asyncio
import math
import os
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from gatehouse.auth.passwords import malloc_tuning
from gatehouse.auth.passwords.hashing import PasswordCheck, hash_password, verify_password
from gatehouse.auth.refusals import TooBusy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")

# For threads on systems without an idle priority.
NICENESS = 19
RETRY_AFTER_SECONDS = 2
NAME_SHARE = 0.75  # of the slots in the queue, for one name
CODE_SHARE = 0.25  # for logins with a code in place of a captcha's answer: they have solved nothing
IDLE_SECONDS = 0.2  # without a hash: then their memory is released
STARVED_SECONDS = 0.3
CHECK_SECONDS = 0.1


@dataclass(slots=True, eq=False)
class _Job:
    work: Callable[..., Any]
    values: tuple[str, ...]
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]
    settled: bool = False


class HashPool:
    """At most `threads` hashes at once and `queue` waiting."""

    def __init__(self, threads: int, queue: int) -> None:
        self.slots = threads + queue
        self._pool = ThreadPoolExecutor(threads, "hash", initializer=_lower_priority)
        self._fallback_thread = ThreadPoolExecutor(1, "hash-fallback")
        self._fallback_busy = False
        self._jobs: dict[_Job, None] = {}  # oldest first
        self._progress = 0.0  # when the pool last finished a hash, or was empty
        self._progress_timer: asyncio.TimerHandle | None = None
        self._reserved = 0
        self._reserved_by: Counter[str] = Counter()
        self._reserved_with_code = 0
        self._code_turn = asyncio.Lock()
        self._idle_timer: asyncio.TimerHandle | None = None

    @property
    def pending(self) -> int:
        return len(self._jobs)

    async def check(self, stored: str, password: str) -> PasswordCheck:
        return await self._run(verify_password, stored, password)

    async def check_with_code(self, stored: str, password: str) -> PasswordCheck:
        """One at a time: nobody who solved a captcha waits for more than one that solved none."""
        async with self._code_turn:
            return await self.check(stored, password)

    async def hash(self, password: str) -> str:
        return await self._run(hash_password, password)

    def require_slot(self, name: str, *, with_code: bool = False) -> None:
        """Refuse if `reserve` would. For a caller who has cheaper checks to make before a slot is worth taking."""
        if (
            self._reserved >= self.slots
            or self._reserved_by[name] >= math.ceil(self.slots * NAME_SHARE)
            or (with_code and self._reserved_with_code >= math.ceil(self.slots * CODE_SHARE))
        ):
            raise TooBusy(RETRY_AFTER_SECONDS, "all slots of the hash queue are taken")

    @contextmanager
    def reserve(self, name: str, *, with_code: bool = False) -> Iterator[None]:
        """A slot in the queue, taken before the costly work: without it that would be wasted.

        One name, whether it exists or not, gets only a share of the slots, so that some are left for the others; and so
        do all logins with a code in place of a captcha's answer.
        """
        self.require_slot(name, with_code=with_code)
        self._reserved += 1
        self._reserved_with_code += with_code
        self._reserved_by[name] += 1
        try:
            yield
        finally:
            self._reserved -= 1
            self._reserved_with_code -= with_code
            self._reserved_by[name] -= 1
            if not self._reserved_by[name]:
                del self._reserved_by[name]

    async def _run(self, work: Callable[..., T], *values: str) -> T:
        if len(self._jobs) >= self.slots:
            raise TooBusy(RETRY_AFTER_SECONDS, "the hash queue is full")
        loop = asyncio.get_running_loop()
        job = _Job(work, values, loop, loop.create_future())
        if not self._jobs:
            self._progress = loop.time()
        # Removed when the work is done, not when the caller goes away: an abandoned hash still costs.
        self._jobs[job] = None
        self._pool.submit(self._perform, job, fallback=False)
        if self._progress_timer is None:
            self._progress_timer = loop.call_later(CHECK_SECONDS, self._check_progress, loop)
        result: T = await job.future
        return result

    def _perform(self, job: _Job, *, fallback: bool) -> None:
        """Runs in a thread."""
        outcome: object = None
        if not job.settled:  # the fallback thread may have been faster
            try:
                outcome = job.work(*job.values)
            except Exception as problem:  # noqa: BLE001 - it belongs to the caller, not to this thread
                outcome = problem
        with suppress(RuntimeError):  # the loop is closed: no caller waits any more
            job.loop.call_soon_threadsafe(self._settle, job, outcome, fallback)

    def _settle(self, job: _Job, outcome: object, fallback: bool) -> None:  # noqa: FBT001 - called by the event loop
        loop = job.loop
        if fallback:
            self._fallback_busy = False
        else:
            self._progress = loop.time()
        if job.settled:
            return
        job.settled = True
        del self._jobs[job]
        if not job.future.done():
            if isinstance(outcome, Exception):
                job.future.set_exception(outcome)
            else:
                job.future.set_result(outcome)
        if self._idle_timer is not None:
            self._idle_timer.cancel()
        self._idle_timer = loop.call_later(IDLE_SECONDS, self._release_memory)

    def _check_progress(self, loop: asyncio.AbstractEventLoop) -> None:
        self._progress_timer = None
        if not self._jobs:
            return
        if not self._fallback_busy and loop.time() - self._progress >= STARVED_SECONDS:
            self._fallback_busy = True
            self._fallback_thread.submit(self._perform, next(iter(self._jobs)), fallback=True)
        self._progress_timer = loop.call_later(CHECK_SECONDS, self._check_progress, loop)

    def _release_memory(self) -> None:
        if not self._jobs:
            self._pool.submit(malloc_tuning.release_free_memory)

    def close(self) -> None:
        for timer in (self._idle_timer, self._progress_timer):
            if timer is not None:
                timer.cancel()
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._fallback_thread.shutdown(wait=False, cancel_futures=True)


def _lower_priority() -> None:
    """Run only when a core is idle, and be preempted at once.

    A thread of high niceness is not interrupted before its slice ends, and the event loop waits for those 4 ms.
    """
    with suppress(OSError, AttributeError):
        os.sched_setscheduler(threading.get_native_id(), os.SCHED_IDLE, os.sched_param(0))
        return
    with suppress(OSError, AttributeError):  # not permitted, or not Linux
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
