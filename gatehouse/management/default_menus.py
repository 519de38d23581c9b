"""The menus that the first start creates: the console's pages that Gatehouse serves, with their buttons."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from gatehouse.auth.perms import perms_of
from gatehouse.management.menus import complete_menu
from gatehouse.stores.database.menus import Menu, MenuType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatehouse.stores.database.menus import Menus


class _Page(NamedTuple):
    name: str
    route_name: str  # the component's own name, by which the consoles keep it alive
    subject: str  # the middle of its perms, and its path
    icon: str


# A menu is shown in the reader's language (`messages/`) as long as it has the name that it is created with.
FOLDER = "System"
_PAGES = (
    _Page("Users", "User", "user", "el-icon-User"),
    _Page("Roles", "Role", "role", "role"),
    _Page("Menus", "SysMenu", "menu", "menu"),
    _Page("Departments", "Dept", "dept", "tree"),
    _Page("Log", "Log", "log", "document"),
)
# The names of buttons, by the action of the perm that each carries.
_BUTTONS = {
    "list": "List",
    "create": "Add",
    "update": "Edit",
    "delete": "Delete",
    "reset-password": "Reset password",
    "import": "Import",
    "export": "Export",
    "assign": "Assign menus",
}


def default_menus(now: float) -> list[Menu]:
    """In an order in which parents come first; `parent` is the position in the list."""
    folder = Menu(
        0,
        None,
        FOLDER,
        MenuType.FOLDER,
        route_name="/system",
        route_path="/system",
        redirect="/system/user",
        icon="system",
        sort=1,
    )
    menus = [folder]
    for number, page in enumerate(_PAGES, 1):
        position = len(menus)
        menus.append(
            Menu(
                0,
                0,
                page.name,
                MenuType.PAGE,
                route_name=page.route_name,
                route_path=page.subject,
                component=f"system/{page.subject}/index",
                icon=page.icon,
                sort=number,
                keep_alive=True,
            )
        )
        menus += [
            Menu(0, position, _BUTTONS[perm.rpartition(":")[2]], MenuType.BUTTON, perm=perm, sort=sort)
            for sort, perm in enumerate(perms_of(page.subject), 1)
        ]
    return [replace(complete_menu(menu), created=now) for menu in menus]


async def create_default_menus(menus: Menus, now: float) -> None:
    """Into a database that has no menu: a new one, or one of release 0.1."""
    await menus.create_all(default_menus(now))


def are_untouched(menus: Sequence[Menu]) -> bool:
    """Whether these are the menus as created above, unchanged, so that an import may replace them."""
    names = {menu.id: menu.name for menu in menus}
    found = {(menu.name, menu.type, names.get(menu.parent or 0), menu.component, menu.perm) for menu in menus}
    defaults = default_menus(0)
    expected = {
        (
            menu.name,
            menu.type,
            None if menu.parent is None else defaults[menu.parent].name,
            menu.component,
            menu.perm,
        )
        for menu in defaults
    }
    return found == expected and len(menus) == len(defaults)
