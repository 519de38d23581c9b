"""What hangs on browser sessions: the grants of applications, and consoles that were opened from them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, delete, exists, insert, or_, select

from gatehouse.stores.database import outbox
from gatehouse.stores.database.schema import consents, grants, oauth_clients

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from sqlalchemy import BindParameter, Select

    from gatehouse.stores.database.outbox import NewDelivery
    from gatehouse.stores.database.sql_engine import Database

    # Of a session, client and user: what the client is told, if anything.
    NoticeOf = Callable[[str, int, int], NewDelivery | None]


@dataclass(frozen=True, slots=True)
class StoredGrant:
    id: str
    session: str
    user: int
    client: int | None  # None: a console, whose own session `id` is
    scopes: str  # with spaces between them
    created: float
    claims: str = ""  # asked for by name


_GRANT = [grants.c[name] for name in StoredGrant.__dataclass_fields__]
_BY_ID = select(*_GRANT).where(grants.c.id == bindparam("grant_id"))
_OF_SESSION = select(*_GRANT).where(grants.c.session == bindparam("session_id")).order_by(grants.c.created)
_AMONG: BindParameter[str] = bindparam("sessions", expanding=True)
_CONSOLES = select(*_GRANT).where(grants.c.client.is_(None), or_(grants.c.session.in_(_AMONG), grants.c.id.in_(_AMONG)))
_WITH_GRANTS = select(grants.c.session).distinct().where(grants.c.session.in_(_AMONG))
_ANY = select(grants.c.id).limit(1)
_SESSIONS = (
    select(grants.c.session)
    .distinct()
    .where(grants.c.session > bindparam("after"))
    .order_by(grants.c.session)
    .limit(bindparam("batch"))
)
_OF_USER = select(*_GRANT).where(grants.c.user == bindparam("user_id")).order_by(grants.c.created)


class GrantStore:
    def __init__(self, database: Database) -> None:
        self._database = database
        self.seen = False  # whether there were any when this process last wrote or looked

    async def add(self, grant: StoredGrant, *, needs_consent: bool = False) -> bool:
        """False if its client is switched off or gone by now, or its user has taken the consent back.

        What it hangs on is locked until the commit: whoever takes that away finds the grant, or is found here.
        """
        async with self._database.writing() as db:
            for query in _conditions(grant, needs_consent=needs_consent):
                if (await db.execute(query.with_for_update(read=True))).first() is None:
                    return False
            await db.execute(insert(grants).values(**asdict(grant)))
        self.seen = True
        return True

    async def by_id(self, grant: str) -> StoredGrant | None:
        found = await self._database.fetch_rows(_BY_ID, grant_id=grant)
        return StoredGrant(*found[0]) if found else None

    async def of_session(self, session: str) -> list[StoredGrant]:
        return [StoredGrant(*row) for row in await self._database.fetch_rows(_OF_SESSION, session_id=session)]

    async def of_user(self, user: int) -> list[StoredGrant]:
        return [StoredGrant(*row) for row in await self._database.fetch_rows(_OF_USER, user_id=user)]

    async def any(self) -> bool:
        self.seen = bool(await self._database.fetch_rows(_ANY))
        return self.seen

    async def consoles(self, sessions: Collection[str]) -> list[StoredGrant]:
        """Consoles that are among these sessions, or were opened from one of them."""
        return [StoredGrant(*row) for row in await self._database.fetch_rows(_CONSOLES, sessions=list(sessions))]

    async def with_grants(self, sessions: Collection[str]) -> list[str]:
        """Those among these sessions that something hangs on."""
        return [row[0] for row in await self._database.fetch_rows(_WITH_GRANTS, sessions=list(sessions))]

    async def sessions(self, after: str, batch: int) -> list[str]:
        """The next sessions, in order, that something hangs on."""
        return [row[0] for row in await self._database.fetch_rows(_SESSIONS, after=after, batch=batch)]

    async def end(self, session: str, notice_of: NoticeOf, client: int | None = None) -> int:
        """Remove what hangs on a session, or of it what one client has; `notice_of` each client goes to the outbox.

        Of several callers at once one removes a grant, and that one adds the notice. How many were added.
        """
        ended = delete(grants).where(grants.c.session == session).returning(grants.c.client, grants.c.user)
        if client is not None:
            ended = ended.where(grants.c.client == client)
        async with self._database.writing() as db:
            told = {(row.client, row.user) for row in await db.execute(ended)}
            notices = [notice_of(session, number, user) for number, user in told if number is not None]
            new = [notice for notice in notices if notice is not None]
            for notice in new:
                await outbox.add(db, notice)
        return len(new)

    async def remove(self, grant: str) -> bool:
        """Of any number of callers one is told that it has."""
        async with self._database.writing() as db:
            gone = await db.execute(delete(grants).where(grants.c.id == grant))
            return bool(gone.rowcount)

    async def remove_spare(self, ids: Sequence[str]) -> None:
        """Remove these, but for the last of a session and client: by it the client hears of the session's end."""
        if not ids:
            return
        others = grants.alias()
        another = select(others.c.id).where(
            others.c.session == grants.c.session, others.c.client == grants.c.client, others.c.id.not_in(ids)
        )
        async with self._database.writing() as db:
            await db.execute(delete(grants).where(grants.c.id.in_(ids), exists(another)))


def _conditions(grant: StoredGrant, *, needs_consent: bool) -> list[Select[Any]]:
    """What must be there for a grant to be added."""
    if grant.client is None:
        return []
    client = select(oauth_clients.c.id).where(oauth_clients.c.id == grant.client, oauth_clients.c.enabled)
    consent = select(consents.c.user).where(consents.c.user == grant.user, consents.c.client == grant.client)
    return [client, consent] if needs_consent else [client]
