"""Waiting for a store that was away."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from gatehouse.stores.errors import StoreUnavailable


async def eventually(work: Callable[[], Awaitable[object]], seconds: float = 60) -> None:
    """Ask until it answers, as the next requests would."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            await work()
        except StoreUnavailable:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.05)
        else:
            return
