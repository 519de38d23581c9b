"""The nodes that serve from this database. A node renews its row while it serves and removes it when it stops."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from sqlalchemy import delete, insert, select, update

from gatehouse.stores.database.schema import nodes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatehouse.stores.database.sql_engine import Database


@dataclass(frozen=True, slots=True)
class Node:
    id: str
    issuer: str
    state: str  # the identity of the state store; empty while it has not answered
    secret: str  # a fingerprint of the master secret
    started: float
    seen: float


class Nodes:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self) -> Sequence[Node]:
        async with self._database.reading() as db:
            rows = (await db.execute(select(nodes).order_by(nodes.c.started, nodes.c.id))).all()
        return [Node(*row) for row in rows]

    async def renew(self, node: Node) -> None:
        """Write the node's row, whether it is there or not."""
        values = asdict(node)
        async with self._database.writing() as db:
            renewed = {name: value for name, value in values.items() if name != "started"}
            result = await db.execute(update(nodes).where(nodes.c.id == node.id).values(renewed))
            if result.rowcount == 0:
                await db.execute(insert(nodes).values(values))

    async def remove(self, node: str) -> None:
        async with self._database.writing() as db:
            await db.execute(delete(nodes).where(nodes.c.id == node))

    async def prune(self, before: float) -> None:
        """Delete nodes that were killed long ago."""
        async with self._database.writing() as db:
            await db.execute(delete(nodes).where(nodes.c.seen < before))
