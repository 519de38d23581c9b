"""Transactions that change users, roles, departments and menus, each whole or not at all.

They run one after another, on all nodes together, so what one has read cannot change before it commits. Permissions
are checked against the rows that are changed, and of two administrators who demote each other at once the second one
is refused: one administrator remains, if there was one before.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import delete, func, insert, select, text, update
from sqlalchemy.exc import IntegrityError

from gatehouse.common.name_key import name_key
from gatehouse.stores.database import audit_trail, outbox
from gatehouse.stores.database.departments import DepartmentWrites, below
from gatehouse.stores.database.identity_sources import DIRECTORY, SourceWrites
from gatehouse.stores.database.menus import MenuWrites
from gatehouse.stores.database.oauth_clients import ClientWrites
from gatehouse.stores.database.passkeys import delete_passkeys
from gatehouse.stores.database.roles import insert_role
from gatehouse.stores.database.row_changes import set_columns
from gatehouse.stores.database.schema import (
    departments,
    external_identities,
    identity_sources,
    role_departments,
    role_perms,
    roles,
    user_roles,
    users,
)
from gatehouse.stores.database.totp_and_recovery_codes import delete_totp
from gatehouse.stores.database.users import COLUMNS, User, insert_user, replace_password_hash, update_user
from gatehouse.stores.errors import Duplicate, LastAdministrator, Missing

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Sequence

    from sqlalchemy.ext.asyncio import AsyncConnection

    from gatehouse.stores.database.audit_trail import AuditEntry
    from gatehouse.stores.database.outbox import Delivery, NewDelivery
    from gatehouse.stores.database.roles import NewRole, RoleChange
    from gatehouse.stores.database.sql_engine import Database
    from gatehouse.stores.database.users import NewUser, UserChange

# Users whose password a directory checks.
_ELSEWHERE = (
    select(external_identities.c.user)
    .join(identity_sources, identity_sources.c.id == external_identities.c.source)
    .where(identity_sources.c.kind == DIRECTORY)
)

ADVISORY_LOCK = 0x6761_7465_0002


@dataclass(frozen=True, slots=True)
class StoredRole:
    """A role, as read inside the transaction."""

    id: int
    code: str
    name: str
    enabled: bool
    sort: int
    data_scope: int
    perms: frozenset[str]
    departments: frozenset[int]


@dataclass(frozen=True, slots=True)
class Target:
    """A user, as read inside the transaction, with all roles that it holds, enabled or not."""

    user: User
    roles: tuple[StoredRole, ...]


class AccountTransactions:
    def __init__(self, database: Database, makes_administrator: Callable[[str, frozenset[str]], bool]) -> None:
        """`makes_administrator` says of a role's code and perms whether its holders are administrators."""
        self._database = database
        self._makes_administrator = makes_administrator

    @asynccontextmanager
    async def begin(self) -> AsyncIterator[AccountTransaction]:
        async with self._database.writing() as db:
            if db.dialect.name == "postgresql":  # SQLite has one writer at a time anyway
                await db.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": ADVISORY_LOCK})
            before = await self._has_administrator(db)  # where there was no administrator, none can be lost
            yield AccountTransaction(db)
            if before and not await self._has_administrator(db):
                raise LastAdministrator("one enabled administrator must remain: make another one first")

    async def _has_administrator(self, db: AsyncConnection) -> bool:
        """Whether there is an enabled administrator who can log in by a password of our own, whatever else is down."""
        perms: dict[tuple[int, str], set[str]] = {}
        for row in await db.execute(
            select(roles.c.id, roles.c.code, role_perms.c.perm).outerjoin(role_perms).where(roles.c.enabled)
        ):
            perms.setdefault((row.id, row.code), set()).add(row.perm or "")
        chosen = [role for (role, code), given in perms.items() if self._makes_administrator(code, frozenset(given))]
        holders = await db.execute(
            select(users.c.department)
            .join(user_roles, user_roles.c.user == users.c.id)
            .where(
                user_roles.c.role.in_(chosen),
                users.c.enabled,
                users.c.password_hash != "",
                users.c.id.not_in(_ELSEWHERE),
            )
            .distinct()
        )
        departments_with_admins = {row.department for row in holders}
        disabled = (await db.scalars(select(departments.c.id).where(~departments.c.enabled))).all()
        return bool(
            departments_with_admins - set(await db.scalars(below(disabled))) if disabled else departments_with_admins
        )


class AccountTransaction(DepartmentWrites, MenuWrites, SourceWrites, ClientWrites):
    """One open transaction."""

    def __init__(self, db: AsyncConnection) -> None:
        self.db = db

    async def record(self, entries: Sequence[AuditEntry]) -> None:
        if entries:
            await audit_trail.write(self.db, entries)

    async def enqueue(self, new: NewDelivery) -> Delivery:
        """Add to the outbox."""
        return await outbox.add(self.db, new)

    # Users

    async def targets(self, ids: Sequence[int]) -> list[Target]:
        """`Missing` unless all of them are there."""
        found = {row.id: User(*row) for row in await self.db.execute(select(*COLUMNS).where(users.c.id.in_(ids)))}
        for user in ids:
            if user not in found:
                raise Missing(f"there is no user {user}")
        held: dict[int, list[int]] = {}
        for row in await self.db.execute(select(user_roles).where(user_roles.c.user.in_(ids))):
            held.setdefault(row.user, []).append(row.role)
        known = {role.id: role for role in await self.roles({role for some in held.values() for role in some})}
        return [Target(found[user], tuple(known[role] for role in sorted(held.get(user, ())))) for user in ids]

    async def add_user(self, new: NewUser) -> int:
        return await insert_user(self.db, new)

    async def is_name_taken(self, username: str, user: int) -> bool:
        """By another user than this one."""
        taken = users.c.name_key == name_key(username), users.c.id != user
        return await self.db.scalar(select(users.c.id).where(*taken)) is not None

    async def set_user(self, user: int, change: UserChange) -> None:
        await update_user(self.db, user, change)

    async def replace_password_hash(self, user: int, old: str, new: str) -> bool:
        """Set the hash if it still is `old`."""
        return await replace_password_hash(self.db, user, old, new)

    async def replace_roles(self, user: int, wanted: Iterable[int]) -> None:
        """Those that stay keep their mark of who decides about them."""
        wanted, held = set(wanted), user_roles.c.user == user
        await self.db.execute(delete(user_roles).where(held, user_roles.c.role.not_in(wanted)))
        before = set(await self.db.scalars(select(user_roles.c.role).where(held)))
        rows = [{"user": user, "role": role} for role in sorted(wanted - before)]
        if rows:
            await self.db.execute(insert(user_roles), rows)

    async def remove_factors(self, user: int) -> tuple[bool, int]:
        """Remove authenticator app and passkeys; whether an app was on, and how many passkeys there were."""
        return await delete_totp(self.db, user), await delete_passkeys(self.db, user)

    async def delete_users(self, ids: Sequence[int]) -> None:
        await self.db.execute(delete(users).where(users.c.id.in_(ids)))

    # Roles

    async def roles(self, ids: Iterable[int]) -> list[StoredRole]:
        """`Missing` unless all of them are there."""
        wanted = sorted(set(ids))
        found = {row.id: row for row in await self.db.execute(select(roles).where(roles.c.id.in_(wanted)))}
        for role in wanted:
            if role not in found:
                raise Missing(f"there is no role {role}")
        perms = await _perms(self.db, found)
        chosen: dict[int, set[int]] = {}
        for row in await self.db.execute(select(role_departments).where(role_departments.c.role.in_(wanted))):
            chosen.setdefault(row.role, set()).add(row.department)
        return [
            StoredRole(
                id=row.id,
                code=row.code,
                name=row.name,
                enabled=row.enabled,
                sort=row.sort,
                data_scope=row.data_scope,
                perms=perms[row.id],
                departments=frozenset(chosen.get(row.id, ())),
            )
            for row in found.values()
        ]

    async def known_roles(self, codes: Iterable[str]) -> list[StoredRole]:
        """Those of the codes that are there."""
        query = select(roles.c.id).where(roles.c.code.in_(list(codes)))
        return await self.roles(await self.db.scalars(query))

    async def roles_by_code(self, codes: Iterable[str]) -> list[StoredRole]:
        wanted = list(dict.fromkeys(codes))
        query = select(roles.c.code, roles.c.id).where(roles.c.code.in_(wanted))
        found = {row.code: row.id for row in await self.db.execute(query)}
        for code in wanted:
            if code not in found:
                raise Missing(f"there is no role {code!r}")
        return await self.roles(found.values())

    async def holders(self, role: int) -> dict[int, int]:
        """The departments of the users who hold the role."""
        held = select(users.c.id, users.c.department).join(user_roles, user_roles.c.user == users.c.id)
        return {row.id: row.department for row in await self.db.execute(held.where(user_roles.c.role == role))}

    async def holders_by_code(self, code: str) -> list[int]:
        held = select(user_roles.c.user).join(roles, roles.c.id == user_roles.c.role).where(roles.c.code == code)
        return list(await self.db.scalars(held))

    async def add_role(self, new: NewRole) -> int:
        return await insert_role(self.db, new)

    async def set_role(self, role: int, change: RoleChange) -> None:
        try:
            await self.db.execute(update(roles).where(roles.c.id == role).values(**set_columns(change)))
        except IntegrityError:
            raise Duplicate(f"there is a role {change.code!r} already") from None

    async def delete_roles(self, ids: Sequence[int]) -> None:
        await self.db.execute(delete(roles).where(roles.c.id.in_(ids)))

    async def allow(self, role: int, perms: Iterable[str]) -> None:
        """Perms that the role does not give yet."""
        rows = [{"role": role, "perm": perm} for perm in dict.fromkeys(perms)]
        if rows:
            await self.db.execute(insert(role_perms), rows)

    async def deny(self, role: int, perms: Iterable[str]) -> None:
        await self.db.execute(delete(role_perms).where(role_perms.c.role == role, role_perms.c.perm.in_(list(perms))))

    async def replace_departments(self, role: int, wanted: Iterable[int]) -> None:
        """The departments that the role's data scope is about."""
        rows = [{"role": role, "department": department} for department in sorted(set(wanted))]
        known = select(func.count()).where(departments.c.id.in_([row["department"] for row in rows]))
        if await self.db.scalar(known) != len(rows):
            raise Missing("one of the departments does not exist")
        await self.db.execute(delete(role_departments).where(role_departments.c.role == role))
        if rows:
            await self.db.execute(insert(role_departments), rows)


async def _perms(db: AsyncConnection, role_ids: Iterable[int]) -> dict[int, frozenset[str]]:
    given: dict[int, set[str]] = {role: set() for role in role_ids}
    for row in await db.execute(select(role_perms).where(role_perms.c.role.in_(list(given)))):
        given[row.role].add(row.perm)
    return {role: frozenset(perms) for role, perms in given.items()}
