"""Departments: a tree that every user has a place in."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, UnsetType
from sqlalchemy import delete, func, insert, select, update

from gatehouse.stores.database.row_changes import RowChange, set_columns
from gatehouse.stores.database.schema import departments, user_roles, users
from gatehouse.stores.database.sql_engine import new_id
from gatehouse.stores.database.tree_depth import require_depth
from gatehouse.stores.errors import InUse, Missing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Select
    from sqlalchemy.ext.asyncio import AsyncConnection

    from gatehouse.stores.database.sql_engine import Database


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


@dataclass(frozen=True, slots=True)
class NewDepartment:
    name: str
    parent: int | None = None
    code: str = ""
    sort: int = 0
    enabled: bool = True
    created: float = 0.0


class DepartmentChange(RowChange, frozen=True, kw_only=True):
    name: str | UnsetType = UNSET
    parent: int | UnsetType | None = UNSET
    code: str | UnsetType = UNSET
    sort: int | UnsetType = UNSET
    enabled: bool | UnsetType = UNSET


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
        return [_department(row, members.get(row.id, 0)) for row in rows]

    async def add(self, name: str, parent: int | None) -> int:
        async with self._database.writing() as db:
            if parent is not None:
                await require_department(db, parent)
            result = await db.execute(insert(departments).values(name=name, parent=parent))
        return new_id(result)


class DepartmentWrites:
    """What one transaction does to departments; see `account_transactions.py`."""

    db: AsyncConnection

    async def add_department(self, new: NewDepartment) -> int:
        if new.parent is not None:
            await require_department(self.db, new.parent)
        department = new_id(await self.db.execute(insert(departments).values(**asdict(new))))
        await require_depth(self.db, departments, department)
        return department

    async def department(self, department: int) -> Department:
        row = (await self.db.execute(select(departments).where(departments.c.id == department))).first()
        if row is None:
            raise Missing(f"there is no department {department}")
        return _department(row)

    async def department_parents(self) -> dict[int, int | None]:
        """The department above each."""
        return {row.id: row.parent for row in await self.db.execute(select(departments.c.id, departments.c.parent))}

    async def set_department(self, department: int, change: DepartmentChange) -> None:
        await require_department(self.db, department)
        if change.parent is not UNSET and change.parent is not None:
            await require_department(self.db, change.parent)
            if change.parent in set(await self.db.scalars(below([department]))):
                raise InUse(f"department {department} cannot be below itself")
        await self.db.execute(update(departments).where(departments.c.id == department).values(**set_columns(change)))
        if change.parent is not UNSET:
            await require_depth(self.db, departments, department)

    async def delete_departments(self, ids: Sequence[int]) -> None:
        """All of them, or none. Nothing may be left in them or below them."""
        for department in ids:
            await require_department(self.db, department)
        if await self.db.scalar(select(func.count()).where(users.c.department.in_(ids))):
            raise InUse(f"department {_joined(ids)} still has users: move them first")
        under = select(func.count()).where(departments.c.parent.in_(ids), departments.c.id.not_in(ids))
        if await self.db.scalar(under):
            raise InUse(f"department {_joined(ids)} still has departments below it")
        if not await self.db.scalar(select(func.count()).where(departments.c.id.not_in(ids))):
            raise InUse("the last department cannot be deleted: every user belongs to one")
        # Children are deleted before their parents.
        await self.db.execute(update(departments).where(departments.c.id.in_(ids)).values(parent=None))
        await self.db.execute(delete(departments).where(departments.c.id.in_(ids)))

    async def people_in(self, department: int) -> list[int]:
        """Ids of the users in the department and below it."""
        return list(await self.db.scalars(select(users.c.id).where(users.c.department.in_(below([department])))))

    async def roles_in(self, department: int, *, but: int | None) -> list[int]:
        """Ids of the roles that users in the department and below it hold, enabled or not; `but` is left out."""
        members = select(users.c.id).where(
            users.c.department.in_(below([department])), users.c.id.is_distinct_from(but)
        )
        return list(await self.db.scalars(select(user_roles.c.role).where(user_roles.c.user.in_(members)).distinct()))

    async def is_in_force(self, department: int) -> bool:
        """Whether neither it nor a department above it is disabled."""
        disabled = list(await self.db.scalars(select(departments.c.id).where(~departments.c.enabled)))
        return not disabled or department not in set(await self.db.scalars(below(disabled)))


def _joined(ids: Sequence[int]) -> str:
    return ", ".join(str(each) for each in ids)


def _department(row: Any, members: int = 0) -> Department:
    return Department(row.id, row.name, row.parent, members, row.code, row.sort, row.enabled, row.created)


def below(tops: Sequence[int]) -> Select[Any]:
    """The ids of these departments and of all below them."""
    tree = select(departments.c.id).where(departments.c.id.in_(tops)).cte("tree", recursive=True)
    # UNION without ALL stops at cycles.
    tree = tree.union(select(departments.c.id).where(departments.c.parent == tree.c.id))
    return select(tree.c.id)


async def require_department(db: AsyncConnection, department: int) -> None:
    if await db.scalar(select(departments.c.id).where(departments.c.id == department)) is None:
        raise Missing(f"there is no department {department}")
