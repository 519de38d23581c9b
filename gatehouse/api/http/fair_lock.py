"""A first-in, first-out lock for slow work on the event loop, so that a queue of it does not delay other requests."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING

from gatehouse.auth.refusals import TooBusy

if TYPE_CHECKING:
    from types import TracebackType

RETRY_AFTER_SECONDS = 1


class FairLock:
    """One holder at a time, in order; between two holders the event loop runs other tasks that are ready.

    Drawing a captcha takes ten times as long as users/me. Without the lock, users/me waits for every captcha that was
    asked for before it; with it, for one.
    """

    def __init__(self, max_waiting: int) -> None:
        self._max_waiting = max_waiting
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._taken = False

    async def __aenter__(self) -> None:
        if not self._taken:
            self._taken = True
            return
        if len(self._waiting) >= self._max_waiting:
            raise TooBusy(RETRY_AFTER_SECONDS, "too many wait for this lock")
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._pass_on()  # cancelled in the moment it became the holder
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # In the next turn of the loop: the work under the lock may never await, and other tasks must get their turn.
        asyncio.get_running_loop().call_soon(self._pass_on)

    def _pass_on(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._taken = False
