"""Background tasks: work that a worker repeats for as long as it runs."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from gatehouse.common import logs
from gatehouse.stores.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

log = logs.named("gatehouse")


async def run_every(seconds: float, work: Callable[[], Awaitable[None]]) -> None:
    """Repeat `work`; when a store is unavailable, it is retried after the same pause."""
    while True:
        await asyncio.sleep(seconds)
        try:
            await work()
        except StoreUnavailable as problem:
            log.warning("store unavailable, background task will retry", problem=str(problem))
