"""Hashes that get no CPU at idle priority are rescued by a thread of normal priority."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Iterator

import pytest

from gatehouse.auth.passwords.hash_pool import HashPool
from gatehouse.auth.passwords.hashing import hash_password


@pytest.fixture
def starved() -> Iterator[HashPool]:
    """A pool whose only thread does not get to its jobs, as on a machine whose cores are all busy."""
    pool = HashPool(threads=1, queue=8)
    release = threading.Event()
    pool._pool.submit(release.wait, 30)
    yield pool
    release.set()
    pool.close()


async def test_a_starved_hash_is_finished_all_the_same(starved: HashPool) -> None:
    stored = hash_password("right")
    async with asyncio.timeout(20):
        right, wrong = await asyncio.gather(starved.check(stored, "right"), starved.check(stored, "wrong"))
    assert (right.correct, wrong.correct) == (True, False)
    assert starved.pending == 0


async def test_codes_without_a_picture_are_hashed_one_at_a_time() -> None:
    """So who has solved a captcha waits for one of them at most, however many there are."""
    pool = HashPool(threads=1, queue=8)
    stored = hash_password("right")
    ends: list[str] = []

    async def end(who: str, check: Awaitable[object]) -> None:
        await check
        ends.append(who)

    codes = [end("code", pool.check_with_code(stored, "right")) for _ in range(5)]
    await asyncio.gather(*codes, end("solved", pool.check(stored, "right")))
    assert ends.index("solved") <= 1
    pool.close()


async def test_a_fault_in_a_rescued_hash_reaches_its_caller(starved: HashPool) -> None:
    with pytest.raises(AttributeError):
        await starved.check(None, "x")  # type: ignore[arg-type]


async def test_what_was_rescued_is_not_hashed_again() -> None:
    pool = HashPool(threads=1, queue=8)
    release = threading.Event()
    pool._pool.submit(release.wait, 30)
    calls: list[str] = []

    def work(value: str) -> str:
        calls.append(value)
        return value

    assert await pool._run(work, "a") == "a"
    release.set()
    assert await pool._run(work, "b") == "b"
    assert calls == ["a", "b"]
    pool.close()
