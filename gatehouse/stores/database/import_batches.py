"""Many accounts at once: what an import reads and writes. Each write is one transaction, its audit events included."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from sqlalchemy import delete, insert, or_, select, text, update
from sqlalchemy.exc import IntegrityError

from gatehouse.stores.database import audit_trail, outbox
from gatehouse.stores.database.departments import DepartmentChange, below
from gatehouse.stores.database.menus import MenuType
from gatehouse.stores.database.roles import NewRole
from gatehouse.stores.database.row_changes import set_columns
from gatehouse.stores.database.schema import (
    departments,
    menus,
    role_departments,
    role_menus,
    role_perms,
    roles,
    user_roles,
    users,
)
from gatehouse.stores.database.sql_engine import new_id
from gatehouse.stores.database.users import COLUMNS, user_columns, with_role_codes
from gatehouse.stores.errors import Duplicate

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sqlalchemy.ext.asyncio import AsyncConnection

    from gatehouse.stores.database.audit_trail import AuditEntry
    from gatehouse.stores.database.departments import Department
    from gatehouse.stores.database.menus import Menu
    from gatehouse.stores.database.outbox import Delivery, NewDelivery
    from gatehouse.stores.database.roles import Role
    from gatehouse.stores.database.sql_engine import Database
    from gatehouse.stores.database.users import NewUser, User, UserChange


@dataclass(frozen=True, slots=True)
class ExistingUser:
    """A user with the codes of all roles it holds, enabled or not."""

    user: User
    roles: frozenset[str]


@dataclass(frozen=True, slots=True)
class AddedUser:
    """A user to insert; without an id the database assigns one, which is put into `entry`."""

    id: int | None
    new: NewUser
    roles: Sequence[str]
    entry: AuditEntry


@dataclass(frozen=True, slots=True)
class ChangedUser:
    """What to set of a user, and all of its roles unless they are None."""

    user: int
    change: UserChange
    roles: Sequence[str] | None
    entries: Sequence[AuditEntry]


@dataclass(frozen=True, slots=True)
class Batch:
    """Users to write at once. Removals come first, so that what is added may take their ids and names."""

    removed: Sequence[AuditEntry]
    added: Sequence[AddedUser]
    changed: Sequence[ChangedUser]


class ImportBatches:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def existing(self, name_keys: Sequence[str], ids: Sequence[int]) -> Sequence[ExistingUser]:
        """Every user who has one of these names or ids."""
        wanted = or_(users.c.name_key.in_(name_keys), users.c.id.in_(ids))
        async with self._database.reading() as db:
            found = await with_role_codes(db, select(*COLUMNS).where(wanted))
        return [ExistingUser(user, frozenset(codes)) for user, codes in found]

    async def write_users(self, batch: Batch, new: NewDelivery) -> Delivery:
        """Returns what is in the outbox with it, for the caller to deliver."""
        try:
            return await self._write_users(batch, new)
        except IntegrityError:
            raise Duplicate("another process is changing the same users right now: run the import again") from None

    async def _write_users(self, batch: Batch, new: NewDelivery) -> Delivery:
        async with self._database.writing() as db:
            role_ids = {row.code: row.id for row in await db.execute(select(roles.c.code, roles.c.id))}
            entries = list(batch.removed)
            await db.execute(delete(users).where(users.c.id.in_([entry.user for entry in batch.removed])))
            links: list[dict[str, int]] = []
            for number, one in await _insert_users(db, batch.added):
                links += [{"user": number, "role": role_ids[code]} for code in one.roles]
                entries.append(one.entry._replace(user=number))
            for changed in batch.changed:
                if columns := set_columns(changed.change):
                    await db.execute(update(users).where(users.c.id == changed.user).values(**columns))
                if changed.roles is not None:
                    by_hand = user_roles.c.user == changed.user, user_roles.c.source.is_(None)
                    await db.execute(delete(user_roles).where(*by_hand))
                    decided = set(await db.scalars(select(user_roles.c.role).where(user_roles.c.user == changed.user)))
                    wanted = {role_ids[code] for code in changed.roles} - decided
                    links += [{"user": changed.user, "role": role} for role in sorted(wanted)]
                entries += changed.entries
            if links:
                await db.execute(insert(user_roles), links)
            await _record(db, entries)
            return await outbox.add(db, new)

    async def write_roles(self, wanted: Sequence[Role], entries: Sequence[AuditEntry]) -> None:
        """Insert or update each role by its code, perms included."""
        async with self._database.writing() as db:
            for role in wanted:
                columns = asdict(NewRole(role.code, role.name, role.enabled, role.sort, role.data_scope, role.created))
                number = await db.scalar(select(roles.c.id).where(roles.c.code == role.code))
                if number is None:
                    number = new_id(await db.execute(insert(roles).values(**columns)))
                else:
                    await db.execute(update(roles).where(roles.c.id == number).values(**columns))
                    await db.execute(delete(role_perms).where(role_perms.c.role == number))
                    await db.execute(delete(role_departments).where(role_departments.c.role == number))
                if role.perms:
                    await db.execute(insert(role_perms), [{"role": number, "perm": perm} for perm in role.perms])
                if role.departments:
                    chosen = [{"role": number, "department": department} for department in role.departments]
                    await db.execute(insert(role_departments), chosen)
            await _record(db, entries)

    async def people_below(self, tops: Sequence[int]) -> Sequence[int]:
        """Everybody in these departments and in those below them."""
        async with self._database.reading() as db:
            return (await db.scalars(select(users.c.id).where(users.c.department.in_(below(tops))))).all()

    async def write_departments(self, wanted: Sequence[Department], entries: Sequence[AuditEntry]) -> None:
        """Insert or update each department under its own id; parents come before their children."""
        async with self._database.writing() as db:
            known = set(await db.scalars(select(departments.c.id)))
            # A department may become a child of its own descendant, so all are inserted before the parents are set.
            for one in wanted:
                if one.id not in known:
                    await db.execute(insert(departments).values(id=one.id, name=one.name))
            for one in wanted:
                values = DepartmentChange(
                    name=one.name, parent=one.parent, code=one.code, sort=one.sort, enabled=one.enabled
                )
                await db.execute(update(departments).where(departments.c.id == one.id).values(**set_columns(values)))
            await _skip_used_ids(db, "departments")
            await _record(db, entries)

    async def write_menus(
        self,
        wanted: Sequence[Menu],
        gone: Sequence[int],
        assigned: Mapping[str, Iterable[int]],
        entries: Sequence[AuditEntry],
    ) -> None:
        """Delete menus, insert or update the wanted ones under their own ids, and set the menus of each role."""
        async with self._database.writing() as db:
            await db.execute(update(menus).where(menus.c.id.in_(gone)).values(parent=None))
            await db.execute(delete(menus).where(menus.c.id.in_(gone)))
            known = set(await db.scalars(select(menus.c.id)))
            # As with departments: all are inserted before the parents are set.
            for one in wanted:
                if one.id not in known:
                    await db.execute(insert(menus).values(**asdict(replace(one, parent=None))))
            for one in wanted:
                await db.execute(update(menus).where(menus.c.id == one.id).values(**asdict(one)))
            await _skip_used_ids(db, "menus")
            shown = set(await db.scalars(select(menus.c.id).where(menus.c.type != MenuType.BUTTON.value)))
            for code, ids in assigned.items():
                role = await db.scalar(select(roles.c.id).where(roles.c.code == code))
                if role is not None:
                    await db.execute(delete(role_menus).where(role_menus.c.role == role))
                    links = [{"role": role, "menu": menu} for menu in sorted(set(ids) & shown)]
                    if links:
                        await db.execute(insert(role_menus), links)
            await _record(db, entries)


async def _insert_users(db: AsyncConnection, added: Sequence[AddedUser]) -> list[tuple[int, AddedUser]]:
    """Insert them; each with its id."""
    inserted = [(one.id, one) for one in added if one.id]
    if inserted:
        await db.execute(insert(users), [{"id": number, **user_columns(one.new)} for number, one in inserted])
        await _skip_used_ids(db, "users")
    return inserted + [
        (new_id(await db.execute(insert(users).values(**user_columns(one.new)))), one) for one in added if not one.id
    ]


async def _record(db: AsyncConnection, entries: Sequence[AuditEntry]) -> None:
    if entries:
        await audit_trail.write(db, entries)


async def _skip_used_ids(db: AsyncConnection, table: str) -> None:
    """Rows were inserted with their own ids, so the sequence must continue behind them. SQLite does so by itself."""
    if db.dialect.name == "postgresql":
        await db.execute(
            text(
                f"SELECT setval(pg_get_serial_sequence('{table}', 'id'),"  # noqa: S608 - our own table names
                f" greatest((SELECT max(id) FROM {table}), nextval(pg_get_serial_sequence('{table}', 'id'))))"
            )
        )
