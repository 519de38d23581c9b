"""Imports menus, under their own ids."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec

from gatehouse.auth.audit import Event
from gatehouse.auth.perms import canonical
from gatehouse.management.default_menus import are_untouched
from gatehouse.stores.database.menus import MENU_TYPES, Menu, Menus, MenuType
from gatehouse.stores.import_sources.values import number, text
from gatehouse.transfer.import_rows import ImportCount, Remark, SourceMenu, cut_cycles, moved_to_top, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gatehouse.stores.database.audit_trail import AuditEntry
    from gatehouse.stores.database.import_batches import ImportBatches
    from gatehouse.stores.database.sql_engine import Database


def type_of(row: Mapping[str, Any]) -> MenuType | None:
    """The type of a row of sys_menu, which versions write as a letter, a number or a word."""
    return MENU_TYPES.get(text(row["type"]).strip().upper())


def read_row(row: Mapping[str, Any]) -> SourceMenu | Remark:
    """One row of sys_menu, or why it cannot be imported."""
    key = number(row["id"]) or 0
    origin = f"sys_menu {row['id']}"
    kind = type_of(row)
    if key <= 0 or kind is None:
        return Remark(origin, "not an id" if key <= 0 else f"no type of menu: {row['type']!r}")
    path = str(row.get("route_path") or "")
    link = kind is MenuType.LINK
    perm = canonical(printable(str(row["perm"] or ""), 128)) if kind is MenuType.BUTTON else ""
    return SourceMenu(
        origin,
        Menu(
            id=key,
            parent=number(row.get("parent")) or None,
            name=printable(str(row.get("name") or "")) or f"Menu {key}",
            type=kind,
            route_name=printable(str(row.get("route_name") or ""), 255),
            route_path="" if link and "://" in path else printable(path, 255),
            component=printable(str(row.get("component") or ""), 255),
            perm=perm,
            icon=printable(str(row.get("icon") or "")),
            redirect=printable(str(row.get("redirect") or ""), 255),
            params=_params(row.get("params")),
            sort=number(row.get("sort")) or 0,
            visible=number(row.get("visible")) != 0,
            keep_alive=number(row.get("keep_alive")) == 1,
            always_show=number(row.get("always_show")) == 1,
            external_url=path if link and "://" in path else printable(str(row.get("external_url") or ""), 1024),
        ),
    )


def _params(given: object) -> str:
    """An object whose values are texts, or nothing."""
    try:
        value = msgspec.json.decode(given) if isinstance(given, str | bytes) and given else {}
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ""
    if isinstance(value, list):  # {key, value}, as the forms of the consoles have it
        value = {str(each.get("key")): each.get("value") for each in value if isinstance(each, dict)}
    if not isinstance(value, dict) or not value:
        return ""
    return msgspec.json.encode({str(key): str(each) for key, each in value.items()}).decode()


class MenuImport:
    def __init__(
        self, database: Database, batches: ImportBatches, entry: Callable[..., AuditEntry], *, dry_run: bool
    ) -> None:
        self._menus = Menus(database)
        self._batches = batches
        self._entry = entry
        self._dry_run = dry_run

    async def run(
        self, rows: Sequence[SourceMenu], assigned: Mapping[str, frozenset[int]]
    ) -> tuple[ImportCount, list[Remark]]:
        """Create or change each menu. The menus of the first start are replaced, unless they were changed."""
        if not rows:
            return ImportCount(), []
        existing = {menu.id: menu for menu in await self._menus.all()}
        gone = sorted(existing) if are_untouched(list(existing.values())) else []
        existing = {} if gone else existing
        rows, remarks = _without_cycles(rows, existing)
        new = [row.menu for row in rows if row.menu.id not in existing]
        kept = {
            row.menu.id: replace(row.menu, created=existing[row.menu.id].created)
            for row in rows
            if row.menu.id in existing
        }
        changed = [menu for menu in kept.values() if menu != existing[menu.id]]
        count = ImportCount(len(new), len(changed), len(kept) - len(changed))
        before = {} if gone else await self._menus.by_role()
        other = {code: ids for code, ids in assigned.items() if ids != before.get(code, frozenset())}
        if (new or changed or other) and not self._dry_run:
            entries = [self._entry(Event.MENU_ADDED, menu=menu.id, name=menu.name) for menu in new]
            entries += [self._entry(Event.MENU_CHANGED, menu=menu.id, name=menu.name) for menu in changed]
            await self._batches.write_menus([*new, *changed], gone, other, entries)
        return count, remarks


def _without_cycles(rows: Sequence[SourceMenu], existing: Mapping[int, Menu]) -> tuple[list[SourceMenu], list[Remark]]:
    parents = {menu.id: menu.parent for menu in [*existing.values(), *(row.menu for row in rows)]}
    cut = cut_cycles(parents, [row.menu.id for row in rows])
    remarks = [moved_to_top(row.origin, row.menu.parent) for row in rows if row.menu.id in cut]
    return [replace(row, menu=replace(row.menu, parent=None)) if row.menu.id in cut else row for row in rows], remarks
