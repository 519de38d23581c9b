"""Changes to departments, from the console and the command line. See `users.py`.

Users in a disabled department, or below one, get nothing from their roles.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gatehouse.auth.audit import Event
from gatehouse.management import accepted_values as policy
from gatehouse.management import authority
from gatehouse.management.field_checks import check_fields

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gatehouse.management.account_change import AccountChanges
    from gatehouse.management.authority import Actor

_CHECKS: dict[str, Callable[[Any], None]] = {
    "name": lambda name: policy.check_text("department name", name),
    "code": lambda code: policy.check_text("department code", code) if code else None,
    "sort": policy.check_sort,
}


class DepartmentChanges:
    def __init__(self, changes: AccountChanges) -> None:
        self._changes = changes

    async def add(self, actor: Actor, values: dict[str, Any]) -> int:
        """`values` are name and parent, and code, sort and enabled if they are not to be the defaults."""
        check_fields(values, _CHECKS)
        async with self._changes.begin(actor) as change:
            parents = await change.transaction.department_parents()
            authority.require_department_change(actor, [values.get("parent")], parents)
            department = await change.transaction.add_department(**{"created": self._changes.now, **values})
            change.record(Event.DEPARTMENT_ADDED, department=department)
        return department

    async def edit(self, actor: Actor, department: int, values: dict[str, Any]) -> None:
        check_fields(values, _CHECKS)
        async with self._changes.begin(actor) as change:
            transaction = change.transaction
            before = await transaction.department(department)
            values = {name: value for name, value in values.items() if value != getattr(before, name)}
            # To disable a department, or move it below a disabled one, removes the perms of everybody in it; to enable
            # or move it back restores them. So it needs an administrator who may do that to each of them.
            concerns = {"enabled", "parent"} & values.keys()
            people = await transaction.people_in(department) if concerns else []
            if concerns:
                places = [department, *([values["parent"]] if "parent" in values else [])]
                parents = await transaction.department_parents()
                authority.require_department_change(actor, places, parents, people=people)
            in_force = await transaction.is_in_force(department)
            if values:
                await transaction.set_department(department, **values)
            if people and in_force != await transaction.is_in_force(department):
                held = await transaction.roles(await transaction.roles_in(department, but=actor.user))
                authority.require_switch(actor, [authority.grant_of(role) for role in held])
            change.invalidate(people)
            if values:
                change.record(Event.DEPARTMENT_CHANGED, department=department, changed=sorted(values))

    async def delete(self, actor: Actor, departments: Sequence[int]) -> None:
        """All of them, or none."""
        async with self._changes.begin(actor) as change:
            transaction = change.transaction
            authority.require_department_change(actor, departments, await transaction.department_parents())
            await transaction.delete_departments(departments)
            for department in departments:
                change.record(Event.DEPARTMENT_DELETED, department=department)
