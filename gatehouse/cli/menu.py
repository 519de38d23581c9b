"""`gatehouse menu`: the menus of the console, and the buttons that carry perms."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import click
from rich.text import Text
from rich.tree import Tree

from gatehouse.cli import output
from gatehouse.cli.by_name import role_of
from gatehouse.cli.field_options import require_change
from gatehouse.cli.output import echo, json_option
from gatehouse.cli.prompts import confirm
from gatehouse.cli.with_service import ID, OPERATOR, with_service
from gatehouse.management.menus import visible_menus
from gatehouse.stores.database.menus import Menu, MenuChange, MenuType
from gatehouse.stores.database.row_changes import applied, unset_if_none

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatehouse.composition import Service

TYPES = {"folder": MenuType.FOLDER, "page": MenuType.PAGE, "link": MenuType.LINK, "button": MenuType.BUTTON}
_NAMES = {kind: name for name, kind in TYPES.items()}


@click.group(no_args_is_help=True)
def menu() -> None:
    """What the console's side menu shows, and its buttons.

    Folders hold pages and links, pages hold buttons, a button carries a perm. A role has a button if it has its perm:
    see `gatehouse role allow`. Pages without buttons are given to a role by `gatehouse menu assign`.
    """


class MenuOptions(TypedDict):
    """What the options of `_fields` give; None for those that were left out."""

    route_path: str | None
    component: str | None
    route_name: str | None
    external_url: str | None
    perm: str | None
    icon: str | None
    sort: int | None
    visible: bool | None
    keep_alive: bool | None


def _fields(command: Any) -> Any:
    for option in (
        click.option("--path", "route_path", help="The path in the address bar, of a folder or a page."),
        click.option("--component", help="The view of a page, such as system/user/index."),
        click.option("--route-name", help="The name of the page's component, for those that are kept alive."),
        click.option("--url", "external_url", help="The address of a link."),
        click.option("--perm", help="The perm of a button."),
        click.option("--icon", help="An icon of the console."),
        click.option("--sort", type=int, help="Its position among the menus beside it."),
        click.option("--show/--hide", "visible", default=None, help="A hidden page can be opened and is not listed."),
        click.option(
            "--keep-alive/--no-keep-alive", default=None, help="Cache the page while other pages are open (keep-alive)."
        ),
    ):
        command = option(command)
    return command


@menu.command("add")
@click.argument("type_", metavar="TYPE", type=click.Choice(list(TYPES)))
@click.argument("name")
@click.option("--parent", type=ID, metavar="ID", help="The menu above it.  [default: none, at the top]")
@_fields
@json_option
@with_service
async def add(
    service: Service, /, type_: str, name: str, parent: int | None, *, as_json: bool, **options: Unpack[MenuOptions]
) -> None:
    """Add a folder, a page, a link or a button.

    \b
    Example:
      gatehouse menu add button "Ship" --parent 7 --perm shop:order:ship
    """
    new = applied(Menu(0, parent, name, TYPES[type_]), _change(None, None, options))
    number = await service.management.menu_changes.add(OPERATOR, new)
    if as_json:
        return output.as_document({"id": number, "name": name, "parent": parent})
    return echo(f"Added menu {name} with id {number}.")


@menu.command("list")
@click.option("--role", "code", help="Only what this role has.")
@json_option
@with_service
async def list_(service: Service, code: str | None, *, as_json: bool) -> None:
    """List all menus as a tree, or those that a role has.

    \b
    Example:
      gatehouse menu list --role ADMIN
    """
    found = await service.stores.menus.all()
    if code is not None:
        role = await role_of(service, code)
        given = (await service.stores.menus.by_role()).get(code, frozenset())
        held = visible_menus(found, [role.code], role.perms, given)
        found = [each for each in found if each.id in held]
    if as_json:
        return output.as_document([_summary(each) for each in found])
    for root in _trees(found):
        output.show(root)
    return None if found else echo("No menus.")


@menu.command("edit")
@click.argument("number", type=ID, metavar="ID")
@click.option("--name", help="A new name.")
@click.option("--parent", type=ID, metavar="ID", help="Move it below this menu.")
@_fields
@with_service
async def edit(
    service: Service, /, number: int, name: str | None, parent: int | None, **options: Unpack[MenuOptions]
) -> None:
    """Change a menu; what is not given stays.

    \b
    Example:
      gatehouse menu edit 3 --name "Staff" --sort 5
    """
    change = _change(name, parent, options)
    require_change(change)
    await service.management.menu_changes.edit(OPERATOR, number, change)
    echo(f"Changed menu {number}.")


@menu.command("delete")
@click.argument("number", type=ID, metavar="ID")
@click.option("--yes", is_flag=True, help="Do not ask.")
@with_service
async def delete(service: Service, number: int, *, yes: bool) -> None:
    """Delete a menu with everything below it. Roles keep their perms.

    \b
    Example:
      gatehouse menu delete 9 --yes
    """
    confirm(f"Delete menu {number} and all below it?", yes=yes)
    gone = await service.management.menu_changes.delete(OPERATOR, number)
    echo(f"Deleted menu {number}." if len(gone) == 1 else f"Deleted menu {number} and {len(gone) - 1} below it.")


@menu.command("assign")
@click.argument("code", metavar="ROLE")
@click.argument("numbers", metavar="[ID]...", type=ID, nargs=-1)
@with_service
async def assign(service: Service, code: str, numbers: tuple[int, ...]) -> None:
    """Give a role these menus and no others, and the perms of these buttons.

    Perms that no button carries stay as they are. As in the console, a page is listed by its own id.

    \b
    Example:
      gatehouse menu assign AUDITOR 1 26 27
    """
    role = await role_of(service, code)
    known = {each.id for each in await service.stores.menus.all()}
    if lost := sorted(set(numbers) - known):
        raise click.UsageError(f"there is no menu {lost[0]}")
    await service.management.menu_changes.assign(OPERATOR, role.id, numbers)
    echo(f"Role {code} has {len(set(numbers))} menus.")


def _change(name: str | None, parent: int | None, options: MenuOptions) -> MenuChange:
    return MenuChange(
        name=unset_if_none(name),
        parent=unset_if_none(parent),
        route_path=unset_if_none(options["route_path"]),
        component=unset_if_none(options["component"]),
        route_name=unset_if_none(options["route_name"]),
        external_url=unset_if_none(options["external_url"]),
        perm=unset_if_none(options["perm"]),
        icon=unset_if_none(options["icon"]),
        sort=unset_if_none(options["sort"]),
        visible=unset_if_none(options["visible"]),
        keep_alive=unset_if_none(options["keep_alive"]),
    )


def _summary(menu: Menu) -> dict[str, Any]:
    return {**asdict(menu), "type": _NAMES[menu.type]}


def _trees(found: Sequence[Menu]) -> list[Tree]:
    known = {each.id for each in found}
    below: dict[int | None, list[Menu]] = {}
    for each in found:
        below.setdefault(each.parent if each.parent in known else None, []).append(each)

    def grow(each: Menu, tree: Tree) -> Tree:
        for child in below.get(each.id, []):
            grow(child, tree.add(_label(child)))
        return tree

    return [grow(root, Tree(_label(root))) for root in below.get(None, [])]


def _label(menu: Menu) -> Text:
    detail = menu.perm or menu.external_url or menu.component
    return Text(f"{menu.name}  id {menu.id}, {_NAMES[menu.type]}" + (f", {detail}" if detail else ""))
