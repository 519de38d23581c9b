"""Copies every table of one accounts database to another, for `gatehouse move`.

Tables go one after another, in batches. Each batch and the position it reached are one transaction in the target, so
a copy that was killed resumes where it stopped. At the end every table is counted and checksummed on both sides. While
it runs, nobody can write to the source.
"""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from sqlalchemy import (
    BigInteger,
    Column,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    func,
    insert,
    select,
    text,
    tuple_,
    update,
)

from gatehouse.stores.database import migrate
from gatehouse.stores.database.schema import metadata, nodes, signing_keys

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from sqlalchemy import Row
    from sqlalchemy.ext.asyncio import AsyncConnection

    from gatehouse.stores.database.sql_engine import Database

    Progress = Callable[[str, int, int], None]

BATCH = 1_000
# The table of nodes says who uses the database itself, so it is not copied.
TABLES = tuple(table for table in metadata.sorted_tables if table is not nodes)

# Progress of the copy, a row for each table: in the target from the first batch until everything has been verified.
move_progress = Table(
    "moving",
    MetaData(),
    Column("name", String(64), primary_key=True),
    Column("source", String(64), nullable=False),
    Column("position", Text),
    Column("rows", BigInteger, nullable=False),
)


class MoveRefused(ValueError):
    """The move cannot be done, or what arrived is not what was sent; the sentence says what to do."""


class CopiedTable(NamedTuple):
    """One table: how many rows, and the sum of their digests, the same on both sides."""

    table: str
    rows: int
    checksum: str


async def copy_accounts(source: Database, target: Database, progress: Progress) -> list[CopiedTable]:
    """Both must be at this release's schema, and the target empty or left by a move that was interrupted."""
    await migrate.check(source)
    await migrate.check(target)
    async with source.writing() as source_connection:  # the write lock: the source does not change until we are done
        await _begin(source_connection, target)
        for table in TABLES:
            await _copy(source_connection, target, table, progress)
        moved = [await _verify(source_connection, target, table, progress) for table in TABLES]
        await _continue_sequences(source_connection, target)
    async with target.writing() as db:
        await db.run_sync(move_progress.drop)
    return moved


async def _begin(source_connection: AsyncConnection, target: Database) -> None:
    """Create the table of progress, or find the one that an interrupted move of the same source left."""
    source = await _fingerprint(source_connection)
    async with target.writing() as db:
        if await db.run_sync(lambda sync: sync.dialect.has_table(sync, move_progress.name)):
            if await db.scalar(select(move_progress.c.source).limit(1)) != source:
                raise MoveRefused("the target holds an unfinished move from another database: empty it first")
            return
        for table in TABLES:
            if await db.scalar(select(func.count()).select_from(table)):
                raise MoveRefused(
                    f"the target has rows in {table.name} already: move into an empty database,"
                    " after `gatehouse migrate` and before the first `gatehouse serve`"
                )
        await db.run_sync(move_progress.create)
        await db.execute(insert(move_progress), [{"name": table.name, "source": source, "rows": 0} for table in TABLES])


async def _fingerprint(source_connection: AsyncConnection) -> str:
    """Which database this is: no two have the same signing keys."""
    kids = (await source_connection.scalars(select(signing_keys.c.kid).order_by(signing_keys.c.created))).all()
    return hashlib.sha256(" ".join(kids).encode()).hexdigest()


async def _copy(source_connection: AsyncConnection, target: Database, table: Table, progress: Progress) -> None:
    total = await _count(source_connection, table)
    async with target.reading() as db:
        position, done = (
            await db.execute(
                select(move_progress.c.position, move_progress.c.rows).where(move_progress.c.name == table.name)
            )
        ).one()
    after = _decode_position(table, position) if position else None
    progress(table.name, done, total)
    async for rows in _batches(source_connection, table, after):
        done += len(rows)
        reached = msgspec.json.encode(_key(table, rows[-1])).decode()
        async with target.writing() as db:
            await db.execute(insert(table), [dict(zip(table.c.keys(), row, strict=True)) for row in rows])
            await db.execute(
                update(move_progress).where(move_progress.c.name == table.name).values(position=reached, rows=done)
            )
        progress(table.name, done, total)


async def _batches(
    source_connection: AsyncConnection, table: Table, after: list[Any] | None
) -> AsyncIterator[Sequence[Row[Any]]]:
    if "parent" in table.c:
        # The parent of a row may have a higher id: copy all rows at once, parents first. These tables are small.
        if after is None and (tree := await _parents_first(source_connection, table)):
            yield tree
        return
    key = list(table.primary_key.columns)
    while True:
        query = select(table).order_by(*key).limit(BATCH)
        if after is not None:
            query = query.where(tuple_(*key) > tuple_(*after))
        rows = (await source_connection.execute(query)).all()
        if not rows:
            return
        yield rows
        after = _key(table, rows[-1])


async def _parents_first(source_connection: AsyncConnection, table: Table) -> list[Row[Any]]:
    left = {row.id: row for row in await source_connection.execute(select(table).order_by(table.c.id))}
    ordered: dict[int | None, Row[Any]] = {}
    while ready := [row for row in left.values() if row.parent is None or row.parent in ordered]:
        for row in ready:
            ordered[row.id] = left.pop(row.id)
    return list(ordered.values())


def _key(table: Table, row: Row[Any]) -> list[Any]:
    return [row._mapping[column] for column in table.primary_key.columns]  # noqa: SLF001 - its public name


def _decode_position(table: Table, position: str) -> list[Any]:
    """JSON has no bytes: a column of bytes is written as base64."""
    values = msgspec.json.decode(position)
    columns = table.primary_key.columns
    return [
        base64.b64decode(value) if isinstance(column.type, LargeBinary) else value
        for column, value in zip(columns, values, strict=True)
    ]


async def _count(db: AsyncConnection, table: Table) -> int:
    return (await db.scalar(select(func.count()).select_from(table))) or 0


async def _verify(
    source_connection: AsyncConnection, target: Database, table: Table, progress: Progress
) -> CopiedTable:
    sent = await _sum(source_connection, table)
    async with target.reading() as db:
        arrived = await _sum(db, table)
    if sent != arrived:
        raise MoveRefused(
            f"{table.name}: {sent.rows} rows were sent and {arrived.rows} arrived, or their contents differ:"
            " empty the target and move again"
        )
    progress(f"{table.name} verified", sent.rows, sent.rows)
    return sent


async def _sum(db: AsyncConnection, table: Table) -> CopiedTable:
    """The digests of all rows added up, so that the order in which an engine returns them does not matter."""
    rows, total = 0, 0
    result = await db.stream(select(table))
    async for row in result:
        rows += 1
        total += int.from_bytes(hashlib.sha256(repr(tuple(row)).encode()).digest())
    return CopiedTable(str(table.name), rows, f"{total % 2**256:064x}")


async def _continue_sequences(source_connection: AsyncConnection, target: Database) -> None:
    """The next number of each table follows the highest that was ever given, rows deleted since included."""
    used = {row.name: row.seq for row in await source_connection.execute(text("SELECT name, seq FROM sqlite_sequence"))}
    async with target.writing() as db:
        for table in TABLES:
            if "id" not in table.c or not isinstance(table.c.id.type, Integer):
                continue
            highest = max(await db.scalar(select(func.max(table.c.id))) or 0, used.get(table.name, 0))
            if highest:
                await db.execute(select(func.setval(func.pg_get_serial_sequence(table.name, "id"), highest)))
