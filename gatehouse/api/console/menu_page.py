"""The console's menu page, and the menus of a role."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET

from gatehouse.api.actor import actor_of
from gatehouse.api.console.dates_and_ids import number, parse_id
from gatehouse.api.console.menu_data import MenuBody, MenuForm, MenuOptionsQuery, MenuQuery, MenuRow, Param
from gatehouse.api.console.shared_types import Id, OptionData
from gatehouse.api.console.trees import tree
from gatehouse.api.http.response import Response, success
from gatehouse.api.operation_declaration import Operation
from gatehouse.auth import refusals
from gatehouse.auth.refusals import FieldInvalid
from gatehouse.auth.sessions.console_versions import ConsoleVersion
from gatehouse.management.menus import visible_menus, with_parents
from gatehouse.messages import section
from gatehouse.stores.database.menus import MENU_TYPE_NUMBERS, MENU_TYPE_WORDS, MENU_TYPES, Menu, MenuChange, MenuType
from gatehouse.stores.database.row_changes import applied
from gatehouse.stores.errors import InUse, LastAdministrator, Missing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatehouse.api.http.request import Request
    from gatehouse.auth.principal import Principal
    from gatehouse.composition import Service


class MenuEndpoints:
    def __init__(self, service: Service) -> None:
        self._roles = service.stores.roles
        self._menus = service.stores.menus
        self._changes = service.management.menu_changes
        self._console_versions = service.console_versions

    @Operation("GET", "/api/v1/menus", "Menus as a tree", perm="sys:menu:list", query=MenuQuery, data=list[MenuRow])
    async def menus(self, request: Request, principal: Principal) -> Response:
        keywords = request.query_as(MenuQuery).keywords.casefold()
        console_version = await self._console_versions.of_session(principal.claims.session)
        menus = await self._menus.all()
        if keywords:
            found = with_parents(menus, [menu.id for menu in menus if keywords in menu.name.casefold()])
            menus = [menu for menu in menus if menu.id in found]

        def row(menu: Menu, children: list[MenuRow]) -> MenuRow:
            return MenuRow(**msgspec.structs.asdict(_form(menu, console_version)), children=children)

        return success(tree(menus, row), request.language)

    @Operation(
        "GET",
        "/api/v1/menus/options",
        "Menus as choices; with `onlyParent` only those that can have others below them",
        perm="sys:menu:list",
        or_perms=("sys:role:assign",),
        query=MenuOptionsQuery,
        data=list[OptionData],
    )
    async def menu_options(self, request: Request, _principal: Principal) -> Response:
        only_parent = request.query_as(MenuOptionsQuery).onlyParent
        menus = [menu for menu in await self._menus.all() if not only_parent or menu.type is not MenuType.BUTTON]
        return success(tree(menus, partial(_option, request.language)), request.language)

    @Operation(
        "GET",
        "/api/v1/menus/{id}/form",
        "One menu",
        perm="sys:menu:list",
        or_perms=("sys:menu:update",),
        data=MenuForm,
        refusals=(refusals.FieldInvalid, Missing),
    )
    async def menu_form(self, request: Request, principal: Principal) -> Response:
        menu = await self._menus.get(request.path_id())
        console_version = await self._console_versions.of_session(principal.claims.session)
        return success(_form(menu, console_version), request.language)

    @Operation(
        "POST",
        "/api/v1/menus",
        "Add a menu",
        perm="sys:menu:create",
        body=MenuBody,
        refusals=(refusals.CannotGrant, Missing, InUse),
    )
    async def add_menu(self, request: Request, principal: Principal) -> Response:
        change = _menu_change(await request.fields(MenuBody))
        new = applied(Menu(0, None, "", MenuType.PAGE), change)
        await self._changes.add(actor_of(request, principal), new)
        return success(language=request.language)

    @Operation(
        "PUT",
        "/api/v1/menus/{id}",
        "Change a menu",
        perm="sys:menu:update",
        body=MenuBody,
        refusals=(refusals.CannotGrant, Missing, InUse),
    )
    async def edit_menu(self, request: Request, principal: Principal) -> Response:
        menu, change = request.path_id(), _menu_change(await request.fields(MenuBody))
        await self._changes.edit(actor_of(request, principal), menu, change)
        return success(language=request.language)

    @Operation(
        "DELETE",
        "/api/v1/menus/{id}",
        "Delete a menu with everything below it; roles keep their perms",
        perm="sys:menu:delete",
        refusals=(refusals.FieldInvalid, refusals.CannotGrant, Missing),
    )
    async def delete_menu(self, request: Request, principal: Principal) -> Response:
        await self._changes.delete(actor_of(request, principal), request.path_id())
        return success(language=request.language)

    @Operation(
        "GET",
        "/api/v1/roles/{id}/menu-ids",
        "The menus that a role has: buttons by its perms, the rest as assigned",
        perm="sys:role:assign",
        or_perms=("sys:role:list",),
        data=list[str],
        refusals=(refusals.FieldInvalid, Missing),
        older_paths=("/api/v1/roles/{id}/menuIds",),
    )
    async def role_menu_ids(self, request: Request, _principal: Principal) -> Response:
        role = await self._roles.get(request.path_id())
        given = (await self._menus.by_role()).get(role.code, frozenset())
        held = visible_menus(await self._menus.all(), [role.code], role.perms, given)
        return success([str(menu) for menu in sorted(held)], request.language)

    @Operation(
        "PUT",
        "/api/v1/roles/{id}/menus",
        "Give a role these menus, and the perms of these buttons; perms that no button carries stay",
        perm="sys:role:assign",
        body=list[Id],
        refusals=(refusals.CannotGrant, Missing, LastAdministrator),
    )
    async def assign_menus(self, request: Request, principal: Principal) -> Response:
        role = request.path_id()
        given = await request.json_as(list[int | str])
        wanted = [menu for each in given if (menu := parse_id("menus", each))]
        await self._changes.assign(actor_of(request, principal), role, wanted)
        return success(language=request.language)


def _option(language: str, menu: Menu, children: list[OptionData]) -> OptionData:
    names = section("menu_buttons" if menu.type is MenuType.BUTTON else "menus", language)
    return OptionData(value=str(menu.id), label=names.get(menu.name, menu.name), children=children)


def _form(menu: Menu, console_version: ConsoleVersion) -> MenuForm:
    shown: dict[ConsoleVersion, int | str] = {
        ConsoleVersion.CURRENT: menu.type.value,
        ConsoleVersion.NUMBERS: MENU_TYPE_NUMBERS[menu.type],
        ConsoleVersion.WORDS: MENU_TYPE_WORDS[menu.type],
        ConsoleVersion.FORM: MENU_TYPE_WORDS[menu.type],
    }
    path, url = menu.route_path, menu.external_url
    if menu.type is MenuType.LINK and console_version is not ConsoleVersion.CURRENT:
        # Older consoles know no field for the address of a link, and would send it back unchanged.
        path, url = url, ""
    params = msgspec.json.decode(menu.params) if menu.params else {}
    return MenuForm(
        id=str(menu.id),
        parentId=str(menu.parent or 0),
        name=menu.name,
        type=shown[console_version],
        routeName=menu.route_name,
        routePath=path,
        component=menu.component,
        externalUrl=url,
        perm=menu.perm,
        icon=menu.icon,
        sort=menu.sort,
        visible=int(menu.visible),
        redirect=menu.redirect,
        params=[Param(key, value) for key, value in params.items()],
        keepAlive=int(menu.keep_alive),
        alwaysShow=int(menu.always_show),
        # Only to those that know no routePath: the others would send it back unchanged, beside a changed one.
        path=path if console_version is ConsoleVersion.FORM else UNSET,
    )


def _menu_change(body: MenuBody) -> MenuChange:
    """All of it: what is left out is cleared."""
    kind = MENU_TYPES.get(str(body.type))
    if kind is None:
        raise FieldInvalid("type", "no type of menu")
    path, url = body.path or body.routePath or "", body.externalUrl or ""
    if kind is MenuType.LINK and not url:
        path, url = "", path
    return MenuChange(
        type=kind,
        parent=parse_id("parentId", body.parentId),
        name=body.name,
        route_name=body.routeName or "",
        route_path=path,
        component=body.component or "",
        external_url=url,
        perm=body.perm or "",
        icon=body.icon or "",
        sort=body.sort or 0,
        visible=body.visible is None or bool(number("visible", body.visible)),
        redirect=body.redirect or "",
        params=_params(body.params or ()),
        keep_alive=bool(number("keepAlive", body.keepAlive or 0)),
        always_show=bool(number("alwaysShow", body.alwaysShow or 0)),
    )


def _params(given: Sequence[Param]) -> str:
    params = {param.key: param.value for param in given if param.key and param.value}
    return msgspec.json.encode(params).decode() if params else ""
