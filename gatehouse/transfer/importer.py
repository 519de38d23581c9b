"""Imports the rows of a source: departments, roles, menus, then users in batches.

Each batch is one transaction, so a run that is killed leaves whole batches behind; running it again finds them
unchanged and continues. After each commit the epochs of changed users are raised, and the sessions of disabled ones
end, as with every other change to accounts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET

from gatehouse.auth.audit import ClientInfo, Event, SessionEndReason
from gatehouse.auth.perms import ROOT
from gatehouse.common.name_key import name_key
from gatehouse.common.os_user import os_user
from gatehouse.management.account_changes import EndedUser, StateUpdate, new_delivery
from gatehouse.management.authority import IMPORT_ADDRESS
from gatehouse.management.bootstrap import is_replaceable_admin
from gatehouse.stores.database.audit_trail import AuditEntry
from gatehouse.stores.database.departments import Department, DepartmentChange, Departments
from gatehouse.stores.database.import_batches import AddedUser, Batch, ChangedUser, ImportBatches
from gatehouse.stores.database.roles import DataScope, Role, RoleChange, Roles
from gatehouse.stores.database.row_changes import applied, set_columns
from gatehouse.stores.database.users import Users
from gatehouse.transfer.factor_import import FactorImport
from gatehouse.transfer.import_plan import Context, Plan, UserPlanner
from gatehouse.transfer.import_rows import ImportCount, Summary, cut_cycles, moved_to_top
from gatehouse.transfer.menu_import import MenuImport

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from gatehouse.auth.outbox import Outbox
    from gatehouse.auth.sessions.sessions import Sessions
    from gatehouse.stores.database.import_batches import ExistingUser
    from gatehouse.stores.database.sql_engine import Database
    from gatehouse.stores.database.users import User
    from gatehouse.stores.state.protocol import State
    from gatehouse.transfer.import_plan import PlannedChange
    from gatehouse.transfer.import_rows import Source, SourceDepartment, SourceRole, SourceUser

# What the audit trail records as the client, with the operating system's name of who runs it.
IMPORT_CLIENT = ClientInfo(IMPORT_ADDRESS, os_user())


class Importer:
    def __init__(
        self,
        *,
        database: Database,
        state: State,
        sessions: Sessions,
        outbox: Outbox,
        clock: Callable[[], float],
        dry_run: bool = False,
        overwrite_passwords: bool = False,
        secrets: Sequence[bytes] = (),
    ) -> None:
        self._database = database
        self._batches = ImportBatches(database)
        self._users = Users(database)
        self._roles = Roles(database)
        self._departments = Departments(database)
        self._state = state
        self._sessions = sessions
        self._outbox = outbox
        self._clock = clock
        self._dry_run = dry_run
        self._overwrite_passwords = overwrite_passwords
        self._secrets = secrets
        self._summary = Summary(dry_run)
        self._replaceable_admin: ExistingUser | None = None
        self._gone: int | None = None

    async def run(self, source: Source, progress: Callable[[int, int], None] | None = None) -> Summary:
        """`progress` is called with the number of user rows done, and their total."""
        self._replaceable_admin = await self._untouched_administrator()
        departments, root = await self._import_departments(await source.departments())
        roles = await self._import_roles(await source.roles())
        import_menus = MenuImport(self._database, self._batches, self._entry, dry_run=self._dry_run)
        self._summary.menus, remarks = await import_menus.run(*await source.menus())
        self._summary.adapted += remarks
        await self._invalidate_root_users()
        context = Context(
            departments=departments,
            roles=roles,
            default_department=root,
            now=self._clock(),
            source_roles=source.source_roles,
            overwrite_passwords=self._overwrite_passwords,
        )
        total, done, planner = await source.count(), 0, UserPlanner(context)
        async for read, rows in source.users():
            await self._import_users(rows, planner)
            done += read
            if progress:
                progress(done, total)
        import_factors = FactorImport(self._database, self._secrets, self._entry, self._clock, dry_run=self._dry_run)
        self._summary.factors, remarks = await import_factors.run(source.factors())
        self._summary.adapted += remarks
        self._summary.skipped = source.skipped
        self._summary.refused[:0] = source.refused
        self._summary.adapted[:0] = source.adapted
        return self._summary

    async def _untouched_administrator(self) -> ExistingUser | None:
        if await self._users.count() != 1:
            return None
        [profile] = await self._users.page(limit=1)
        existing = await self._batches.existing([], [profile.user.id]) if is_replaceable_admin(profile) else ()
        return existing[0] if existing else None

    async def _import_departments(self, rows: Sequence[SourceDepartment]) -> tuple[dict[int, Department], int]:
        """All departments there will be, by id, and the one for users without any."""
        existing = {one.id: one for one in await self._departments.all()}
        parents = {one.id: one.parent for one in existing.values()} | {row.id: row.parent for row in rows}
        cut = cut_cycles(parents, [row.id for row in rows])
        self._summary.adapted += [moved_to_top(row.origin, row.parent) for row in rows if row.id in cut]
        rows = [replace(row, parent=None) if row.id in cut else row for row in rows]
        new = [row for row in rows if row.id not in existing]
        changed = [row for row in rows if row.id in existing and _department(row, existing[row.id]) != existing[row.id]]
        switched = [row.id for row in changed if row.enabled not in {UNSET, existing[row.id].enabled}]
        self._summary.departments = ImportCount(len(new), len(changed), len(rows) - len(new) - len(changed))
        entries = [self._entry(Event.DEPARTMENT_ADDED, department=row.id) for row in new]
        entries += [self._entry(Event.DEPARTMENT_CHANGED, department=row.id) for row in changed]
        wanted = [_department(row, existing.get(row.id) or Department(row.id, "", None, 0)) for row in [*new, *changed]]
        if entries and not self._dry_run:
            await self._batches.write_departments(wanted, entries)
            if switched:
                await self._state.raise_epochs(await self._batches.people_below(switched), self._clock())
        tops = [row.id for row in rows if row.parent is None]
        return existing | {one.id: one for one in wanted}, min(tops or existing)

    async def _import_roles(self, rows: Sequence[SourceRole]) -> dict[str, Role]:
        """All roles there will be, by code."""
        existing = {role.code: role for role in await self._roles.all()}
        known = {one.id for one in await self._departments.all()}
        wanted = [_role(row, existing.get(row.code), known, self._clock()) for row in rows]
        new = [role for role in wanted if role.code not in existing]
        changed = [role for role in wanted if role.code in existing and role != existing[role.code]]
        self._summary.roles = ImportCount(len(new), len(changed), len(wanted) - len(new) - len(changed))
        entries = [self._entry(Event.ROLE_ADDED, role=role.code, perms=role.perms) for role in new]
        entries += [self._entry(Event.ROLE_CHANGED, role=role.code, perms=role.perms) for role in changed]
        if entries and not self._dry_run:
            await self._batches.write_roles([*new, *changed], entries)
            for role in changed:
                await self._state.raise_epochs(await self._roles.holders(existing[role.code].id), self._clock())
        return existing | {role.code: role for role in wanted}

    async def _invalidate_root_users(self) -> None:
        """They have every perm that roles and menus carry, so their profiles change with both."""
        if not self._dry_run and (root := await self._roles.by_code(ROOT)):
            await self._state.raise_epochs(await self._roles.holders(root.id), self._clock())

    async def _import_users(self, rows: Sequence[SourceUser], planner: UserPlanner) -> None:
        keys, ids = [name_key(row.username) for row in rows], [row.id for row in rows if row.id is not None]
        existing_users = [
            existing for existing in await self._batches.existing(keys, ids) if existing.user.id != self._gone
        ]
        decided = planner.plan(rows, existing_users, self._replaceable_admin)
        self._count(decided)
        if not self._dry_run and (decided.added or decided.changed):
            await self._write(decided)
        for existing in decided.removed:
            self._summary.replaced_admin = f"{existing.user.username} (id {existing.user.id})"
            self._replaceable_admin = None
            # A dry run removes nothing, so later batches must skip it. In a real run the id is another user's by now.
            self._gone = existing.user.id if self._dry_run else None

    def _count(self, decided: Plan) -> None:
        count = self._summary.users
        count.added += len(decided.added)
        count.changed += len(decided.changed)
        count.unchanged += decided.unchanged
        self._summary.refused += [refusal.remark for refusal in decided.refused]
        self._summary.adapted += decided.adapted

    async def _write(self, decided: Plan) -> None:
        removed = [existing.user for existing in decided.removed]
        batch = Batch(
            removed=[self._entry(Event.USER_DELETED, user.id, username=user.username) for user in removed],
            added=[
                AddedUser(
                    number,
                    new,
                    sorted(roles),
                    self._entry(Event.USER_ADDED, username=new.username, roles=sorted(roles)),
                )
                for number, new, roles in decided.added
            ],
            changed=[
                ChangedUser(
                    change.existing.user.id,
                    change.values,
                    None if change.roles is None else sorted(change.roles),
                    self._entries(change),
                )
                for change in decided.changed
            ],
        )
        # The id of a replaced administrator belongs to another user with this commit, and an old password may have been
        # stolen. Such sessions end before, because a run killed in between finds nothing to change when it is repeated;
        # and after, for those opened since.
        for user in removed:
            await self._sessions.end_all(user.id, SessionEndReason.DELETED, IMPORT_CLIENT)
        for change in decided.changed:
            if change.values.password_hash is not UNSET:
                user_id = change.existing.user.id
                await self._sessions.end_all(user_id, SessionEndReason.PASSWORD, IMPORT_CLIENT, change_pending=True)
        update = _state_update(removed, decided.changed)
        await self._outbox.deliver_now(await self._batches.write_users(batch, new_delivery(update, self._clock())))

    def _entries(self, change: PlannedChange) -> list[AuditEntry]:
        user, values = change.existing.user.id, change.values
        entries = []
        if values.enabled is not UNSET:
            entries.append(self._entry(Event.USER_ENABLED if values.enabled else Event.USER_DISABLED, user))
        if values.password_hash is not UNSET:
            entries.append(self._entry(Event.PASSWORD_CHANGED, user))
        others = sorted(set_columns(values).keys() - {"enabled", "password_hash"})
        if others or change.roles is not None:
            detail = {"changed": others} if change.roles is None else {"changed": others, "roles": sorted(change.roles)}
            entries.append(self._entry(Event.USER_CHANGED, user, **detail))
        return entries

    def _entry(self, event: Event, user: int | None = None, **detail: object) -> AuditEntry:
        return AuditEntry(
            id=0,
            at=self._clock(),
            event=event.value,
            user=user,
            session=None,
            address=IMPORT_CLIENT.address,
            request=None,
            reason=None,
            detail=msgspec.json.encode(detail).decode() if detail else None,
            agent=IMPORT_CLIENT.user_agent,
        )


def _state_update(removed: Sequence[User], changed: Sequence[PlannedChange]) -> StateUpdate:
    ended = [EndedUser(user.id, SessionEndReason.DELETED) for user in removed]
    for change in changed:
        if change.values.enabled is False:
            ended.append(EndedUser(change.existing.user.id, SessionEndReason.DISABLED))
        elif change.values.password_hash is not UNSET:
            ended.append(EndedUser(change.existing.user.id, SessionEndReason.PASSWORD))
    users = {*(user.id for user in removed), *(change.existing.user.id for change in changed)}
    return StateUpdate(users, ended, client=IMPORT_CLIENT)


def _department(row: SourceDepartment, existing: Department) -> Department:
    """The department with the values of the row; values that the row leaves out stay."""
    change = DepartmentChange(name=row.name, parent=row.parent, code=row.code, sort=row.sort, enabled=row.enabled)
    return applied(existing, change)


def _role(row: SourceRole, existing: Role | None, known: Collection[int], now: float) -> Role:
    """The role with the values of the row; values that the row leaves out stay."""
    existing = existing or Role(0, row.code, row.name, enabled=row.enabled, perms=(), users=0, created=now)
    change = RoleChange(name=row.name, enabled=row.enabled, sort=row.sort, data_scope=row.data_scope)
    role = applied(existing, change)
    chosen = existing.departments if row.departments is None else tuple(one for one in row.departments if one in known)
    departments = chosen if role.data_scope == DataScope.CHOSEN else ()
    return replace(role, perms=tuple(sorted(row.perms)), departments=departments)
