"""The lane: one at a time, others in between, nobody lost."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest

from gatehouse.api.http.fair_lock import FairLock
from gatehouse.auth.refusals import TooBusy
from tests.support.waiting import PATIENCE


async def test_between_two_the_loop_serves_others() -> None:
    lane, happened = FairLock(10), list[str]()

    async def draw() -> None:
        async with lane:
            happened.append("draw")

    async def glance() -> None:
        for _ in range(20):
            happened.append("glance")
            await asyncio.sleep(0)

    await asyncio.gather(*(draw() for _ in range(5)), glance())
    assert happened.count("draw") == 5
    assert ("draw", "draw") not in pairwise(happened)


async def test_who_comes_when_it_is_full_is_told_so() -> None:
    lane = FairLock(2)

    async def stay() -> None:
        async with lane:
            await asyncio.sleep(0.01)

    done = await asyncio.gather(*(stay() for _ in range(5)), return_exceptions=True)
    assert [type(each) for each in done] == [type(None)] * 3 + [TooBusy] * 2


@pytest.mark.parametrize("when", ["waiting", "called"])
async def test_those_who_leave_do_not_block_it(when: str) -> None:
    lane, through = FairLock(10), list[int]()

    async def go(number: int) -> None:
        async with lane:
            through.append(number)
            await asyncio.sleep(0)

    async with asyncio.timeout(PATIENCE):
        async with lane:
            tasks = [asyncio.create_task(go(number)) for number in range(3)]
            await asyncio.sleep(0)
            if when == "waiting":
                tasks[0].cancel()
                await asyncio.sleep(0)
        if when == "called":
            tasks[0].cancel()  # its turn has come, and it does not know yet
        await asyncio.gather(*tasks, return_exceptions=True)
        assert through == [1, 2]
        async with lane:
            pass
