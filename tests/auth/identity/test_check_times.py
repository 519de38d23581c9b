"""Names that no directory is asked about take as long as those that one is."""

from __future__ import annotations

import asyncio

from gatehouse.auth.identity.check_times import MAX_SECONDS, CheckTimes


async def test_an_answer_waits_for_as_long_as_a_real_check_took() -> None:
    times, loop = CheckTimes(), asyncio.get_running_loop()
    times.record(times.start() - 0.05)
    started = times.start()
    await times.level(started)
    assert loop.time() - started >= 0.049


async def test_a_check_that_took_as_long_itself_does_not_wait() -> None:
    times = CheckTimes()
    times.record(times.start() - MAX_SECONDS)
    await asyncio.wait_for(times.level(times.start() - MAX_SECONDS), 1)


async def test_one_check_that_took_very_long_does_not_hold_up_everybody() -> None:
    times = CheckTimes()
    times.record(times.start() - 1000)
    await asyncio.wait_for(times.level(times.start() - MAX_SECONDS), 1)
