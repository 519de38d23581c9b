"""`gatehouse role`: roles, and the perms they give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gatehouse.cli import output
from gatehouse.cli.by_name import role_of
from gatehouse.cli.field_options import require_change, scope_name, scope_options, stored_scope
from gatehouse.cli.output import echo, json_option
from gatehouse.cli.prompts import confirm
from gatehouse.cli.with_service import OPERATOR, with_service
from gatehouse.messages.quantities import counted
from gatehouse.stores.database.roles import DataScope, NewRole, RoleChange
from gatehouse.stores.database.row_changes import unset_if_none

if TYPE_CHECKING:
    from gatehouse.composition import Service
    from gatehouse.stores.database.roles import Role


@click.group(no_args_is_help=True)
def role() -> None:
    """Roles, and the perms they give.

    A perm reads segment:segment:segment, such as sys:user:add. What a role gives shows in users/me on the next
    request of everyone who holds it.
    """


@role.command("add")
@click.argument("code")
@click.option("--name", help="The name that people see.  [default: CODE]")
@click.option("--allow", "perms", multiple=True, metavar="PERM", help="A perm to give; may be repeated.")
@scope_options
@with_service
async def add(
    service: Service,
    /,
    code: str,
    name: str | None,
    perms: tuple[str, ...],
    *,
    sort: int | None,
    departments: tuple[int, ...],
    data_scope: str | None,
) -> None:
    """Add a role.

    \b
    Example:
      gatehouse role add AUDITOR --name "Auditor" --allow sys:log:query
    """
    scope = stored_scope(data_scope, departments) or DataScope.OWN
    new = NewRole(code, name or code, sort=sort or 0, data_scope=scope)
    await service.management.role_changes.add(OPERATOR, new, perms, departments)
    echo(f"Added role {code}.")


@role.command("list")
@json_option
@with_service
async def list_(service: Service, *, as_json: bool) -> None:
    """List all roles.

    \b
    Example:
      gatehouse role list
    """
    columns = {"code": "CODE", "name": "NAME", "enabled": "STATE", "users": "USERS", "perms": "PERMS"}
    found = [_summary(each) for each in await service.stores.roles.all()]
    if not as_json:
        found = [each | {"perms": len(each["perms"])} for each in found]  # `role show` names them
    output.records(found, columns, as_json=as_json, nothing="No roles.")


@role.command("show")
@click.argument("code")
@json_option
@with_service
async def show(service: Service, code: str, *, as_json: bool) -> None:
    """Show one role with every perm it gives.

    \b
    Example:
      gatehouse role show ADMIN
    """
    output.record(_summary(await role_of(service, code)), as_json=as_json)


@role.command("edit")
@click.argument("code")
@click.option("--code", "new_code", metavar="CODE", help="A new code.")
@click.option("--name", help="The name that people see.")
@click.option(
    "--enable/--disable", "enabled", default=None, help="A disabled role grants nothing to users who have it."
)
@scope_options
@with_service
async def edit(
    service: Service,
    /,
    code: str,
    new_code: str | None,
    *,
    name: str | None,
    enabled: bool | None,
    sort: int | None,
    departments: tuple[int, ...],
    data_scope: str | None,
) -> None:
    """Change a role's code, name, sort order or data scope, or disable and enable it.

    \b
    Examples:
      gatehouse role edit AUDITOR --name "Internal audit"
      gatehouse role edit AUDITOR --disable
      gatehouse role edit AUDITOR --data-scope chosen --dept 3 --dept 4
    """
    change = RoleChange(
        code=unset_if_none(new_code),
        name=unset_if_none(name),
        enabled=unset_if_none(enabled),
        sort=unset_if_none(sort),
        data_scope=unset_if_none(stored_scope(data_scope, departments)),
    )
    changed = require_change(change)
    await service.management.role_changes.edit(OPERATOR, (await role_of(service, code)).id, change, departments or None)
    echo(f"Changed role {code}: {', '.join(sorted([*changed, *(['departments'] if departments else [])]))}.")


@role.command("delete")
@click.argument("code")
@click.option("--yes", is_flag=True, help="Do not ask.")
@with_service
async def delete(service: Service, code: str, *, yes: bool) -> None:
    """Delete a role; its users lose the perms.

    \b
    Example:
      gatehouse role delete AUDITOR --yes
    """
    found = await role_of(service, code)
    confirm(f"Delete role {code}, held by {counted(found.users, 'user')}?", yes=yes)
    await service.management.role_changes.delete(OPERATOR, [found.id])
    echo(f"Deleted role {code}.")


@role.command("allow")
@click.argument("code")
@click.argument("perms", nargs=-1, required=True, metavar="PERM...")
@with_service
async def allow(service: Service, code: str, perms: tuple[str, ...]) -> None:
    """Add one or more perms to a role.

    \b
    Example:
      gatehouse role allow AUDITOR sys:log:query sys:user:query
    """
    await service.management.role_changes.allow(OPERATOR, code, perms)
    echo(f"Role {code} now gives {', '.join(perms)}.")


@role.command("deny")
@click.argument("code")
@click.argument("perms", nargs=-1, required=True, metavar="PERM...")
@with_service
async def deny(service: Service, code: str, perms: tuple[str, ...]) -> None:
    """Remove one or more perms from a role.

    \b
    Example:
      gatehouse role deny AUDITOR sys:user:query
    """
    await service.management.role_changes.deny(OPERATOR, code, perms)
    echo(f"Role {code} no longer gives {', '.join(perms)}.")


def _summary(found: Role) -> dict[str, Any]:
    return {
        "code": found.code,
        "name": found.name,
        "enabled": output.enabled(found.enabled),
        "users": found.users,
        "perms": found.perms,
        "sort": found.sort,
        "data_scope": scope_name(found.data_scope),
        "depts": found.departments,
    }
