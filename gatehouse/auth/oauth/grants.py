"""What an application was granted: it hangs on a browser session and is of no use without it.

A grant is a row in accounts (which session, client and scopes), and its id names a row in state that counts its
refresh tokens. That row is one of a session and is rotated by the very rules of `auth/sessions/sessions.py`: one
rotation, the grace window, reuse. It belongs to `GRANT_OWNERS` plus the user, and so is none of the user's sessions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gatehouse.auth.audit import ClientInfo, RefreshFailure, SessionEndReason
from gatehouse.auth.oauth.errors import OAuthRefusal
from gatehouse.auth.refusals import RefreshTokenInvalid
from gatehouse.auth.sessions.tokens import new_session_id
from gatehouse.stores.database.grants import StoredGrant
from gatehouse.stores.state.protocol import GRANT_OWNERS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gatehouse.auth.oauth.clients import Client
    from gatehouse.auth.sessions.sessions import Sessions
    from gatehouse.stores.database.grants import GrantStore
    from gatehouse.stores.state.protocol import Session

GRANTS_PER_USER = 200  # the oldest beyond are ended


class LiveGrant(NamedTuple):
    stored: StoredGrant
    session: Session  # the browser session that it hangs on

    @property
    def scopes(self) -> tuple[str, ...]:
        return tuple(self.stored.scopes.split())


def new_grant_id(user: int) -> str:
    return new_session_id(GRANT_OWNERS + user)


class Grants:
    def __init__(
        self, *, store: GrantStore, sessions: Sessions, rotations: Sessions, clock: Callable[[], float]
    ) -> None:
        """`rotations`: the rules of sessions for the rows of grants; they say nothing to the audit trail."""
        self._store = store
        self._sessions = sessions
        self._rotations = rotations
        self._clock = clock

    async def open(self, grant: str, client: Client, parent: Session, scopes: Sequence[str], who: ClientInfo) -> None:
        await self._rotations.open(GRANT_OWNERS + parent.user, who, (), parent=parent, session_id=grant)
        stored = StoredGrant(grant, parent.id, parent.user, client.id, " ".join(scopes), self._clock())
        await self._store.add(stored)
        # Its session may have ended while this was written: then nobody would look for the grant any more.
        if await self._sessions.live_epoch(parent.id, parent.user, self._clock()) is None:
            await self.end(grant, who)
            raise OAuthRefusal("invalid_grant", "the session has ended")

    async def find(self, grant: str, client: Client | None = None) -> LiveGrant | None:
        """The grant if its session lives, whose end is moved; None if it is of another client."""
        stored = await self._store.by_id(grant)
        if stored is None or stored.client is None or (client is not None and stored.client != client.id):
            return None
        session = await self._sessions.touch(stored.session)
        if session is None:
            return None
        is_live = await self._rotations.live_epoch(grant, GRANT_OWNERS + stored.user, self._clock()) is not None
        return LiveGrant(stored, session) if is_live else None

    async def rotate(self, grant: LiveGrant, generation: int, who: ClientInfo) -> int:
        """The generation of the refresh token to hand out. A reused one ends the grant and its session."""
        try:
            rotation = await self._rotations.refresh(grant.stored.id, generation, who)
        except RefreshTokenInvalid as refusal:
            if refusal.reason is RefreshFailure.REUSE:
                await self._sessions.end(grant.session.id, SessionEndReason.REUSE, who)
            raise OAuthRefusal("invalid_grant", "the refresh token is not valid any more") from None
        return rotation.session.generation

    async def end(self, grant: str, who: ClientInfo) -> None:
        await self._rotations.end(grant, SessionEndReason.LOGOUT, who)
        await self._store.remove(grant)
