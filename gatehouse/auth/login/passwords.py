"""Password hashes: Argon2id for every new one, bcrypt read for users who were brought along.

Hashing takes tens of milliseconds on purpose. It runs in a few threads beside the event loop that make way for it,
behind a queue of bounded length: when logins storm, the rest of the service stays quick, and who cannot be served
in reasonable time is told so at once.
"""

from __future__ import annotations

import asyncio
import math
import os
import re
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import argon2
import bcrypt

from gatehouse.auth.login import malloc
from gatehouse.auth.refusals import TooBusy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")

MEMORY_KIB = 19 * 1024
PASSES = 2
LANES = 1
# Where a thread cannot be told to run only when nothing else wants to.
NICENESS = 19
RETRY_SECONDS = 2
NAME_SHARE = 0.75  # of the places in the queue, for one name
REST_SECONDS = 0.2  # without a hash, and their memory is given back

# Of hashes from elsewhere: about a second of one core each, and what a worker can spare of memory.
BCRYPT_COST_MAX = 14
ARGON2_KIB_MAX = 128 * 1024
ARGON2_KIB_PASSES_MAX = 512 * 1024

_BCRYPT_FORM = re.compile(r"\$2[abxy]\$(0[4-9]|[12]\d|3[01])\$[./A-Za-z0-9]{53}")
_BCRYPT = ("$2a$", "$2b$", "$2x$", "$2y$")
_hasher = argon2.PasswordHasher(time_cost=PASSES, memory_cost=MEMORY_KIB, parallelism=LANES)


class Verdict(NamedTuple):
    right: bool
    outdated: bool  # the hash should be replaced by one of today's scheme


def hash_password(password: str) -> str:
    return _hasher.hash(_encoded(password))


def check_password(stored: str, password: str) -> Verdict:
    if stored.startswith(_BCRYPT):
        return Verdict(_check_bcrypt(stored, password), outdated=True)
    try:
        _hasher.verify(stored, _encoded(password))
    except (argon2.exceptions.VerificationError, argon2.exceptions.InvalidHashError):
        return Verdict(right=False, outdated=False)
    return Verdict(right=True, outdated=_hasher.check_needs_rehash(stored))


def is_readable(stored: str) -> bool:
    """Whether `check_password` can make sense of a hash from elsewhere."""
    if stored.startswith(_BCRYPT):
        return _BCRYPT_FORM.fullmatch(stored) is not None
    with suppress(argon2.exceptions.InvalidHashError):
        return stored.startswith("$argon2id$") and bool(argon2.extract_parameters(stored))
    return False


def is_affordable(stored: str) -> bool:
    """Whether a readable hash costs no more than a login may: whoever makes a file chooses the cost of checking it."""
    if stored.startswith(_BCRYPT):
        return int(stored[4:6]) <= BCRYPT_COST_MAX
    cost = argon2.extract_parameters(stored)
    return cost.memory_cost <= ARGON2_KIB_MAX and cost.memory_cost * cost.time_cost <= ARGON2_KIB_PASSES_MAX


def _check_bcrypt(stored: str, password: str) -> bool:
    # bcrypt itself reads 72 bytes and stops at a NUL. Those who made these hashes cut there; to verify what
    # they stored we must do the same, once: the first login replaces the hash by one of the whole password.
    try:
        return bcrypt.checkpw(_encoded(password)[:72], stored.encode())
    except ValueError:
        return False


def _encoded(password: str) -> bytes:
    return password.encode("utf-8", "surrogatepass")


class HashPool:
    """Runs hashes off the event loop, at most `threads` at once and `queue` waiting."""

    def __init__(self, threads: int, queue: int) -> None:
        self._threads = threads
        self._queue = queue
        self._pool = ThreadPoolExecutor(threads, "hash", initializer=_lower_priority)
        self.pending = 0
        self._reserved = 0
        self._reserved_by: Counter[str] = Counter()
        self._rest: asyncio.TimerHandle | None = None

    async def check(self, stored: str, password: str) -> Verdict:
        return await self._run(check_password, stored, password)

    async def hash(self, password: str) -> str:
        return await self._run(hash_password, password)

    @contextmanager
    def reserve(self, name: str) -> Iterator[None]:
        """A place in the queue, taken before anything else is done: without it all other work would be in vain.

        One name, whether it exists or not, gets only a share of the places, so that the others find some left.
        """
        places = self._threads + self._queue
        if self._reserved >= places or self._reserved_by[name] >= math.ceil(places * NAME_SHARE):
            raise TooBusy(RETRY_SECONDS, "all places before the hash queue are taken")
        self._reserved += 1
        self._reserved_by[name] += 1
        try:
            yield
        finally:
            self._reserved -= 1
            self._reserved_by[name] -= 1
            if not self._reserved_by[name]:
                del self._reserved_by[name]

    async def _run(self, work: Callable[..., T], *values: str) -> T:
        if self.pending >= self._threads + self._queue:
            raise TooBusy(RETRY_SECONDS, "the hash queue is full")
        self.pending += 1
        future = asyncio.get_running_loop().run_in_executor(self._pool, work, *values)
        # Counted down when the work is done, not when the caller goes away: an abandoned hash still costs.
        future.add_done_callback(self._done)
        return await future

    def _done(self, _future: object) -> None:
        self.pending -= 1
        if self._rest is not None:
            self._rest.cancel()
        self._rest = asyncio.get_running_loop().call_later(REST_SECONDS, self._give_back)

    def _give_back(self) -> None:
        if not self.pending:
            self._pool.submit(malloc.give_back)

    def close(self) -> None:
        if self._rest is not None:
            self._rest.cancel()
        self._pool.shutdown(wait=False, cancel_futures=True)


def _lower_priority() -> None:
    """Run when nobody else wants to, and make way at once when somebody does.

    Linux schedules each thread by its own policy. A thread that merely has a high niceness is not interrupted before
    its slice ends, and the event loop waits for those four milliseconds.
    """
    with suppress(OSError, AttributeError):
        os.sched_setscheduler(threading.get_native_id(), os.SCHED_IDLE, os.sched_param(0))
        return
    with suppress(OSError, AttributeError):  # not permitted, or not Linux: then without
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
