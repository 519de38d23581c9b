"""Authorization codes: sealed, so that issuing one stores nothing and any node takes it; used once.

The grant that a code gives has its id from the start. Using the code writes this id into state, "set if absent". Who
comes second finds it there, replaces it by a mark, and ends the grant. The first looks for the mark once the grant is
open: so whichever is faster, a code that was used twice leaves no grant.
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
# With the longest address and nonce that a request may have.
MAX_CODE_LENGTH = 8192
REUSED = "reused"
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
    claims: tuple[str, ...] = ()  # of userinfo that were asked for by name
    id_token_claims: tuple[str, ...] = ()


class AuthorizationCodes:
    def __init__(self, ring: KeyRing, state: State, clock: Callable[[], float]) -> None:
        self._tickets = Tickets(ring, "authorization codes", CodeContent, CODE_SECONDS, clock)
        self._state = state
        self._clock = clock

    def make(self, content: CodeContent) -> str:
        return self._tickets.make(content).text

    def read(self, code: str) -> Ticket[CodeContent] | None:
        """Expired or not: also an old one must not come twice. `use` says whether it is still good."""
        return self._tickets.open_expired(code, MAX_CODE_LENGTH)

    async def use(self, ticket: Ticket[CodeContent]) -> bool:
        """True for the first caller of all nodes, in time."""
        now = self._clock()
        if now >= ticket.expires:
            return False
        return await self._state.compare_and_set(_key(ticket), None, ticket.content.grant, _until(ticket), now)

    async def mark_reused(self, ticket: Ticket[CodeContent]) -> bool:
        """For a caller whom `use` has refused: True if somebody has used it before."""
        now = self._clock()
        if await self._state.compare_and_set(_key(ticket), ticket.content.grant, REUSED, _until(ticket), now):
            return True
        return await self.was_reused(ticket)

    async def was_reused(self, ticket: Ticket[CodeContent]) -> bool:
        return await self._state.value(_key(ticket), self._clock()) == REUSED


def _key(ticket: Ticket[CodeContent]) -> str:
    return f"code|{ticket.id}"


def _until(ticket: Ticket[CodeContent]) -> float:
    return ticket.expires + USED_KEPT_SECONDS + CLOCK_SKEW_SECONDS
