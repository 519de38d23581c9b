"""Changes to departments, from the console and the command line. See `users.py`.

Users in a disabled department, or below one, get nothing from their roles.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from msgspec import UNSET

from gatehouse.auth.audit import Event
from gatehouse.management import accepted_values, authority
from gatehouse.management.accepted_values import check_field
from gatehouse.stores.database.row_changes import set_columns, without_same

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatehouse.management.account_changes import AccountChanges
    from gatehouse.management.authority import Actor
    from gatehouse.stores.database.departments import DepartmentChange, NewDepartment


def check_department(department: NewDepartment | DepartmentChange) -> None:
    check_field("name", department.name, accepted_values.check_department_name)
    check_field("code", department.code, accepted_values.check_department_code)
    check_field("sort", department.sort, accepted_values.check_sort)


class DepartmentChanges:
    def __init__(self, changes: AccountChanges) -> None:
        self._changes = changes

    async def add(self, actor: Actor, new: NewDepartment) -> int:
        check_department(new)
        async with self._changes.begin(actor) as change:
            parents = await change.transaction.department_parents()
            authority.require_department_change(actor, [new.parent], parents)
            department = await change.transaction.add_department(replace(new, created=self._changes.now))
            change.record(Event.DEPARTMENT_ADDED, department=department)
        return department

    async def edit(self, actor: Actor, department: int, values: DepartmentChange) -> None:
        check_department(values)
        async with self._changes.begin(actor) as change:
            transaction = change.transaction
            before = await transaction.department(department)
            values = without_same(values, before)
            columns = set_columns(values)
            # To disable a department, or move it below a disabled one, removes the perms of everybody in it; to enable
            # or move it back restores them. So it needs an administrator who may do that to each of them.
            concerns = {"enabled", "parent"} & columns.keys()
            people = await transaction.people_in(department) if concerns else []
            if concerns:
                places = [department, *([] if values.parent is UNSET else [values.parent])]
                parents = await transaction.department_parents()
                authority.require_department_change(actor, places, parents, people=people)
            in_force = await transaction.is_in_force(department)
            if columns:
                await transaction.set_department(department, values)
            if people and in_force != await transaction.is_in_force(department):
                held = await transaction.roles(await transaction.roles_in(department, but=actor.user))
                authority.require_switch(actor, [authority.grant_of(role) for role in held])
            change.invalidate(people)
            if columns:
                change.record(Event.DEPARTMENT_CHANGED, department=department, changed=sorted(columns))

    async def delete(self, actor: Actor, departments: Sequence[int]) -> None:
        """All of them, or none."""
        async with self._changes.begin(actor) as change:
            transaction = change.transaction
            authority.require_department_change(actor, departments, await transaction.department_parents())
            await transaction.delete_departments(departments)
            for department in departments:
                change.record(Event.DEPARTMENT_DELETED, department=department)
