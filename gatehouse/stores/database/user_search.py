"""Users as the console lists them: filtered, sorted, a page at a time, with the names of departments and roles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import func, or_, select

from gatehouse.common.name_key import name_key
from gatehouse.stores.database.audit_trail import LOGIN
from gatehouse.stores.database.departments import below
from gatehouse.stores.database.schema import audit_events, departments, login_places, roles, user_roles, users
from gatehouse.stores.database.users import COLUMNS, User

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from sqlalchemy import ColumnElement
    from sqlalchemy.ext.asyncio import AsyncConnection

    from gatehouse.stores.database.sql_engine import Database

T = TypeVar("T")

BATCH = 500
# A page is sparse if it takes at most one in this many hits.
SPARSE = 4

# Sort columns. The id is added, so that no user is on two pages.
SORTS = {
    "id": users.c.id,
    "username": users.c.name_key,
    "nickname": users.c.nickname,
    "created": users.c.created,
    "enabled": users.c.enabled,
}


@dataclass(frozen=True, slots=True)
class UserFilter:
    """A field that is not set does not filter."""

    keywords: str = ""  # in the username, the nickname or the mobile number
    enabled: bool | None = None
    has_password: bool | None = None
    department: int | None = None  # and below
    role: int | None = None
    since: float | None = None
    until: float | None = None

    def conditions(self, dialect: str) -> list[ColumnElement[bool]]:
        found: list[ColumnElement[bool]] = []
        department: ColumnElement[int] = users.c.department
        if self.keywords:
            # LIKE has no regard to case in SQLite, and lower() would cost as much as the rest of the search.
            nickname = users.c.nickname.contains if dialect == "sqlite" else users.c.nickname.icontains
            found.append(
                or_(
                    users.c.name_key.contains(name_key(self.keywords), autoescape=True),
                    nickname(self.keywords, autoescape=True),
                    users.c.mobile.contains(self.keywords, autoescape=True),
                )
            )
            # Every entry of ix_users_search is read anyway: by the index on departments it is slower.
            department = _without_index(department)
        if self.enabled is not None:
            found.append(users.c.enabled if self.enabled else ~users.c.enabled)
        if self.department is not None:
            found.append(department.in_(below([self.department])))
        if self.has_password is not None:
            found.append(users.c.password_hash != "" if self.has_password else users.c.password_hash == "")
        if self.role is not None:
            found.append(users.c.id.in_(select(user_roles.c.user).where(user_roles.c.role == self.role)))
        if self.since is not None:
            found.append(users.c.created >= self.since)
        if self.until is not None:
            found.append(users.c.created < self.until)
        return found


@dataclass(frozen=True, slots=True)
class ListedUser:
    user: User
    department: str
    roles: tuple[str, ...]  # their names, whether they are enabled or not


def _without_index(column: ColumnElement[T]) -> ColumnElement[T]:
    """A planner hint: the column's value, in a form that no index on the column matches."""
    return func.coalesce(column, column)


class UserSearch:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(
        self, wanted: UserFilter, *, offset: int, limit: int, sort: str = "id", descending: bool = True
    ) -> tuple[int, list[ListedUser]]:
        """How many there are in all, and those of one page."""
        async with self._database.reading() as db:
            conditions = wanted.conditions(db.dialect.name)
            total = await db.scalar(select(func.count()).select_from(users).where(*conditions)) or 0
            if offset >= total:
                return total, []
            keys: list[ColumnElement[Any]] = [SORTS[sort], users.c.id]
            if conditions and (offset + limit) * SPARSE >= total:
                # Few users match. Walking the index of the order would read nearly every row of the table to filter
                # it. Without it, the planner filters on the narrow index and sorts the hits.
                keys = [_without_index(key) for key in keys]
            order = [key.desc() for key in keys] if descending else keys
            ids = await db.scalars(select(users.c.id).where(*conditions).order_by(*order).offset(offset).limit(limit))
            return total, await _load_users(db, list(ids))

    async def each(self, wanted: UserFilter, limit: int) -> AsyncIterator[list[ListedUser]]:
        """All of them in the order of their ids, in batches; no more than `limit` of them."""
        after, left = 0, limit
        while left > 0:
            async with self._database.reading() as db:
                conditions = wanted.conditions(db.dialect.name)
                query = select(users.c.id).where(users.c.id > after, *conditions).order_by(users.c.id)
                ids = list(await db.scalars(query.limit(min(BATCH, left))))
                found = await _load_users(db, ids)
            if not found:
                return
            yield found
            after, left = ids[-1], left - len(ids)

    async def options(self, limit: int) -> Sequence[tuple[int, str]]:
        """Enabled users by id and nickname."""
        query = select(users.c.id, users.c.nickname).where(users.c.enabled).order_by(users.c.id).limit(limit)
        async with self._database.reading() as db:
            return [(row.id, row.nickname) for row in await db.execute(query)]

    async def last_logins(self, ids: Sequence[int]) -> dict[int, float]:
        """When these users last logged in: by the audit trail, or to within a day if it has been pruned since."""
        login = (
            select(audit_events.c.at)
            .where(audit_events.c.user == users.c.id, audit_events.c.event == LOGIN)
            .order_by(audit_events.c.id.desc())
            .limit(1)
            .scalar_subquery()
        )
        place = select(func.max(login_places.c.last)).where(login_places.c.user == users.c.id).scalar_subquery()
        query = select(users.c.id, func.coalesce(login, place).label("at")).where(users.c.id.in_(ids))
        async with self._database.reading() as db:
            return {row.id: row.at for row in await db.execute(query) if row.at is not None}

    async def role_ids(self, user: int) -> list[int]:
        query = select(user_roles.c.role).where(user_roles.c.user == user).order_by(user_roles.c.role)
        async with self._database.reading() as db:
            return list(await db.scalars(query))


async def _load_users(db: AsyncConnection, ids: Sequence[int]) -> list[ListedUser]:
    """These users, in this order."""
    if not ids:
        return []
    names: dict[int, list[str]] = {}
    for row in await db.execute(
        select(user_roles.c.user, roles.c.name)
        .join(roles, roles.c.id == user_roles.c.role)
        .where(user_roles.c.user.in_(ids))
        .order_by(roles.c.sort, roles.c.id)
    ):
        names.setdefault(row.user, []).append(row.name)
    found: dict[int, ListedUser] = {}
    query: Any = (
        select(*COLUMNS, departments.c.name.label("department_name")).join(departments).where(users.c.id.in_(ids))
    )
    for row in await db.execute(query):
        *columns, department = row
        found[row.id] = ListedUser(User(*columns), department, tuple(names.get(row.id, ())))
    return [found[user] for user in ids if user in found]
