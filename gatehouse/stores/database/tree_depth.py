"""Trees of rows that name their parents: how deep they may grow."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from gatehouse.stores.errors import InUse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sqlalchemy import Table
    from sqlalchemy.ext.asyncio import AsyncConnection

# Whoever shows a tree walks down it by recursion, here and in the consoles: a deeper one could not be shown at all.
MAX_DEPTH = 50


async def require_depth(db: AsyncConnection, table: Table, changed: int) -> None:
    """`InUse` if this row, or one below it, is too deep now. Raised in the transaction, it undoes the change."""
    rows: Any = await db.execute(select(table.c.id, table.c.parent))
    parents = {row.id: row.parent for row in rows}
    for row in parents:
        path = list(islice(_upwards(parents, row), MAX_DEPTH + 1))
        if len(path) > MAX_DEPTH and changed in path:
            raise InUse(f"{table.name} go at most {MAX_DEPTH} levels deep")


def _upwards(parents: Mapping[int, int | None], row: int) -> Iterator[int]:
    current: int | None = row
    while current is not None:
        yield current
        current = parents.get(current)
