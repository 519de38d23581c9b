"""Departments: a tree that every user has a place in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, func, insert, select, update

from gatehouse.stores.accounts.database import new_id
from gatehouse.stores.accounts.schema import departments, users
from gatehouse.stores.errors import InUse, Missing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Select
    from sqlalchemy.ext.asyncio import AsyncConnection

    from gatehouse.stores.accounts.database import Database


@dataclass(frozen=True, slots=True)
class Department:
    id: int
    name: str
    parent: int | None
    users: int
    code: str = ""
    sort: int = 0
    enabled: bool = True
    created: float = 0.0


class Departments:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self) -> Sequence[Department]:
        async with self._database.reading() as db:
            members = {
                row.department: row.number
                for row in await db.execute(
                    select(users.c.department, func.count().label("number")).group_by(users.c.department)
                )
            }
            rows = (await db.execute(select(departments).order_by(departments.c.id))).all()
        return [
            Department(
                row.id, row.name, row.parent, members.get(row.id, 0), row.code, row.sort, row.enabled, row.created
            )
            for row in rows
        ]

    async def add(self, name: str, parent: int | None) -> int:
        async with self._database.writing() as db:
            if parent is not None:
                await _require(db, parent)
            result = await db.execute(insert(departments).values(name=name, parent=parent))
        return new_id(result)

    async def change(self, department: int, *, name: str | None = None, parent: int | None = None) -> None:
        async with self._database.writing() as db:
            await _require(db, department)
            if name is not None:
                await db.execute(update(departments).where(departments.c.id == department).values(name=name))
            if parent is not None:
                await _require(db, parent)
                if department in await _ancestors(db, parent):
                    raise InUse(f"department {department} cannot stand below itself")
                await db.execute(update(departments).where(departments.c.id == department).values(parent=parent))

    async def delete(self, department: int) -> None:
        async with self._database.writing() as db:
            await _require(db, department)
            if await db.scalar(select(func.count()).where(users.c.department == department)):
                raise InUse(f"department {department} still has users: move them first")
            if await db.scalar(select(func.count()).where(departments.c.parent == department)):
                raise InUse(f"department {department} still has departments below it")
            await db.execute(delete(departments).where(departments.c.id == department))


def below(tops: Sequence[int]) -> Select[Any]:
    """The ids of these departments and of all that stand below them."""
    tree = select(departments.c.id).where(departments.c.id.in_(tops)).cte("tree", recursive=True)
    # UNION without ALL ends even where the tree leads in a circle.
    tree = tree.union(select(departments.c.id).where(departments.c.parent == tree.c.id))
    return select(tree.c.id)


async def _require(db: AsyncConnection, department: int) -> None:
    if await db.scalar(select(departments.c.id).where(departments.c.id == department)) is None:
        raise Missing(f"there is no department {department}")


async def _ancestors(db: AsyncConnection, department: int) -> set[int]:
    """The department itself and everything above it."""
    above: set[int] = set()
    current: int | None = department
    while current is not None and current not in above:
        above.add(current)
        current = await db.scalar(select(departments.c.parent).where(departments.c.id == current))
    return above
