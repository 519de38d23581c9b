"""What a time limit for many waits does when one of them takes too long."""

from __future__ import annotations

import asyncio

import pytest

from gatehouse.api.http import body_timeout
from gatehouse.api.http.body_timeout import BodyTimeout


@pytest.fixture(autouse=True)
def _looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body_timeout, "CHECK_SECONDS", 0.01)


async def test_a_wait_that_takes_too_long_ends_and_the_task_goes_on() -> None:
    limit = BodyTimeout(0.05)
    with pytest.raises(TimeoutError), limit:
        await asyncio.sleep(10)
    await asyncio.sleep(0)  # would raise if the cancellation were still under way
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_who_is_done_in_time_is_left_alone() -> None:
    limit = BodyTimeout(0.05)
    for _ in range(3):
        with limit:
            await asyncio.sleep(0.02)
    await asyncio.sleep(0.1)


async def test_each_waits_for_its_own_time() -> None:
    limit = BodyTimeout(0.1)

    async def wait(before: float, during: float) -> str:
        await asyncio.sleep(before)
        try:
            with limit:
                await asyncio.sleep(during)
        except TimeoutError:
            return "late"
        return "in time"

    results = await asyncio.gather(wait(0, 10), wait(0, 0.01), wait(0.06, 10), wait(0.06, 0.05), wait(0.2, 10))
    assert results == ["late", "in time", "late", "in time", "late"]


async def test_a_task_that_somebody_else_cancels_ends_as_cancelled() -> None:
    limit = BodyTimeout(5)
    reached = asyncio.Event()

    async def wait() -> None:
        with limit:
            reached.set()
            await asyncio.sleep(10)

    task = asyncio.create_task(wait())
    await reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_an_error_in_the_wait_comes_through() -> None:
    with pytest.raises(KeyError), BodyTimeout(5):
        raise KeyError
