"""The audit trail: appended to, read back, and pruned by age."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from sqlalchemy import delete, func, insert, or_, select
from sqlalchemy.exc import IntegrityError

from gatehouse.stores.database.daily_logins import count_failures, count_logins
from gatehouse.stores.database.schema import audit_events
from gatehouse.stores.errors import UnstorableValue

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import ColumnElement
    from sqlalchemy.engine import Dialect
    from sqlalchemy.ext.asyncio import AsyncConnection

    from gatehouse.stores.database.sql_engine import Database


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


LOGIN, LOGIN_FAILED = "login", "login.failed"  # the events whose days are counted
READ_LIMIT = 1_000  # events of one read; who reads on asks for those after the last
COUNT_LIMIT = 100_000  # more hits are not counted
SEARCH_LIMIT = 100_000  # older events are not searched

_WRITTEN = AuditEntry._fields[1:]  # all but the id


async def write(db: AsyncConnection, entries: Sequence[AuditEntry]) -> None:
    """Append in the caller's transaction, so that a change and its event are committed together."""
    # As plain tuples to the driver: there is an event for every refresh, and SQLAlchemy would look at each value.
    await db.exec_driver_sql(_insert_statement(db.dialect), [tuple(entry[1:]) for entry in entries])
    await count_logins(db, [(entry.at, entry.user) for entry in entries if entry.event == LOGIN and entry.user])
    await count_failures(db, [(entry.at, _event_count(entry)) for entry in entries if entry.event == LOGIN_FAILED])


def _event_count(entry: AuditEntry) -> int:
    """How many events this row counts: events that anybody can cause are stored as one row for each interval."""
    detail = msgspec.json.decode(entry.detail) if entry.detail else {}
    return int(detail.get("count", 1))


@cache
def _insert_statement(dialect: Dialect) -> str:
    return str(insert(audit_events).inline().compile(dialect=dialect, column_keys=_WRITTEN))


class TrailFilter(NamedTuple):
    """Which events a page shows: those in a span of time, of one kind, that a search for words finds."""

    since: float | None = None
    until: float | None = None
    event: str = ""  # empty: of any kind
    # None: no filter. Otherwise at least one of the three must match.
    events: Sequence[str] | None = None
    people: Sequence[int] | None = None
    address: str | None = None

    def span(self) -> list[ColumnElement[bool]]:
        found: list[ColumnElement[bool]] = []
        if self.since is not None:
            found.append(audit_events.c.at >= self.since)
        if self.until is not None:
            found.append(audit_events.c.at < self.until)
        return found

    def conditions(self) -> list[ColumnElement[bool]]:
        columns, found = audit_events.c, self.span()
        if self.event:
            found.append(columns.event == self.event)
        if self.events is not None and self.people is not None:
            found.append(
                or_(
                    columns.event.in_(list(self.events)),
                    columns.user.in_(list(self.people)),
                    columns.actor.in_(list(self.people)),
                    columns.address == self.address,
                )
            )
        return found


class AuditTrail:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def append(self, entries: Sequence[AuditEntry]) -> None:
        """All or none; `UnstorableValue` if the database cannot store one of them."""
        try:
            async with self._database.writing() as db:
                await write(db, entries)
        except (IntegrityError, ValueError, OverflowError) as problem:  # the last two before anything is sent
            raise UnstorableValue(f"accounts database: {type(problem).__name__}") from problem

    async def read(
        self,
        *,
        after: int = 0,
        newest: int | None = None,
        user: int | None = None,
        events: Sequence[str] = (),
        since: float | None = None,
    ) -> Sequence[AuditEntry]:
        """Events in the order of their ids: `READ_LIMIT` of those after an id, or only the `newest` ones."""
        query = select(audit_events).where(audit_events.c.id > after)
        if user is not None:
            query = query.where(audit_events.c.user == user)
        if events:
            query = query.where(audit_events.c.event.in_(list(events)))
        if since is not None:
            query = query.where(audit_events.c.at >= since)
        query = query.order_by(audit_events.c.id.desc() if newest else audit_events.c.id).limit(newest or READ_LIMIT)
        async with self._database.reading() as db:
            rows = (await db.execute(query)).all()
        return [AuditEntry(*row) for row in (reversed(rows) if newest else rows)]

    async def page(self, wanted: TrailFilter, *, offset: int, limit: int) -> tuple[Sequence[AuditEntry], int]:
        """Events from the newest on, and how many there are; beyond `COUNT_LIMIT` they are not counted any further.

        Words and one kind are searched among the newest `SEARCH_LIMIT` events of the span: a rare one would scan them
        all.
        """
        conditions = wanted.conditions()
        if wanted.events is not None or wanted.event:
            span = select(audit_events.c.at).where(*wanted.span()).order_by(audit_events.c.at.desc())
            async with self._database.reading() as db:
                oldest = await db.scalar(span.offset(SEARCH_LIMIT).limit(1))
            if oldest is not None:
                conditions.append(audit_events.c.at > oldest)
        rows = select(audit_events).where(*conditions).order_by(audit_events.c.at.desc(), audit_events.c.id.desc())
        some = select(audit_events.c.id).where(*conditions).limit(COUNT_LIMIT).subquery()
        async with self._database.reading() as db:
            found = (await db.execute(rows.offset(offset).limit(limit))).all()
            total = await db.scalar(select(func.count()).select_from(some))
        return [AuditEntry(*row) for row in found], total or 0

    async def prune(self, before: float, limit: int = 1000) -> int:
        """Delete up to `limit` events older than `before`; return how many went."""
        oldest = select(audit_events.c.id).where(audit_events.c.at < before).limit(limit)
        async with self._database.writing() as db:
            result = await db.execute(delete(audit_events).where(audit_events.c.id.in_(oldest)))
        return result.rowcount
