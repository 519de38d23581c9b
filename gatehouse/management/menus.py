"""The console's menus: which menu may be below which, which menus a role has, and how they are changed.

A role has a button if it has the button's perm, however it got it. So perms granted on the command line show as
checked, an assignment in the console grants and denies the perms of its buttons, and perms that no button carries stay
as they are. A role shows the folders, pages and links that it was given, and those above its buttons.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gatehouse.auth.audit import Event
from gatehouse.auth.perms import ROOT, allows, expand, names_of
from gatehouse.auth.refusals import AccountFieldInvalid
from gatehouse.management import accepted_values as policy
from gatehouse.management import authority
from gatehouse.management.field_checks import check_field, contract_name
from gatehouse.management.roles import require_role_change, root_users
from gatehouse.stores.database.menus import MenuType

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from gatehouse.management.account_change import AccountChanges
    from gatehouse.management.authority import Actor
    from gatehouse.stores.database.menus import Menu

LAYOUT = "Layout"
IFRAME = "iframe"

_TEXTS = {
    "name": 64, "route_name": 255, "route_path": 255, "component": 255, "perm": 128, "icon": 64, "redirect": 255,
    "external_url": 1024,
}  # fmt: skip
# What each type has beside its name, parent, sort and visible; the rest is left empty.
_FIELDS: dict[MenuType, frozenset[str]] = {
    MenuType.FOLDER: frozenset({"route_name", "route_path", "component", "icon", "redirect", "always_show"}),
    MenuType.PAGE: frozenset(
        {"route_name", "route_path", "component", "icon", "redirect", "params", "keep_alive", "always_show"}
    ),
    MenuType.LINK: frozenset({"route_name", "route_path", "component", "icon", "external_url", "keep_alive"}),
    MenuType.BUTTON: frozenset({"perm"}),
}
_EMPTY: dict[str, Any] = {
    **dict.fromkeys(_TEXTS, ""), "params": "", "keep_alive": False, "always_show": False,
}  # fmt: skip
_URL = re.compile(r"https?://\S+")


def with_parents(menus: Iterable[Menu], chosen: Collection[int]) -> frozenset[int]:
    """These menus and all their ancestors."""
    parents = {menu.id: menu.parent for menu in menus}
    found: set[int] = set()
    for each in chosen:
        current: int | None = each if each in parents else None
        while current is not None and current not in found:
            found.add(current)
            current = parents.get(current)
    return frozenset(found)


def visible_menus(
    menus: Sequence[Menu], roles: Collection[str], perms: Collection[str], assigned: Collection[int]
) -> frozenset[int]:
    """The menus of roles: buttons by their perms, their ancestors, and those that were assigned; of ROOT all."""
    if ROOT in roles:
        return frozenset(menu.id for menu in menus)
    buttons = {menu.id for menu in menus if menu.type is MenuType.BUTTON and menu.perm and allows(perms, menu.perm)}
    pages = {menu.id for menu in menus if menu.type is not MenuType.BUTTON}
    return with_parents(menus, buttons) | (frozenset(assigned) & pages)


class MenuChanges:
    def __init__(self, changes: AccountChanges) -> None:
        self._changes = changes

    async def add(self, actor: Actor, values: dict[str, Any]) -> int:
        values = complete_menu(values)
        async with self._changes.begin(actor) as change:
            transaction = change.transaction
            parent = values["parent"]
            check_parent(MenuType(values["type"]), None if parent is None else await transaction.menu(parent))
            authority.require_perms(actor, {values["perm"]} - {""})
            menu = await transaction.add_menu(**{"created": self._changes.now, **values})
            affected = await root_users(transaction, {values["perm"]} - {""})
            change.invalidate(affected)
            change.record(Event.MENU_ADDED, menu=menu, name=values["name"])
        return menu

    async def edit(self, actor: Actor, menu: int, values: dict[str, Any]) -> None:
        """Replace all values: a value that is left out is cleared."""
        values = complete_menu(values)
        async with self._changes.begin(actor) as change:
            transaction = change.transaction
            before = await transaction.menu(menu)
            parent = values["parent"]
            check_parent(MenuType(values["type"]), None if parent is None else await transaction.menu(parent))
            # Under another name an administrator may grant what this button carries without knowing it.
            authority.require_perms(actor, {before.perm, values["perm"]} - {""})
            values = {name: value for name, value in values.items() if value != getattr(before, name)}
            if values:
                await transaction.set_menu(menu, **values)
            if "type" in values:
                await transaction.unassign_menu(menu)
            affected = await root_users(transaction, values.keys() & {"perm"})
            change.invalidate(affected)
            if values:
                change.record(Event.MENU_CHANGED, menu=menu, changed=sorted(values))

    async def delete(self, actor: Actor, menu: int) -> list[int]:
        """With everything below it. Roles keep their perms, which belong to the role and not to the button."""
        async with self._changes.begin(actor) as change:
            transaction = change.transaction
            name = (await transaction.menu(menu)).name
            menus = await transaction.all_menus()
            gone = await transaction.delete_menu(menu)
            perms = [each.perm for each in menus if each.id in gone and each.perm]
            authority.require_perms(actor, perms)
            affected = await root_users(transaction, perms)
            change.invalidate(affected)
            change.record(Event.MENU_DELETED, menu=menu, name=name, with_below=len(gone) - 1)
        return gone

    async def assign(self, actor: Actor, role: int, wanted: Sequence[int]) -> None:
        """Replace the menus of a role. Ids of menus that no longer exist are ignored."""
        async with self._changes.begin(actor) as change:
            transaction = change.transaction
            [before] = await transaction.roles([role])
            menus = await transaction.all_menus()
            chosen = set(wanted)
            buttons = [menu for menu in menus if menu.type is MenuType.BUTTON and menu.perm]
            kept = expand(menu.perm for menu in buttons if menu.id in chosen)
            denied = {
                name
                for menu in buttons
                if menu.id not in chosen and not allows(kept, menu.perm)
                for name in names_of(menu.perm)
            } & before.perms
            allowed = [
                name
                for menu in buttons
                if menu.id in chosen and not allows(before.perms, menu.perm)
                for name in names_of(menu.perm)
            ]
            after = replace(before, perms=(before.perms - denied) | set(allowed))
            holders = await require_role_change(transaction, actor, before, after)
            await transaction.deny(role, denied)
            await transaction.allow(role, set(allowed) - before.perms)
            shown = {menu.id for menu in menus if menu.type is not MenuType.BUTTON} & chosen
            # Those above its buttons are shown anyway; what is stored is what was chosen.
            await transaction.replace_menus(role, shown)
            affected = [
                *holders,
                *await root_users(transaction, denied | set(allowed)),
            ]
            change.invalidate(affected)
            change.record(
                Event.ROLE_CHANGED,
                role=before.code,
                menus=len(shown),
                allowed=sorted(allowed),
                denied=sorted(denied),
            )


def check_parent(kind: MenuType, parent: Menu | None) -> None:
    """A tree that the consoles can draw.

    Folders hold everything, pages hold pages, links and buttons, links hold buttons, and buttons hold nothing. At the
    top is everything but buttons.
    """
    if kind is MenuType.BUTTON:
        allowed = parent is not None and parent.type in {MenuType.PAGE, MenuType.LINK, MenuType.FOLDER}
    elif kind is MenuType.FOLDER:
        allowed = parent is None or parent.type is MenuType.FOLDER
    else:
        allowed = parent is None or parent.type in {MenuType.FOLDER, MenuType.PAGE}
    if not allowed:
        raise AccountFieldInvalid("parentId", f"a menu of type {kind.value} cannot be below this parent")


def complete_menu(given: dict[str, Any]) -> dict[str, Any]:
    """Every column of a menu, checked: columns that its type does not use are empty, required ones are present."""
    kind = MenuType(given["type"])
    taken = _FIELDS[kind] | {"name", "type", "parent", "sort", "visible"}
    values = {"parent": None, "sort": 0, "visible": True, **_EMPTY}
    values |= {name: value for name, value in given.items() if name in taken}
    for name, max_length in _TEXTS.items():
        values[name] = str(values[name]).strip()
        if len(values[name]) > max_length or not values[name].isprintable():
            raise AccountFieldInvalid(contract_name(name), f"at most {max_length} printable characters")
    _check_required(kind, values)
    _check_values(kind, values)
    return values | _set_by_type(kind, values)


def _check_required(kind: MenuType, values: dict[str, Any]) -> None:
    required = {
        MenuType.FOLDER: ("name", "route_path"),
        MenuType.PAGE: ("name", "route_path", "component"),
        MenuType.LINK: ("name", "external_url"),
        MenuType.BUTTON: ("name", "perm"),
    }[kind]
    for name in required:
        if not values[name]:
            raise AccountFieldInvalid(contract_name(name), "is needed")


def _check_values(kind: MenuType, values: dict[str, Any]) -> None:
    check_field("sort", values["sort"], policy.check_sort)
    if kind is MenuType.BUTTON:
        check_field("perm", values["perm"], policy.check_perm)
    if kind is MenuType.LINK and not _URL.fullmatch(values["external_url"]):
        raise AccountFieldInvalid("externalUrl", "not a web address")


def _set_by_type(kind: MenuType, values: dict[str, Any]) -> dict[str, Any]:
    """What the type of a menu decides, whatever was sent."""
    if kind is not MenuType.FOLDER:
        return {}
    path = values["route_path"]
    # The consoles' router throws at a top-level path without the slash, and logs everybody out.
    lacks_slash = values["parent"] is None and not path.startswith("/")
    return {"component": LAYOUT, "route_path": f"/{path}" if lacks_slash else path}
