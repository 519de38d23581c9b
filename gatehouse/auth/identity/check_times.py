"""How long directories take to check a password, so that names which they are not asked about take as long.

A name of our own costs a hash, an unknown one a search, a directory's one a search and a bind. The answer to each waits
until one of the last real checks, chosen at random, would have been done.
"""

from __future__ import annotations

import asyncio
import random
from collections import deque

KEPT = 64
MAX_SECONDS = 2.0


class CheckTimes:
    def __init__(self) -> None:
        self._times: deque[float] = deque(maxlen=KEPT)

    def start(self) -> float:
        return asyncio.get_running_loop().time()

    def record(self, started: float) -> None:
        self._times.append(min(self.start() - started, MAX_SECONDS))

    async def level(self, started: float) -> None:
        if self._times:
            await asyncio.sleep(started + random.choice(self._times) - self.start())  # noqa: S311 - not a secret
