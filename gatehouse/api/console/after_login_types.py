"""What a console requests after login: the side menu, notices, dictionaries."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from gatehouse.api.console.operation import console_operation
from gatehouse.api.console.shared_types import Page, PageQuery
from gatehouse.api.operation import PREFIX, Operation
from gatehouse.auth import refusals


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


class NoticeRow(Struct):
    """Notices belong to a business backend: the list is always empty."""

    id: str
    title: str


class DictionaryItem(Struct):
    value: str
    label: str
    tagType: str


class DictionaryData(Struct):
    dictCode: str
    name: str
    dictDataList: list[DictionaryItem]


def _get(name: str, path: str, summary: str, data: Any, *refused: type[Exception], **more: Any) -> Operation:
    return console_operation(name, "GET", path, summary, data=data, refusals=refused, **more)


OPERATIONS = (
    _get("menu_routes", "menus/routes", "The side menu of the caller", list[RouteData]),
    _get(
        "own_notices",
        "notices/my",
        "No notices: they belong to a business backend",
        Page[NoticeRow],
        query=PageQuery,
        older_paths=(f"{PREFIX}/notices/my-page",),
    ),
    _get(
        "dictionary",
        "dicts/{code}/items/options",
        "The items of a dictionary: `gender`, others are empty",
        list[DictionaryItem],
        older_paths=tuple(
            f"{PREFIX}/{path}" for path in ("dicts/{code}/items", "dict-data/{code}/options", "dict/{code}/options")
        ),
    ),
    _get(
        "online_events",
        "sse/connect",
        "A stream of events that stays open: `online-count`, how many users have one",
        None,
        refusals.TooManyRequests,
        refusals.TooBusy,
        produces="text/event-stream",
    ),
    _get("dictionaries", "dict/list", "All dictionaries, for older consoles", list[DictionaryData]),
)
