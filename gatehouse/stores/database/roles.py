"""Roles and the perms they give."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from msgspec import UNSET, UnsetType
from sqlalchemy import func, insert, select
from sqlalchemy.exc import IntegrityError

from gatehouse.stores.database.row_changes import RowChange
from gatehouse.stores.database.schema import role_departments, role_perms, roles, user_roles
from gatehouse.stores.database.sql_engine import new_id
from gatehouse.stores.errors import Duplicate, Missing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy.ext.asyncio import AsyncConnection

    from gatehouse.stores.database.sql_engine import Database


class DataScope(IntEnum):
    """Which rows a business backend shows to the holders of a role."""

    ALL = 1
    DEPARTMENT_AND_BELOW = 2
    DEPARTMENT = 3
    OWN = 4
    CHOSEN = 5


@dataclass(frozen=True, slots=True)
class Role:
    id: int
    code: str
    name: str
    enabled: bool
    perms: tuple[str, ...]
    users: int  # how many hold it
    sort: int = 0
    data_scope: int = DataScope.OWN
    created: float = 0.0
    departments: tuple[int, ...] = ()  # those chosen, if that is the data scope


@dataclass(frozen=True, slots=True)
class NewRole:
    code: str
    name: str
    enabled: bool = True
    sort: int = 0
    data_scope: int = DataScope.OWN
    created: float = 0.0


class RoleChange(RowChange, frozen=True, kw_only=True):
    code: str | UnsetType = UNSET
    name: str | UnsetType = UNSET
    enabled: bool | UnsetType = UNSET
    sort: int | UnsetType = UNSET
    data_scope: int | UnsetType = UNSET


class Roles:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self) -> Sequence[Role]:
        async with self._database.reading() as db:
            rows = (await db.execute(select(roles).order_by(roles.c.code))).all()
            perms: dict[int, list[str]] = {}
            for row in await db.execute(select(role_perms).order_by(role_perms.c.perm)):
                perms.setdefault(row.role, []).append(row.perm)
            chosen: dict[int, list[int]] = {}
            for row in await db.execute(select(role_departments).order_by(role_departments.c.department)):
                chosen.setdefault(row.role, []).append(row.department)
            holders = {
                row.role: row.number
                for row in await db.execute(
                    select(user_roles.c.role, func.count().label("number")).group_by(user_roles.c.role)
                )
            }
        return [
            Role(
                id=row.id,
                code=row.code,
                name=row.name,
                enabled=row.enabled,
                perms=tuple(perms.get(row.id, ())),
                users=holders.get(row.id, 0),
                sort=row.sort,
                data_scope=row.data_scope,
                created=row.created,
                departments=tuple(chosen.get(row.id, ())),
            )
            for row in rows
        ]

    async def get(self, role: int) -> Role:
        found = next((each for each in await self.all() if each.id == role), None)
        if found is None:
            raise Missing(f"there is no role {role}")
        return found

    async def by_code(self, code: str) -> Role | None:
        return next((role for role in await self.all() if role.code == code), None)

    async def holders(self, role: int) -> Sequence[int]:
        """Ids of the users who hold the role."""
        async with self._database.reading() as db:
            return (await db.scalars(select(user_roles.c.user).where(user_roles.c.role == role))).all()

    async def add(self, new: NewRole, perms: Sequence[str] = ()) -> int:
        async with self._database.writing() as db:
            role = await insert_role(db, new)
            for perm in dict.fromkeys(perms):
                await db.execute(insert(role_perms).values(role=role, perm=perm))
        return role

    async def allow(self, role: int, perms: Sequence[str]) -> None:
        async with self._database.writing() as db:
            given = set(await db.scalars(select(role_perms.c.perm).where(role_perms.c.role == role)))
            for perm in dict.fromkeys(perms):
                if perm not in given:
                    await db.execute(insert(role_perms).values(role=role, perm=perm))


async def insert_role(db: AsyncConnection, new: NewRole) -> int:
    try:
        return new_id(await db.execute(insert(roles).values(**asdict(new))))
    except IntegrityError:
        raise Duplicate(f"there is a role {new.code!r} already") from None
