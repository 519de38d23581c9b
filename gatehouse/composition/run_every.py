"""Background tasks: work that a worker repeats for as long as it runs."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from gatehouse.common.logs import log
from gatehouse.stores.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


async def run_every(seconds: float, work: Callable[[], Awaitable[None]]) -> None:
    """Repeat `work`; when a store fails, it is retried after the same pause."""
    while True:
        await asyncio.sleep(seconds)
        try:
            await work()
        except StoreError as problem:
            log.warning("store unavailable, background task will retry", problem=str(problem))
