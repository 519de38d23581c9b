"""The console's menus: a tree of folders, pages, links and buttons, and which of them a role shows."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, UnsetType
from sqlalchemy import delete, func, insert, select, update

from gatehouse.stores.database.row_changes import RowChange
from gatehouse.stores.database.schema import menus, role_menus, role_perms, roles
from gatehouse.stores.database.sql_engine import new_id
from gatehouse.stores.database.tree_depth import require_depth
from gatehouse.stores.errors import InUse, Missing

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from sqlalchemy.ext.asyncio import AsyncConnection

    from gatehouse.stores.database.sql_engine import Database


class MenuType(StrEnum):
    FOLDER = "C"
    PAGE = "M"
    LINK = "E"
    BUTTON = "B"


# What consoles before 4.3 call the types.
MENU_TYPE_NUMBERS = {MenuType.FOLDER: 2, MenuType.PAGE: 1, MenuType.LINK: 3, MenuType.BUTTON: 4}
MENU_TYPE_WORDS = {
    MenuType.FOLDER: "CATALOG", MenuType.PAGE: "MENU", MenuType.LINK: "EXTLINK", MenuType.BUTTON: "BUTTON",
}  # fmt: skip
# The types by all their names.
MENU_TYPES = {
    **{kind.value: kind for kind in MenuType},
    **{str(number): kind for kind, number in MENU_TYPE_NUMBERS.items()},
    **{word: kind for kind, word in MENU_TYPE_WORDS.items()},
}


@dataclass(frozen=True, slots=True)
class Menu:
    id: int
    parent: int | None
    name: str
    type: MenuType
    route_name: str = ""
    route_path: str = ""
    component: str = ""
    perm: str = ""  # of a button
    icon: str = ""
    redirect: str = ""
    params: str = ""  # a JSON object, or empty
    sort: int = 0
    visible: bool = True
    keep_alive: bool = False
    always_show: bool = False
    created: float = 0.0
    external_url: str = ""


class MenuChange(RowChange, frozen=True, kw_only=True):
    parent: int | UnsetType | None = UNSET
    name: str | UnsetType = UNSET
    type: MenuType | UnsetType = UNSET
    route_name: str | UnsetType = UNSET
    route_path: str | UnsetType = UNSET
    component: str | UnsetType = UNSET
    perm: str | UnsetType = UNSET
    icon: str | UnsetType = UNSET
    redirect: str | UnsetType = UNSET
    params: str | UnsetType = UNSET
    sort: int | UnsetType = UNSET
    visible: bool | UnsetType = UNSET
    keep_alive: bool | UnsetType = UNSET
    always_show: bool | UnsetType = UNSET
    external_url: str | UnsetType = UNSET


@dataclass(frozen=True, slots=True)
class RoleMenus:
    """What decides which menus a role shows: those that it was given, and its perms for the buttons."""

    given: frozenset[int]
    perms: frozenset[str]


_COLUMNS = [menus.c[name] for name in Menu.__slots__]


def _menu(row: Any) -> Menu:
    return Menu(row.id, row.parent, row.name, MenuType(row.type), *row[4:])


class Menus:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self) -> Sequence[Menu]:
        """In the order in which they are shown."""
        async with self._database.reading() as db:
            rows = (await db.execute(select(*_COLUMNS).order_by(menus.c.sort, menus.c.id))).all()
        return [_menu(row) for row in rows]

    async def get(self, menu: int) -> Menu:
        async with self._database.reading() as db:
            row = (await db.execute(select(*_COLUMNS).where(menus.c.id == menu))).first()
        if row is None:
            raise Missing(f"there is no menu {menu}")
        return _menu(row)

    async def create_all(self, entries: Iterable[Menu]) -> None:
        """All of them, if there is no menu at all. `parent` is the position in the list of one that came before."""
        async with self._database.writing() as db:
            if await db.scalar(select(func.count()).select_from(menus)):
                return
            ids: list[int] = []
            for entry in entries:
                parent = None if entry.parent is None else ids[entry.parent]
                ids.append(await _insert(db, replace(entry, parent=parent)))

    async def of_roles(self, role_codes: Collection[str]) -> Mapping[str, RoleMenus]:
        """What each of these roles has, by its code."""
        given: dict[str, set[int]] = {code: set() for code in role_codes}
        perms: dict[str, set[str]] = {code: set() for code in role_codes}
        wanted = roles.c.code.in_(list(role_codes))
        async with self._database.reading() as db:
            for row in await db.execute(select(roles.c.code, role_menus.c.menu).join(role_menus).where(wanted)):
                given[row.code].add(row.menu)
            for row in await db.execute(select(roles.c.code, role_perms.c.perm).join(role_perms).where(wanted)):
                perms[row.code].add(row.perm)
        return {code: RoleMenus(frozenset(given[code]), frozenset(perms[code])) for code in given}

    async def by_role(self) -> Mapping[str, frozenset[int]]:
        """Which of them each role was given, by its code."""
        query = select(roles.c.code, role_menus.c.menu).join(roles, roles.c.id == role_menus.c.role)
        given: dict[str, set[int]] = {}
        async with self._database.reading() as db:
            for row in await db.execute(query):
                given.setdefault(row.code, set()).add(row.menu)
        return {code: frozenset(ids) for code, ids in given.items()}


class MenuWrites:
    """What one transaction does to menus; see `account_transactions.py`."""

    db: AsyncConnection

    async def menus(self, ids: Iterable[int]) -> list[Menu]:
        """Those of them that are there."""
        return [_menu(row) for row in await self.db.execute(select(*_COLUMNS).where(menus.c.id.in_(list(ids))))]

    async def all_menus(self) -> list[Menu]:
        return [_menu(row) for row in await self.db.execute(select(*_COLUMNS))]

    async def menu(self, menu: int) -> Menu:
        found = await self.menus([menu])
        if not found:
            raise Missing(f"there is no menu {menu}")
        return found[0]

    async def add_menu(self, new: Menu) -> int:
        """The id in `new` is ignored."""
        menu = await _insert(self.db, new)
        await require_depth(self.db, menus, menu)
        return menu

    async def set_menu(self, menu: Menu, *, moved: bool) -> None:
        """`moved`: its parent is not the one that it had."""
        if moved and menu.parent in await _subtree(self.db, menu.id):
            raise InUse(f"menu {menu.id} cannot be below itself")
        await self.db.execute(update(menus).where(menus.c.id == menu.id).values(**asdict(menu)))
        if moved:
            await require_depth(self.db, menus, menu.id)

    async def delete_menu(self, menu: int) -> list[int]:
        """With everything below it. Returns the ids that went."""
        gone = await _subtree(self.db, menu)
        for each in reversed(gone):  # children first: they refer to their parents
            await self.db.execute(delete(menus).where(menus.c.id == each))
        return gone

    async def unassign_menu(self, menu: int) -> None:
        """No role shows it any more."""
        await self.db.execute(delete(role_menus).where(role_menus.c.menu == menu))

    async def replace_menus(self, role: int, wanted: Iterable[int]) -> None:
        """What the role shows; buttons go by its perms."""
        await self.db.execute(delete(role_menus).where(role_menus.c.role == role))
        rows = [{"role": role, "menu": menu} for menu in sorted(set(wanted))]
        if rows:
            await self.db.execute(insert(role_menus), rows)


async def _insert(db: AsyncConnection, menu: Menu) -> int:
    columns = {name: value for name, value in asdict(menu).items() if name != "id"}
    return new_id(await db.execute(insert(menus).values(**columns)))


async def _subtree(db: AsyncConnection, top: int) -> list[int]:
    """The menu itself and everything below it, parents first."""
    below: dict[int | None, list[int]] = {}
    for row in await db.execute(select(menus.c.id, menus.c.parent)):
        below.setdefault(row.parent, []).append(row.id)
    found = [top]
    for each in found:
        found += [child for child in below.get(each, []) if child not in found]
    return found
