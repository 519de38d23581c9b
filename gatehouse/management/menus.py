"""The console's menus: which menu may be below which, which menus a role has, and how they are changed.

A role has a button if it has the button's perm, however it got it. So perms granted on the command line show as
checked, an assignment in the console grants and denies the perms of its buttons, and perms that no button carries stay
as they are. A role shows the folders, pages and links that it was given, and those above its buttons.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from gatehouse.auth.audit import Event
from gatehouse.auth.perms import ROOT, allows, expand, names_of
from gatehouse.auth.refusals import AccountFieldInvalid
from gatehouse.management import accepted_values, authority
from gatehouse.management.accepted_values import check_field
from gatehouse.management.roles import require_role_change, root_users
from gatehouse.stores.database.menus import Menu, MenuType
from gatehouse.stores.database.row_changes import applied

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from gatehouse.management.account_changes import AccountChanges
    from gatehouse.management.authority import Actor
    from gatehouse.stores.database.menus import MenuChange

LAYOUT = "Layout"
IFRAME = "iframe"

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

    async def add(self, actor: Actor, given: Menu) -> int:
        """The id in `given` is ignored."""
        new = replace(complete_menu(given), created=self._changes.now)
        async with self._changes.begin(actor) as change:
            transaction = change.transaction
            check_parent(new.type, None if new.parent is None else await transaction.menu(new.parent))
            authority.require_perms(actor, {new.perm} - {""})
            menu = await transaction.add_menu(new)
            affected = await root_users(transaction, {new.perm} - {""})
            change.invalidate(affected)
            change.record(Event.MENU_ADDED, menu=menu, name=new.name)
        return menu

    async def edit(self, actor: Actor, menu: int, values: MenuChange) -> None:
        async with self._changes.begin(actor) as change:
            transaction = change.transaction
            before = await transaction.menu(menu)
            after = complete_menu(applied(before, values))
            check_parent(after.type, None if after.parent is None else await transaction.menu(after.parent))
            # Under another name an administrator may grant what this button carries without knowing it.
            authority.require_perms(actor, {before.perm, after.perm} - {""})
            changed = sorted(name for name in Menu.__slots__ if getattr(before, name) != getattr(after, name))
            if changed:
                await transaction.set_menu(after, moved="parent" in changed)
            if "type" in changed:
                await transaction.unassign_menu(menu)
            affected = await root_users(transaction, {"perm"} & set(changed))
            change.invalidate(affected)
            if changed:
                change.record(Event.MENU_CHANGED, menu=menu, changed=changed)

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


def complete_menu(given: Menu) -> Menu:
    """The menu, checked: fields that its type does not use are empty, required ones are present."""
    menu = _of_type(given)
    checked = replace(
        menu,
        name=_text("name", menu.name, 64),
        route_name=_text("routeName", menu.route_name, 255),
        route_path=_text("routePath", menu.route_path, 255),
        component=_text("component", menu.component, 255),
        perm=_text("perm", menu.perm, 128),
        icon=_text("icon", menu.icon, 64),
        redirect=_text("redirect", menu.redirect, 255),
        external_url=_text("externalUrl", menu.external_url, 1024),
    )
    _check_required(checked)
    check_field("sort", checked.sort, accepted_values.check_sort)
    if checked.type is MenuType.BUTTON:
        check_field("perm", checked.perm, accepted_values.check_perm)
    if checked.type is MenuType.LINK and not _URL.fullmatch(checked.external_url):
        raise AccountFieldInvalid("externalUrl", "not a web address")
    return _as_folder(checked) if checked.type is MenuType.FOLDER else checked


def _of_type(given: Menu) -> Menu:
    """Only what a menu of this type has beside its name, parent, sort and visible."""
    menu = Menu(
        given.id, given.parent, given.name, given.type, sort=given.sort, visible=given.visible, created=given.created
    )
    if given.type is MenuType.BUTTON:
        return replace(menu, perm=given.perm)
    menu = replace(
        menu, route_name=given.route_name, route_path=given.route_path, component=given.component, icon=given.icon
    )
    match given.type:
        case MenuType.FOLDER:
            return replace(menu, redirect=given.redirect, always_show=given.always_show)
        case MenuType.LINK:
            return replace(menu, external_url=given.external_url, keep_alive=given.keep_alive)
    return replace(
        menu,
        redirect=given.redirect,
        params=given.params,
        keep_alive=given.keep_alive,
        always_show=given.always_show,
    )


def _text(field: str, text: str, max_length: int) -> str:
    text = text.strip()
    if len(text) > max_length or not text.isprintable():
        raise AccountFieldInvalid(field, f"at most {max_length} printable characters")
    return text


def _check_required(menu: Menu) -> None:
    required = {
        MenuType.FOLDER: {"routePath": menu.route_path},
        MenuType.PAGE: {"routePath": menu.route_path, "component": menu.component},
        MenuType.LINK: {"externalUrl": menu.external_url},
        MenuType.BUTTON: {"perm": menu.perm},
    }[menu.type]
    for field, text in {"name": menu.name, **required}.items():
        if not text:
            raise AccountFieldInvalid(field, "is needed")


def _as_folder(menu: Menu) -> Menu:
    """What the type decides, whatever was sent."""
    path = menu.route_path
    # The consoles' router throws at a top-level path without the slash, and logs everybody out.
    lacks_slash = menu.parent is None and not path.startswith("/")
    return replace(menu, component=LAYOUT, route_path=f"/{path}" if lacks_slash else path)
