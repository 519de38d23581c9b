"""Authorization codes: sealed, so that issuing one stores nothing and any node takes it; used once.

The grant that a code gives has its id from the start. Using the code writes this id into state, "set if absent"; who
comes second finds it there, and what the first has got is ended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from gatehouse.auth.sealed_tickets.sealed_tickets import Tickets
from gatehouse.common.clock_skew import CLOCK_SKEW_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.auth.keys.key_ring import KeyRing
    from gatehouse.auth.sealed_tickets.sealed_tickets import Ticket
    from gatehouse.stores.state.protocol import State

CODE_SECONDS = 60
# A code that is used again is noticed for as long as tokens that it gave may live without a refresh.
USED_KEPT_SECONDS = 86_400


class CodeContent(msgspec.Struct, frozen=True, array_like=True):
    client: int
    redirect_uri: str
    challenge: str  # of PKCE, S256; empty if there was none
    nonce: str
    scopes: tuple[str, ...]
    session: str
    grant: str


class AuthorizationCodes:
    def __init__(self, ring: KeyRing, state: State, clock: Callable[[], float]) -> None:
        self._tickets = Tickets(ring, "authorization codes", CodeContent, CODE_SECONDS, clock)
        self._state = state
        self._clock = clock

    def make(self, content: CodeContent) -> str:
        return self._tickets.make(content).text

    def read(self, code: str) -> Ticket[CodeContent] | None:
        return self._tickets.open(code)

    async def use(self, ticket: Ticket[CodeContent]) -> bool:
        """True for the first caller of all nodes."""
        now = self._clock()
        until = ticket.expires + USED_KEPT_SECONDS + CLOCK_SKEW_SECONDS
        return await self._state.compare_and_set(f"code|{ticket.id}", None, ticket.content.grant, until, now)
