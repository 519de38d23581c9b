"""What an application was granted: it hangs on a browser session and is of no use without it.

A grant is a row in accounts (which session, client and scopes), and its id names a row in state that counts its
refresh tokens. That row is one of a session and is rotated by the very rules of `auth/sessions/sessions.py`: one
rotation, the grace window, reuse. It belongs to `GRANT_OWNERS` plus the user, and so is none of the user's sessions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.auth.audit import Audit, ClientInfo, Event, GrantEndReason, RefreshFailure, SessionEndReason
from gatehouse.auth.oauth.errors import OAuthRefusal
from gatehouse.auth.refusals import RefreshTokenInvalid
from gatehouse.auth.sessions.tokens import new_session_id
from gatehouse.stores.state.protocol import GRANT_OWNERS

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.auth.oauth.clients import Client
    from gatehouse.auth.sessions.sessions import Sessions
    from gatehouse.stores.database.grants import GrantStore, StoredGrant
    from gatehouse.stores.state.protocol import Rotation, Session

GRANTS_PER_USER = 200  # the oldest beyond are ended


def new_grant_id(user: int) -> str:
    return new_session_id(GRANT_OWNERS + user)


class Grants:
    def __init__(
        self, *, store: GrantStore, sessions: Sessions, rotations: Sessions, audit: Audit, clock: Callable[[], float]
    ) -> None:
        """`rotations`: the rules of sessions for the rows of grants."""
        self._store = store
        self._sessions = sessions
        self._rotations = rotations
        self._audit = audit
        self._clock = clock

    async def open(self, new: StoredGrant, client: Client, parent: Session, who: ClientInfo) -> None:
        owner = GRANT_OWNERS + new.user
        _, evicted = await self._rotations.open(owner, who, (), parent=parent, session_id=new.id)
        if not await self._store.add(new, needs_consent=not client.config.first_party):
            await self._rotations.end(new.id, SessionEndReason.LOGOUT, who)
            raise OAuthRefusal("invalid_grant", "the application was switched off, or its user has left it")
        # Its session may have ended while this was written: then nobody would look for the grant any more. From now
        # on, whoever ends the session finds the grant, and tells the application.
        if await self._sessions.live_epoch(parent.id, parent.user, self._clock()) is None:
            await self._rotations.end(new.id, SessionEndReason.LOGOUT, who)
            await self._store.remove(new.id)
            raise OAuthRefusal("invalid_grant", "the login has ended")
        await self._store.remove_spare([each.id for each in evicted])
        detail = {"client": client.client_id, "scopes": new.scopes}
        self._audit.record(Event.GRANT_OPENED, who, user=new.user, session=new.session, detail=detail)

    async def find(self, grant: str, client: int) -> StoredGrant | None:
        """The grant of this client, whether it lives or not; None if it is of another one."""
        stored = await self._store.by_id(grant)
        return stored if stored is not None and stored.client == client else None

    async def live_epoch(self, grant: StoredGrant) -> int | None:
        """The epoch of its user; None if the grant or the session that it hangs on has ended."""
        now = self._clock()
        if await self._rotations.live_epoch(grant.id, GRANT_OWNERS + grant.user, now) is None:
            return None
        return await self._sessions.live_epoch(grant.session, grant.user, now)

    async def rotate(self, grant: StoredGrant, generation: int, client: Client, who: ClientInfo) -> Rotation:
        """Its generation is that of the refresh token to hand out. A reused one ends the grant and its session.

        The row of the grant stays: its application hears of the end of the session by it.
        """
        try:
            return await self._rotations.refresh(grant.id, generation, who)
        except RefreshTokenInvalid as refusal:
            if refusal.reason is RefreshFailure.REUSE:
                await self._sessions.end(grant.session, SessionEndReason.REUSE, who)
                self._record_end(grant, client.client_id, GrantEndReason.REUSE, who)
            raise

    async def end(self, grant: str, client_id: str, reason: GrantEndReason, who: ClientInfo) -> None:
        """Also one that was not opened (yet): then there is nothing to end."""
        await self._rotations.end(grant, SessionEndReason.LOGOUT, who)
        stored = await self._store.by_id(grant)
        if stored is not None and await self._store.remove(grant):
            self._record_end(stored, client_id, reason, who)

    def _record_end(self, grant: StoredGrant, client_id: str, reason: GrantEndReason, who: ClientInfo) -> None:
        detail = {"client": client_id}
        self._audit.record(Event.GRANT_ENDED, who, user=grant.user, session=grant.session, reason=reason, detail=detail)
