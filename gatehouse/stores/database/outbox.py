"""What must still happen after a commit: added in the transaction of its cause, and removed when it has happened."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import bindparam, delete, func, insert, or_, select, update

from gatehouse.stores.database.schema import outbox
from gatehouse.stores.database.sql_engine import new_id

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from sqlalchemy.ext.asyncio import AsyncConnection

    from gatehouse.stores.database.sql_engine import Database

MAX_PROBLEM_LENGTH = 255


class Delivery(NamedTuple):
    """One thing that must happen. `kind` says what, `payload` to whom, in a form that its kind knows."""

    id: int
    kind: str
    payload: str
    created: float
    attempts: int
    recipient: str | None = None


class NewDelivery(NamedTuple):
    """Until `due` it is its writer's to deliver, after the commit; then any node's.

    `recipient`: who it is for, if it goes to somebody else than our own state.
    """

    kind: str
    payload: str
    created: float
    due: float
    recipient: str | None = None


class Backlog(NamedTuple):
    waiting: int
    given_up: int


class RecipientBacklog(NamedTuple):
    """What one recipient has not taken, and the problem of an attempt."""

    recipient: str
    waiting: int
    given_up: int
    problem: str


_ANY_DUE = select(outbox.c.id).where(outbox.c.due <= bindparam("now")).limit(1)
_DELIVERY = [outbox.c[name] for name in Delivery._fields]
_WAITING, _ROWS = (
    select(func.count(column)).where(outbox.c.recipient.is_(None)) for column in (outbox.c.due, outbox.c.id)
)
_RECIPIENTS = (
    select(outbox.c.recipient, func.count(outbox.c.due), func.count(outbox.c.id), func.max(outbox.c.problem))
    .where(outbox.c.recipient.is_not(None))
    .group_by(outbox.c.recipient)
    .having(func.max(outbox.c.problem).is_not(None))
    .order_by(outbox.c.recipient)
)


async def add(db: AsyncConnection, new: NewDelivery) -> Delivery:
    """Add in the caller's transaction."""
    number = new_id(await db.execute(insert(outbox).values(new._asdict())))
    return Delivery(number, new.kind, new.payload, new.created, 0, new.recipient)


class OutboxStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def claim(self, now: float, until: float, busy: Collection[str] = ()) -> Delivery | None:
        """The delivery that is due the longest, which nobody else gets before `until`; none for a busy recipient."""
        if not await self._database.fetch_rows(_ANY_DUE, now=now):
            return None  # the usual case, and one read
        first = select(*_DELIVERY).where(outbox.c.due <= now).order_by(outbox.c.due).limit(1)
        if busy:
            first = first.where(or_(outbox.c.recipient.is_(None), outbox.c.recipient.not_in(busy)))
        async with self._database.writing() as db:
            # What another node is claiming in this moment is skipped.
            row = (await db.execute(first.with_for_update(skip_locked=True))).one_or_none()
            if row is None:
                return None
            delivery = Delivery(*row)._replace(attempts=row.attempts + 1)
            values = {"due": until, "attempts": delivery.attempts}
            await db.execute(update(outbox).where(outbox.c.id == delivery.id).values(values))
        return delivery

    async def remove(self, delivery: Delivery) -> None:
        """It has happened. What its recipient has refused before is no reason to look into it any more."""
        async with self._database.writing() as db:
            await db.execute(delete(outbox).where(outbox.c.id == delivery.id))
            if delivery.recipient is not None:
                refused = (outbox.c.recipient == delivery.recipient, outbox.c.due.is_(None))
                await db.execute(delete(outbox).where(*refused))

    async def postpone(self, delivery: Delivery, due: float | None, problem: str = "") -> None:
        """None: it is given up, and stays for an operator to see.

        What else waits for the same recipient waits as long: one attempt is enough to find out.
        """
        values = {"due": due, "problem": problem[:MAX_PROBLEM_LENGTH] or None}
        async with self._database.writing() as db:
            await db.execute(update(outbox).where(outbox.c.id == delivery.id).values(values))
            if delivery.recipient is not None and due is not None:
                earlier = (outbox.c.recipient == delivery.recipient, outbox.c.due < due)
                await db.execute(update(outbox).where(*earlier).values(due=due))

    async def prune(self, before: float) -> None:
        """Remove what recipients did not take and nobody can deliver any more."""
        old = (outbox.c.recipient.is_not(None), outbox.c.due.is_(None), outbox.c.created < before)
        async with self._database.writing() as db:
            await db.execute(delete(outbox).where(*old))

    async def backlog(self) -> Backlog:
        """Without that of recipients."""
        [(waiting,)] = await self._database.fetch_rows(_WAITING)
        [(rows,)] = await self._database.fetch_rows(_ROWS)
        return Backlog(waiting, rows - waiting)

    async def recipients(self) -> Sequence[RecipientBacklog]:
        """Those to whom something could not be delivered."""
        found = await self._database.fetch_rows(_RECIPIENTS)
        return [RecipientBacklog(name, waiting, rows - waiting, problem) for name, waiting, rows, problem in found]
