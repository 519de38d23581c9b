"""The audit trail: appended to, read back, and pruned by age."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import delete, insert, select

from gatehouse.stores.accounts.schema import audit_events

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy.engine import Dialect
    from sqlalchemy.ext.asyncio import AsyncConnection

    from gatehouse.stores.accounts.database import Database


class AuditEntry(NamedTuple):
    """One stored event. `id` is 0 until the database has given it one."""

    id: int
    at: float
    event: str
    user: int | None
    session: str | None
    address: str | None
    request: str | None
    reason: str | None
    detail: str | None
    actor: int | None = None
    agent: str | None = None


_WRITTEN = AuditEntry._fields[1:]  # all but the id


async def write(db: AsyncConnection, entries: Sequence[AuditEntry]) -> None:
    """Append inside somebody's transaction, so that a change and its event are stored together."""
    # As plain tuples to the driver: there is an event for every refresh, and to look at each value costs most of it.
    await db.exec_driver_sql(_insertion(db.dialect), [tuple(entry[1:]) for entry in entries])


@cache
def _insertion(dialect: Dialect) -> str:
    return str(insert(audit_events).inline().compile(dialect=dialect, column_keys=_WRITTEN))


class AuditTrail:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def append(self, entries: Sequence[AuditEntry]) -> None:
        async with self._database.writing() as db:
            await write(db, entries)

    async def read(
        self,
        *,
        after: int = 0,
        newest: int | None = None,
        user: int | None = None,
        events: Sequence[str] = (),
        since: float | None = None,
    ) -> Sequence[AuditEntry]:
        """Events in the order of their ids: those after an id, or only the `newest` so many."""
        query = select(audit_events).where(audit_events.c.id > after)
        if user is not None:
            query = query.where(audit_events.c.user == user)
        if events:
            query = query.where(audit_events.c.event.in_(list(events)))
        if since is not None:
            query = query.where(audit_events.c.at >= since)
        query = query.order_by(audit_events.c.id.desc() if newest else audit_events.c.id).limit(newest or 1000)
        async with self._database.reading() as db:
            rows = (await db.execute(query)).all()
        return [AuditEntry(*row) for row in (reversed(rows) if newest else rows)]

    async def prune(self, before: float, limit: int = 1000) -> int:
        """Delete up to `limit` events older than `before`; return how many went."""
        oldest = select(audit_events.c.id).where(audit_events.c.at < before).limit(limit)
        async with self._database.writing() as db:
            result = await db.execute(delete(audit_events).where(audit_events.c.id.in_(oldest)))
        return result.rowcount
