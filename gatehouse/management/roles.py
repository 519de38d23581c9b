"""Changes to roles, from the console and the command line. See `users.py`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gatehouse.auth.audit import Event
from gatehouse.auth.perms import ROOT, allows, names_of
from gatehouse.management import accepted_values, authority
from gatehouse.management.accepted_values import check_field
from gatehouse.management.authority import RoleGrant, grant_of
from gatehouse.management.data_scopes import Scope
from gatehouse.stores.database.roles import DataScope
from gatehouse.stores.database.row_changes import applied, set_columns, without_same
from gatehouse.stores.errors import Missing

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from gatehouse.management.account_changes import AccountChanges
    from gatehouse.management.authority import Actor
    from gatehouse.stores.database.account_transactions import AccountTransaction, StoredRole
    from gatehouse.stores.database.roles import NewRole, RoleChange


def check_role(role: NewRole | RoleChange) -> None:
    check_field("code", role.code, accepted_values.check_role_code)
    check_field("name", role.name, accepted_values.check_role_name)
    check_field("sort", role.sort, accepted_values.check_sort)
    check_field("dataScope", role.data_scope, accepted_values.check_data_scope)


class RoleChanges:
    def __init__(self, changes: AccountChanges) -> None:
        self._changes = changes

    async def add(self, actor: Actor, new: NewRole, perms: Sequence[str] = (), departments: Sequence[int] = ()) -> int:
        check_role(new)
        check_perms(perms)
        chosen = departments if new.data_scope == DataScope.CHOSEN else ()
        scope = Scope(new.data_scope, frozenset(chosen))
        authority.require_role_change(actor, None, RoleGrant(new.code, frozenset(perms), scope))
        async with self._changes.begin(actor) as change:
            transaction = change.transaction
            role = await transaction.add_role(replace(new, created=self._changes.now))
            await transaction.allow(role, perms)
            await transaction.replace_departments(role, chosen)
            affected = await root_users(transaction, perms)
            change.invalidate(affected)
            change.record(Event.ROLE_ADDED, role=new.code, perms=list(perms))
        return role

    async def edit(self, actor: Actor, role: int, values: RoleChange, departments: Sequence[int] | None = None) -> None:
        """Set values, and the chosen departments unless they are None."""
        check_role(values)
        async with self._changes.begin(actor) as change:
            transaction = change.transaction
            [before] = await transaction.roles([role])
            values = without_same(values, before)
            after = applied(before, values)
            chosen = _chosen(after, departments)
            holders = await require_role_change(transaction, actor, before, replace(after, departments=chosen))
            columns = set_columns(values)
            if columns:
                await transaction.set_role(role, values)
            if chosen != before.departments:
                await transaction.replace_departments(role, chosen)
            changed = sorted([*columns, *(["departments"] if chosen != before.departments else [])])
            change.invalidate(holders)
            if changed:
                change.record(Event.ROLE_CHANGED, role=before.code, changed=changed)

    async def delete(self, actor: Actor, roles: Sequence[int]) -> None:
        """All of them, or none; their users lose the perms."""
        async with self._changes.begin(actor) as change:
            transaction = change.transaction
            found = await transaction.roles(roles)
            perms = {perm for role in found for perm in role.perms}
            affected = await root_users(transaction, perms)
            for role in found:
                affected += await require_role_change(transaction, actor, role, None)
            await transaction.delete_roles(roles)
            change.invalidate(affected)
            for role in found:
                change.record(Event.ROLE_DELETED, role=role.code)

    async def allow(self, actor: Actor, code: str, perms: Sequence[str]) -> None:
        check_perms(perms)
        async with self._changes.begin(actor) as change:
            transaction = change.transaction
            [role] = await transaction.roles_by_code([code])
            added = [perm for perm in perms if perm not in role.perms]
            holders = await require_role_change(transaction, actor, role, replace(role, perms=role.perms | set(perms)))
            await transaction.allow(role.id, added)
            affected = [*holders, *await root_users(transaction, added)]
            change.invalidate(affected)
            change.record(Event.ROLE_CHANGED, role=code, allowed=list(perms))

    async def deny(self, actor: Actor, code: str, perms: Sequence[str]) -> None:
        """Take perms away, under all of their names: one that stayed would give the same."""
        async with self._changes.begin(actor) as change:
            transaction = change.transaction
            [role] = await transaction.roles_by_code([code])
            for perm in perms:
                if not allows(role.perms, perm):
                    raise Missing(f"role {code!r} does not give {perm!r}")
            denied = {name for perm in perms for name in names_of(perm)}
            holders = await require_role_change(transaction, actor, role, replace(role, perms=role.perms - denied))
            await transaction.deny(role.id, denied)
            affected = [*holders, *await root_users(transaction, perms)]
            change.invalidate(affected)
            change.record(Event.ROLE_CHANGED, role=code, denied=list(perms))

    async def set_perms(self, actor: Actor, role: int, perms: Sequence[str]) -> None:
        """Replace the perms of a role. One name of a perm is enough."""
        check_perms(perms)
        wanted = {names_of(perm)[0] for perm in perms}
        async with self._changes.begin(actor) as change:
            transaction = change.transaction
            [before] = await transaction.roles([role])
            denied = sorted(perm for perm in before.perms if names_of(perm)[0] not in wanted)
            allowed = sorted(perm for perm in wanted if not allows(before.perms, perm))
            after = replace(before, perms=before.perms - set(denied) | set(allowed))
            holders = await require_role_change(transaction, actor, before, after)
            await transaction.allow(role, allowed)
            await transaction.deny(role, denied)
            affected = [*holders, *await root_users(transaction, [*allowed, *denied])]
            change.invalidate(affected)
            if allowed or denied:
                change.record(Event.ROLE_CHANGED, role=before.code, allowed=allowed, denied=denied)


async def root_users(transaction: AccountTransaction, perms: Collection[str]) -> list[int]:
    """Users with the role ROOT have every perm that exists, so their profiles change when any of these do."""
    return await transaction.holders_by_code(ROOT) if perms else []


async def require_role_change(
    transaction: AccountTransaction, actor: Actor, before: StoredRole, after: StoredRole | None
) -> list[int]:
    """Refused unless the actor may change the role like this, or delete it; returns the users who hold it."""
    holders, parents = await transaction.holders(before.id), await transaction.department_parents()
    authority.require_role_change(actor, grant_of(before), grant_of(after) if after else None, holders, parents)
    return list(holders)


def check_perms(perms: Iterable[str]) -> None:
    for perm in perms:
        check_field("perms", perm, accepted_values.check_perm)


def _chosen(after: StoredRole, departments: Sequence[int] | None) -> frozenset[int]:
    """The departments that the role is about after the change: none unless that is its data scope."""
    if after.data_scope != DataScope.CHOSEN:
        return frozenset()
    return after.departments if departments is None else frozenset(departments)
