"""The one place that knows how long a test waits for somebody else's work.

A test waits on a condition, never for a time: it goes on as soon as the condition holds, and PATIENCE only ends a
test that would otherwise hang. It is far longer than anything takes, so that a slow machine fails nothing.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")

PATIENCE = 120.0
_PAUSE = 0.02


def wait_until(condition: Callable[[], T], what: Callable[[], str] | str = "what the test waits for") -> T:
    """The first value of `condition` that is true. `what` says, at the failure, what did not happen."""
    deadline = time.monotonic() + PATIENCE
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {PATIENCE:.0f} s: {what() if callable(what) else what}")
        time.sleep(_PAUSE)
    return value


async def async_wait_until(
    condition: Callable[[], Awaitable[T]], what: Callable[[], str] | str = "what the test waits for"
) -> T:
    """The same in an event loop, which goes on meanwhile."""
    deadline = time.monotonic() + PATIENCE
    while not (value := await condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {PATIENCE:.0f} s: {what() if callable(what) else what}")
        await asyncio.sleep(_PAUSE)
    return value
