"""`gatehouse dept`: departments, the tree that users belong to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from rich.text import Text
from rich.tree import Tree

from gatehouse.cli import output
from gatehouse.cli.field_options import require_change
from gatehouse.cli.output import echo, json_option
from gatehouse.cli.prompts import confirm
from gatehouse.cli.with_service import ID, OPERATOR, with_service
from gatehouse.stores.database.departments import DepartmentChange, NewDepartment
from gatehouse.stores.database.row_changes import unset_if_none

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatehouse.composition import Service
    from gatehouse.stores.database.departments import Department


@click.group(no_args_is_help=True)
def dept() -> None:
    """Departments, the tree that users belong to.

    A user's department shows in users/me as deptId.
    """


@dept.command("add")
@click.argument("name")
@click.option("--parent", type=ID, metavar="ID", help="The department above it.  [default: none, a new root]")
@json_option
@with_service
async def add(service: Service, name: str, parent: int | None, *, as_json: bool) -> None:
    """Add a department.

    \b
    Example:
      gatehouse dept add "Sales" --parent 1
    """
    number = await service.management.department_changes.add(OPERATOR, NewDepartment(name, parent))
    if as_json:
        return output.as_document({"id": number, "name": name, "parent": parent})
    return echo(f"Added department {name} with id {number}.")


@dept.command("list")
@json_option
@with_service
async def list_(service: Service, *, as_json: bool) -> None:
    """List all departments as a tree, each with its id and how many users are in it.

    \b
    Example:
      gatehouse dept list
    """
    found = await service.stores.departments.all()
    if as_json:
        return output.as_document([{"id": d.id, "name": d.name, "parent": d.parent, "users": d.users} for d in found])
    for root in _trees(found):
        output.show(root)
    return None if found else echo("No departments.")


@dept.command("edit")
@click.argument("department", type=ID, metavar="ID")
@click.option("--name", help="A new name.")
@click.option("--parent", type=ID, metavar="ID", help="Move it below this department.")
@click.option("--code", help="A short code, for other systems.")
@click.option("--sort", type=int, help="Its position among the departments beside it.")
@click.option("--enable/--disable", "enabled", default=None, help="A disabled department gives its people no perms.")
@with_service
async def edit(  # noqa: PLR0917 - click hands them over by name
    service: Service,
    department: int,
    name: str | None,
    parent: int | None,
    code: str | None,
    sort: int | None,
    enabled: bool | None,  # noqa: FBT001 - as above
) -> None:
    """Rename a department, move it, switch it off or on.

    \b
    Example:
      gatehouse dept edit 3 --name "Sales, north" --parent 2
    """
    change = DepartmentChange(
        name=unset_if_none(name),
        parent=unset_if_none(parent),
        code=unset_if_none(code),
        sort=unset_if_none(sort),
        enabled=unset_if_none(enabled),
    )
    require_change(change)
    await service.management.department_changes.edit(OPERATOR, department, change)
    echo(f"Changed department {department}.")


@dept.command("delete")
@click.argument("department", type=ID, metavar="ID")
@click.option("--yes", is_flag=True, help="Do not ask.")
@with_service
async def delete(service: Service, department: int, *, yes: bool) -> None:
    """Delete a department that has neither users nor departments below it.

    \b
    Example:
      gatehouse dept delete 3 --yes
    """
    confirm(f"Delete department {department}?", yes=yes)
    await service.management.department_changes.delete(OPERATOR, [department])
    echo(f"Deleted department {department}.")


def _trees(found: Sequence[Department]) -> list[Tree]:
    trees = {each.id: Tree(_label(each)) for each in found}
    for each in found:
        if each.parent is not None:
            trees[each.parent].children.append(trees[each.id])
    return [trees[each.id] for each in found if each.parent is None]


def _label(department: Department) -> Text:
    users = "1 user" if department.users == 1 else f"{department.users} users"
    return Text.assemble(output.printable(department.name), (f"  id {department.id}, {users}", "dim"))
