"""From menus to the routes of the console's router: what it needs to draw the side menu and open its pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta, Struct

from gatehouse.api.http.response import Response, success
from gatehouse.api.operation_declaration import Operation
from gatehouse.management.menus import IFRAME, LAYOUT, visible_menus, with_parents
from gatehouse.messages import section
from gatehouse.stores.database.menus import Menu, MenuType

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gatehouse.api.http.request import Request
    from gatehouse.auth.principal import Principal
    from gatehouse.composition import Service
    from gatehouse.stores.database.menus import RoleMenus

# Names of routes that the consoles define themselves: one of the same name would replace them.
_RESERVED_NAMES = ("", "/", "Dashboard", "Profile", "MyNotice", "Login", "Redirect")


class RouteMeta(Struct, omit_defaults=True):
    title: str
    roles: Annotated[list[str], Meta(description="Those of the caller's roles that show it.")]
    icon: str | None = None
    hidden: bool = False
    keepAlive: bool = False
    alwaysShow: bool = False
    params: dict[str, str] | None = None
    externalUrl: str | None = None


class RouteData(Struct, omit_defaults=True):
    """A route of the console's router. `component` is `Layout`, `iframe` or the path of a view."""

    path: str
    name: str
    meta: RouteMeta
    component: str | None = None
    redirect: str | None = None
    children: list[RouteData] = []


class SideMenuEndpoint:
    def __init__(self, service: Service) -> None:
        self._menus = service.stores.menus

    @Operation("GET", "/api/v1/menus/routes", "The side menu of the caller", data=list[RouteData])
    async def menu_routes(self, request: Request, principal: Principal) -> Response:
        roles = await self._menus.of_roles(principal.profile.roles)
        return success(side_menu(await self._menus.all(), roles, request.language), request.language)


def side_menu(menus: Sequence[Menu], roles: Mapping[str, RoleMenus], language: str) -> list[RouteData]:
    """Those menus that the user's roles show, and for ROOT all of them."""
    shown_by: dict[int, list[str]] = {}
    for code, role in roles.items():
        for menu in with_parents(menus, visible_menus(menus, [code], role.perms, role.given)):
            shown_by.setdefault(menu, []).append(code)
    return _Routes(menus, shown_by, language).children_of(None)


class _Routes:
    def __init__(self, menus: Sequence[Menu], shown_by: Mapping[int, list[str]], language: str) -> None:
        self._default_titles = section("menus", language)
        self._shown_by = shown_by
        self._names = set(_RESERVED_NAMES)
        self._children: dict[int | None, list[Menu]] = {}
        for menu in menus:
            if menu.id in shown_by and menu.type is not MenuType.BUTTON:
                self._children.setdefault(menu.parent, []).append(menu)

    def children_of(self, parent: int | None) -> list[RouteData]:
        routes = [self._route(menu) for menu in self._children.get(parent, [])]
        return routes if parent is not None else [_with_layout(route) for route in routes]

    def _route(self, menu: Menu) -> RouteData:
        meta = RouteMeta(
            title=self._default_titles.get(menu.name, menu.name),
            roles=self._shown_by[menu.id],
            icon=menu.icon or None,
            hidden=not menu.visible,
            keepAlive=menu.keep_alive,
            alwaysShow=menu.always_show,
            params=msgspec.json.decode(menu.params) if menu.params else None,
        )
        route = RouteData(
            path=menu.route_path,
            name=self._name(menu),
            meta=meta,
            component=menu.component or None,
            redirect=menu.redirect or None,
            children=self.children_of(menu.id),
        )
        if menu.type is MenuType.LINK and menu.component == IFRAME:
            meta.externalUrl = menu.external_url
            route.path = route.path or f"link-{menu.id}"
        elif menu.type is MenuType.LINK:
            route.path, route.component = menu.external_url, None
        return route

    def _name(self, menu: Menu) -> str:
        """Unique, because routes are removed by name, and one that comes twice replaces the first."""
        name = menu.route_name or menu.route_path
        if name in self._names:
            name = f"{name}-{menu.id}"
        self._names.add(name)
        return name


def _with_layout(route: RouteData) -> RouteData:
    """A top-level route needs an absolute path, and a page there has no layout unless it is put into one."""
    if route.component == LAYOUT:
        return route
    inner = route.path
    return RouteData(
        path=f"/{route.name.strip('/')}" if "://" in inner else f"/{inner.strip('/')}",
        name=f"{route.name}-frame",
        meta=RouteMeta(route.meta.title, route.meta.roles, icon=route.meta.icon, hidden=route.meta.hidden),
        component=LAYOUT,
        children=[route if "://" in inner else msgspec.structs.replace(route, path="")],
    )
