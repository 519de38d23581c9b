"""Waiting for a store that was away, or that a slow machine has kept from answering in time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from gatehouse.stores.errors import StoreUnavailable
from tests.support.waiting import async_wait_until

T = TypeVar("T")


async def eventually(work: Callable[[], Awaitable[T]]) -> T:
    """Ask until it answers, as the next requests would."""

    async def answer() -> tuple[T] | None:
        try:
            return (await work(),)
        except StoreUnavailable:
            return None

    answered = await async_wait_until(answer, "an answer of the store")
    assert answered is not None
    return answered[0]
