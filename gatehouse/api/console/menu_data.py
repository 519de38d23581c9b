"""What the console's menu page sends and shows."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from gatehouse.api.console.shared_types import Flag, Id, Number

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
