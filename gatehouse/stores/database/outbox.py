"""What must still happen after a commit: added in the transaction of its cause, and removed when it has happened."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import bindparam, delete, func, insert, select, update

from gatehouse.stores.database.schema import outbox
from gatehouse.stores.database.sql_engine import new_id

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

    from gatehouse.stores.database.sql_engine import Database


class Delivery(NamedTuple):
    """One thing that must happen. `kind` says what, `payload` to whom, in a form that its kind knows."""

    id: int
    kind: str
    payload: str
    created: float
    attempts: int


class NewDelivery(NamedTuple):
    """Until `due` it is its writer's to deliver, after the commit; then any node's."""

    kind: str
    payload: str
    created: float
    due: float


class Backlog(NamedTuple):
    waiting: int
    given_up: int


_ANY_DUE = select(outbox.c.id).where(outbox.c.due <= bindparam("now")).limit(1)


async def add(db: AsyncConnection, new: NewDelivery) -> Delivery:
    """Add in the caller's transaction."""
    number = new_id(await db.execute(insert(outbox).values(new._asdict())))
    return Delivery(number, new.kind, new.payload, new.created, attempts=0)


class OutboxStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def claim(self, now: float, until: float) -> Delivery | None:
        """The delivery that is due the longest, which nobody else gets before `until`."""
        if not await self._database.fetch_rows(_ANY_DUE, now=now):
            return None  # the usual case, and one read
        columns = (outbox.c.id, outbox.c.kind, outbox.c.payload, outbox.c.created, outbox.c.attempts)
        first = select(*columns).where(outbox.c.due <= now).order_by(outbox.c.due).limit(1)
        async with self._database.writing() as db:
            # What another node is claiming in this moment is skipped.
            row = (await db.execute(first.with_for_update(skip_locked=True))).one_or_none()
            if row is None:
                return None
            delivery = Delivery(*row)._replace(attempts=row.attempts + 1)
            values = {"due": until, "attempts": delivery.attempts}
            await db.execute(update(outbox).where(outbox.c.id == delivery.id).values(values))
        return delivery

    async def remove(self, delivery: int) -> None:
        async with self._database.writing() as db:
            await db.execute(delete(outbox).where(outbox.c.id == delivery))

    async def postpone(self, delivery: int, due: float | None) -> None:
        """None: it is given up, and stays for an operator to see."""
        async with self._database.writing() as db:
            await db.execute(update(outbox).where(outbox.c.id == delivery).values(due=due))

    async def backlog(self) -> Backlog:
        [(rows,)] = await self._database.fetch_rows(select(func.count(outbox.c.id)))
        [(waiting,)] = await self._database.fetch_rows(select(func.count(outbox.c.due)))
        return Backlog(waiting, rows - waiting)
