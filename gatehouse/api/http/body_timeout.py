"""A time limit for many short waits, looked at once a second: a timer for each costs more than what it waits for."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import TracebackType

CHECK_SECONDS = 1.0


class BodyTimeout:
    """`with patience:` around a wait raises `TimeoutError` when it takes longer, by up to a second more."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        # In the order of their ends, since all wait equally long.
        self._ends: dict[asyncio.Task[Any], float] = {}
        self._looking = False

    def __enter__(self) -> None:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("only a task can be patient")
        loop = task.get_loop()
        self._ends[task] = loop.time() + self.seconds
        if not self._looking:
            self._looking = True
            loop.call_later(CHECK_SECONDS, self._check, loop)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        task = asyncio.current_task()
        if task is None or self._ends.pop(task, None) is not None:
            return
        # `_check` has cancelled it. If somebody else has too, the task is to end, and not only this wait.
        if task.uncancel() == 0 and kind is asyncio.CancelledError:
            raise TimeoutError from error

    def _check(self, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        for task, end in list(self._ends.items()):
            if end > now:
                break
            del self._ends[task]
            task.cancel()
        self._looking = bool(self._ends)
        if self._looking:
            loop.call_later(CHECK_SECONDS, self._check, loop)
