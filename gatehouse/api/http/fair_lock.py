"""A lane for work that holds the event loop for long, so that a queue of it does not hold up everybody else."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING

from gatehouse.auth.refusals import TooBusy

if TYPE_CHECKING:
    from types import TracebackType

RETRY_SECONDS = 1


class FairLock:
    """One at a time, in order, and between two of them the loop serves whoever else is ready.

    Drawing a captcha takes ten times as long as a users/me. When two hundred are asked for at once and drawn as they
    come, a users/me that arrives in their midst waits for all of them; in a lane it waits for one.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._taken = False

    async def __aenter__(self) -> None:
        if not self._taken:
            self._taken = True
            return
        if len(self._waiting) >= self._most:
            raise TooBusy(RETRY_SECONDS, "too many wait in this lane")
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._pass_on()  # it was our turn, and we are not there to take it
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Not at once: whoever is ready in this round of the loop would go through one after the other, and the work
        # in the lane may be done without ever waiting for anything.
        asyncio.get_running_loop().call_soon(self._pass_on)

    def _pass_on(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._taken = False
