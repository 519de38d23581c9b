"""Users and the roles they hold."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import UNSET, UnsetType
from sqlalchemy import and_, bindparam, case, func, insert, select, union, update
from sqlalchemy.exc import IntegrityError

from gatehouse.common.name_key import name_key
from gatehouse.stores.database.departments import require_department
from gatehouse.stores.database.roles import DataScope
from gatehouse.stores.database.row_changes import RowChange, set_columns
from gatehouse.stores.database.schema import (
    departments,
    menus,
    role_departments,
    role_perms,
    roles,
    totp_secrets,
    user_roles,
    users,
)
from gatehouse.stores.database.sql_engine import new_id
from gatehouse.stores.errors import Duplicate, Missing

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy import Select
    from sqlalchemy.ext.asyncio import AsyncConnection

    from gatehouse.stores.database.sql_engine import Database


@dataclass(frozen=True, slots=True)
class User:
    id: int
    username: str
    nickname: str
    avatar: str
    department: int
    password_hash: str  # empty: no password is set yet
    enabled: bool
    captcha_exempt: bool
    created: float
    gender: int = 0  # 1 male, 2 female, 0 unknown
    mobile: str = ""
    email: str = ""
    claims: str | None = None  # JSON: `auth/oauth/standard_claims.py`
    changed: float | None = None  # None: not since it was added


class Credentials(NamedTuple):
    """What a login is checked against."""

    user: User
    password_login: bool
    totp: bytes | None  # the sealed secret, if the factor is on


@dataclass(frozen=True, slots=True)
class NewUser:
    username: str
    nickname: str
    password_hash: str
    department: int
    created: float
    avatar: str = ""
    enabled: bool = True
    captcha_exempt: bool = False
    gender: int = 0
    mobile: str = ""
    email: str = ""
    claims: str | None = None


class UserChange(RowChange, frozen=True, kw_only=True):
    username: str | UnsetType = UNSET
    nickname: str | UnsetType = UNSET
    avatar: str | UnsetType = UNSET
    department: int | UnsetType = UNSET
    password_hash: str | UnsetType = UNSET
    enabled: bool | UnsetType = UNSET
    captcha_exempt: bool | UnsetType = UNSET
    gender: int | UnsetType = UNSET
    mobile: str | UnsetType = UNSET
    email: str | UnsetType = UNSET
    claims: str | UnsetType | None = UNSET


class RoleDataScope(NamedTuple):
    """Which rows a role shows in a business backend; `departments` are chosen ones, and only with scope 5."""

    role: str
    scope: int
    departments: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Profile:
    """A user with the codes of its enabled roles, the perms they give and their data scopes, each sorted.

    In a disabled department, or below one, users have none.
    """

    user: User
    roles: tuple[str, ...]
    perms: tuple[str, ...]
    data_scopes: tuple[RoleDataScope, ...] = ()


COLUMNS = [users.c[name] for name in User.__dataclass_fields__]

# The query of every login, built once.
_BY_NAME = select(*COLUMNS).where(users.c.name_key == bindparam("name"))
_WITH_FACTOR = select(*COLUMNS, users.c.password_login, totp_secrets.c.sealed).outerjoin(
    totp_secrets, and_(totp_secrets.c.user == users.c.id, totp_secrets.c.confirmed.is_not(None))
)
_CREDENTIALS = _WITH_FACTOR.where(users.c.name_key == bindparam("name"))
_CREDENTIALS_BY_ID = _WITH_FACTOR.where(users.c.id == bindparam("user"))
_BY_ID = select(*COLUMNS).where(users.c.id == bindparam("user"))
_ENABLED_ROLES = (
    select(roles.c.id, roles.c.code, roles.c.data_scope)
    .join(user_roles, user_roles.c.role == roles.c.id)
    .where(user_roles.c.user == bindparam("user"), roles.c.enabled)
    .order_by(roles.c.code)
)
_PERMS = (
    select(role_perms.c.perm)
    .where(role_perms.c.role.in_(bindparam("roles", expanding=True)))
    .distinct()
    .order_by(role_perms.c.perm)
)
_CHOSEN_DEPARTMENTS = (
    select(role_departments.c.role, role_departments.c.department)
    .where(role_departments.c.role.in_(bindparam("roles", expanding=True)))
    .order_by(role_departments.c.department)
)
_EVERY_PERM = union(select(role_perms.c.perm), select(menus.c.perm).where(menus.c.perm != ""))


def _disabled_above() -> Select[Any]:
    """The disabled ones among a department and those above it."""
    way_up = (
        select(departments.c.id, departments.c.parent, departments.c.enabled)
        .where(departments.c.id == bindparam("department"))
        .cte("way_up", recursive=True)
    )
    # UNION without ALL stops at cycles.
    way_up = way_up.union(
        select(departments.c.id, departments.c.parent, departments.c.enabled).where(departments.c.id == way_up.c.parent)
    )
    return select(way_up.c.id).where(~way_up.c.enabled)


_DISABLED_ABOVE = _disabled_above()


class Users:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def by_name(self, username: str) -> User | None:
        found = await self._database.fetch_rows(_BY_NAME, name=name_key(username))
        return User(*found[0]) if found else None

    async def credentials(self, username: str) -> Credentials | None:
        return await self.credentials_of(name_key(username))

    async def credentials_of(self, key: str) -> Credentials | None:
        """User and second factor of a name's key in one read, so that those without one lose no time at login."""
        return _credentials(await self._database.fetch_rows(_CREDENTIALS, name=key))

    async def credentials_by_id(self, user: int) -> Credentials | None:
        return _credentials(await self._database.fetch_rows(_CREDENTIALS_BY_ID, user=user))

    async def profile(self, user: int) -> Profile | None:
        # Not in one transaction: a change in between raises the user's epoch, so the profile is read again.
        found = await self._database.fetch_rows(_BY_ID, user=user)
        if not found:
            return None
        profile = User(*found[0])
        if await self._database.fetch_rows(_DISABLED_ABOVE, department=profile.department):
            return Profile(profile, (), ())
        enabled = await self._database.fetch_rows(_ENABLED_ROLES, user=user)
        perms = await self._database.fetch_rows(_PERMS, roles=[role.id for role in enabled])
        chosen = await self._chosen_departments([role.id for role in enabled if role.data_scope == DataScope.CHOSEN])
        return Profile(
            profile,
            tuple(role.code for role in enabled),
            tuple(row.perm for row in perms),
            tuple(RoleDataScope(role.code, role.data_scope, tuple(chosen.get(role.id, ()))) for role in enabled),
        )

    async def _chosen_departments(self, role_ids: Sequence[int]) -> dict[int, list[int]]:
        chosen: dict[int, list[int]] = {}
        if role_ids:
            for row in await self._database.fetch_rows(_CHOSEN_DEPARTMENTS, roles=role_ids):
                chosen.setdefault(row.role, []).append(row.department)
        return chosen

    async def every_perm(self) -> Sequence[str]:
        """All perms that some role gives or some button carries."""
        return [row.perm for row in await self._database.fetch_rows(_EVERY_PERM)]

    async def page(self, *, after: int = 0, limit: int = 100, search: str = "") -> Sequence[Profile]:
        """Users in the order of their ids, with the codes of all roles they hold; perms are left out."""
        query = select(*COLUMNS).where(users.c.id > after).order_by(users.c.id).limit(limit)
        if search:
            query = query.where(users.c.name_key.contains(name_key(search), autoescape=True))
        async with self._database.reading() as db:
            return [Profile(user, tuple(codes), ()) for user, codes in await with_role_codes(db, query)]

    async def names(self, ids: Iterable[int]) -> dict[int, str]:
        """Usernames by id, of those that are there."""
        query = select(users.c.id, users.c.username).where(users.c.id.in_(list(ids)))
        async with self._database.reading() as db:
            return {row.id: row.username for row in await db.execute(query)}

    async def ids_by_name_key(self) -> dict[str, int]:
        """Everybody's, for what compares many names at once."""
        async with self._database.reading() as db:
            return {row.name_key: row.id for row in await db.execute(select(users.c.name_key, users.c.id))}

    async def count(self) -> int:
        async with self._database.reading() as db:
            return (await db.scalar(select(func.count()).select_from(users))) or 0

    async def other_hashes(self, usual: str, limit: int) -> list[tuple[float, str]]:
        """The share of users for each scheme and cost of a hash that does not begin with `usual`, and one such hash.

        The most frequent first. Both are in the first 30 characters of an Argon2 hash, and in the first 7 of bcrypt.
        """
        stored, number = users.c.password_hash, func.count().label("number")
        query = (
            select(number, func.max(stored).label("example"))
            .where(stored != "", ~stored.startswith(usual, autoescape=True))
            .group_by(case((stored.startswith("$2"), func.substr(stored, 1, 7)), else_=func.substr(stored, 1, 30)))
            .order_by(number.desc())
            .limit(limit)
        )
        async with self._database.reading() as db:
            rows = (await db.execute(query)).all()
            total = await db.scalar(select(func.count()).select_from(users)) if rows else 0
        return [(row.number / (total or row.number), row.example) for row in rows]

    async def add(self, new: NewUser, role_codes: Sequence[str] = ()) -> int:
        async with self._database.writing() as db:
            user = await insert_user(db, new)
            for role in await _role_ids(db, role_codes):
                await db.execute(insert(user_roles).values(user=user, role=role))
        return user

    async def replace_password_hash(self, user: int, old: str, new: str) -> bool:
        """Set the hash if it still is `old`: a hash made from an outdated password must not undo a change."""
        async with self._database.writing() as db:
            return await replace_password_hash(db, user, old, new)


def _credentials(found: Sequence[Any]) -> Credentials | None:
    if not found:
        return None
    *columns, password_login, totp = found[0]
    return Credentials(User(*columns), password_login, totp)


async def replace_password_hash(db: AsyncConnection, user: int, old: str, new: str) -> bool:
    result = await db.execute(
        update(users).where(users.c.id == user, users.c.password_hash == old).values(password_hash=new)
    )
    return result.rowcount == 1


async def with_role_codes(db: AsyncConnection, query: Select[Any]) -> list[tuple[User, list[str]]]:
    """The users that a query of `COLUMNS` finds, with the codes of all roles they hold, enabled or not, sorted."""
    found = [User(*row) for row in (await db.execute(query)).all()]
    codes: dict[int, list[str]] = {user.id: [] for user in found}
    for row in await db.execute(
        select(user_roles.c.user, roles.c.code)
        .join(roles, roles.c.id == user_roles.c.role)
        .where(user_roles.c.user.in_(list(codes)))
        .order_by(roles.c.code)
    ):
        codes[row.user].append(row.code)
    return [(user, codes[user.id]) for user in found]


def user_columns(new: NewUser) -> dict[str, Any]:
    return {**asdict(new), "name_key": name_key(new.username)}


async def insert_user(db: AsyncConnection, new: NewUser) -> int:
    await require_department(db, new.department)
    try:
        result = await db.execute(insert(users).values(**user_columns(new)))
    except IntegrityError:
        raise Duplicate(f"there is a user {new.username!r} already") from None
    return new_id(result)


async def update_user(db: AsyncConnection, user: int, change: UserChange) -> None:
    """A new username is also the key that the user is looked up by."""
    columns = set_columns(change)
    if change.username is not UNSET:
        columns["name_key"] = name_key(change.username)
    if change.department is not UNSET:
        await require_department(db, change.department)
    try:
        result = await db.execute(update(users).where(users.c.id == user).values(**columns))
    except IntegrityError:
        raise Duplicate(f"there is a user {change.username!r} already") from None
    if result.rowcount == 0:
        raise Missing(f"there is no user {user}")


async def _role_ids(db: AsyncConnection, codes: Sequence[str]) -> list[int]:
    found = {row.code: row.id for row in await db.execute(select(roles).where(roles.c.code.in_(codes)))}
    for code in codes:
        if code not in found:
            raise Missing(f"there is no role {code!r}")
    return list(found.values())
