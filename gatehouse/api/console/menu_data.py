"""The console's menu page, and the menus of a role."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from gatehouse.api.console.fields import Flag, Id, Number
from gatehouse.api.console.operation import console_operation
from gatehouse.api.console.options import OptionData
from gatehouse.api.operation import PREFIX
from gatehouse.auth import refusals
from gatehouse.stores.errors import InUse, LastAdministrator, Missing

Type = Annotated[
    int | str,
    Meta(
        description="C folder, M page, E external link, B button. Sessions of older consoles see and send 2, 1, 3, 4, "
        "or CATALOG, MENU, EXTLINK, BUTTON; every console may send any of them."
    ),
]


class MenuQuery(Struct):
    keywords: Annotated[str, Meta(max_length=128)] = ""


class MenuOptionsQuery(Struct):
    onlyParent: bool = False


class Param(Struct):
    key: str = ""
    value: str = ""


class MenuForm(Struct):
    id: str
    parentId: str
    name: str
    type: Type
    routeName: str
    routePath: str
    component: str
    externalUrl: str
    perm: str
    icon: str
    sort: int
    visible: int
    redirect: str
    params: list[Param]
    keepAlive: int
    alwaysShow: int
    scope: Annotated[int, Meta(description="Belongs to tenants, which are not here: always 2.")] = 2
    path: Annotated[str, Meta(description="`routePath`, for sessions of consoles up to 2.11.")] | UnsetType = UNSET


class MenuRow(MenuForm, kw_only=True):
    children: list[MenuRow]


class MenuBody(Struct):
    """A whole menu: what is left out is cleared. Consoles up to 2.11 call the `routePath` `path`."""

    name: Annotated[str, Meta(min_length=1, max_length=64)]
    type: Type
    parentId: Id | None = None
    routeName: str | None = None
    routePath: str | None = None
    component: str | None = None
    externalUrl: str | None = None
    perm: str | None = None
    icon: str | None = None
    sort: Number | None = None
    visible: Flag | None = None
    redirect: str | None = None
    params: list[Param] | None = None
    keepAlive: Flag | None = None
    alwaysShow: Flag | None = None
    path: str | None = None


OPERATIONS = (
    console_operation("menus", "GET", "menus", "Menus as a tree", "sys:menu:list", query=MenuQuery, data=list[MenuRow]),
    console_operation(
        "menu_options",
        "GET",
        "menus/options",
        "Menus as choices; with `onlyParent` only those that can have others below them",
        "sys:menu:list",
        or_perms=("sys:role:assign",),
        query=MenuOptionsQuery,
        data=list[OptionData],
    ),
    console_operation(
        "menu_form",
        "GET",
        "menus/{id}/form",
        "One menu",
        "sys:menu:list",
        or_perms=("sys:menu:update",),
        data=MenuForm,
        refusals=(refusals.FieldInvalid, Missing),
    ),
    console_operation(
        "add_menu",
        "POST",
        "menus",
        "Add a menu",
        "sys:menu:create",
        body=MenuBody,
        body_required=True,
        refusals=(refusals.CannotGrant, Missing, InUse),
    ),
    console_operation(
        "edit_menu",
        "PUT",
        "menus/{id}",
        "Change a menu",
        "sys:menu:update",
        body=MenuBody,
        body_required=True,
        refusals=(refusals.CannotGrant, Missing, InUse),
    ),
    console_operation(
        "delete_menu",
        "DELETE",
        "menus/{id}",
        "Delete a menu with everything below it; roles keep their perms",
        "sys:menu:delete",
        refusals=(refusals.FieldInvalid, refusals.CannotGrant, Missing),
    ),
    console_operation(
        "role_menu_ids",
        "GET",
        "roles/{id}/menu-ids",
        "The menus that a role has: buttons by its perms, the rest as assigned",
        "sys:role:assign",
        or_perms=("sys:role:list",),
        data=list[str],
        refusals=(refusals.FieldInvalid, Missing),
        older_paths=(f"{PREFIX}/roles/{{id}}/menuIds",),
    ),
    console_operation(
        "assign_menus",
        "PUT",
        "roles/{id}/menus",
        "Give a role these menus, and the perms of these buttons; perms that no button carries stay",
        "sys:role:assign",
        body=list[Id],
        body_required=True,
        refusals=(refusals.CannotGrant, Missing, LastAdministrator),
    ),
)
