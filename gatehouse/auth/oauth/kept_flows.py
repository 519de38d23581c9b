"""What somebody signs in for, kept while they are at a provider: the address under which they come back must be short.

It is kept for one browser, by its random cookie: nobody can let another browser go on with a login of their own.
"""

from __future__ import annotations

import hashlib
import secrets
from typing import TYPE_CHECKING

from gatehouse.auth.login.company_login import STATE_SECONDS
from gatehouse.auth.login.company_tickets import PENDING_SECONDS
from gatehouse.common.clock_skew import CLOCK_SKEW_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.stores.state.protocol import State

KEPT_SECONDS = STATE_SECONDS + PENDING_SECONDS + CLOCK_SKEW_SECONDS


class KeptFlows:
    def __init__(self, state: State, clock: Callable[[], float]) -> None:
        self._state = state
        self._clock = clock

    async def keep(self, browser: str, going_on: str) -> str:
        """The id by which this browser finds it again."""
        flow, now = secrets.token_urlsafe(12), self._clock()
        await self._state.compare_and_set(_key(browser, flow), None, going_on, now + KEPT_SECONDS, now)
        return flow

    async def find(self, browser: str, flow: str) -> str | None:
        return await self._state.value(_key(browser, flow), self._clock()) if browser and flow else None


def _key(browser: str, flow: str) -> str:
    return f"flow|{hashlib.sha256(f'{browser} {flow}'.encode()).hexdigest()}"
