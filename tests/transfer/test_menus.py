"""Menus come along: from an old console, through a file, and to other engines."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

from gatehouse.auth.passwords.hashing import hash_password
from gatehouse.management.authority import OPERATOR
from gatehouse.stores.database.menus import Menu, MenuChange, MenuType
from gatehouse.stores.database.users import NewUser
from gatehouse.transfer.export import export
from gatehouse.transfer.file_format import FileFormat
from gatehouse.transfer.file_reader import UserFile
from gatehouse.transfer.import_rows import Source, Summary
from gatehouse.transfer.youlai_mapping import open_youlai
from tests.support.inprocess import InProcess
from tests.support.running import PASSWORD
from tests.transfer.console import NEW, OLD, Version, sample_console
from tests.transfer.importing import importer

COLUMNS = {
    "route_name": "VARCHAR(255)", "route_path": "VARCHAR(128)", "component": "VARCHAR(128)", "icon": "VARCHAR(64)",
    "redirect": "VARCHAR(128)", "params": "VARCHAR(255)", "sort": "INTEGER", "visible": "INTEGER",
    "keep_alive": "INTEGER", "always_show": "INTEGER",
}  # fmt: skip


def old_console(path: Path, version: Version) -> str:
    """A folder, a page with its buttons, a link, and one whose parent is gone."""
    folder, link = ("C", "E") if version is NEW else (2, 3)
    console = sample_console(f"sqlite:///{path}", version)
    console.menu(2, None, folder)
    console.menu(3, None, link)
    console.menu(4, None, version.page)
    console.role(4, "SHOP", 1, 2, 3, 11)
    console.write()
    rows: dict[int, dict[str, Any]] = {
        2: {"route_path": "/system", "component": "Layout", "sort": 3, "visible": 1, "always_show": 1},
        1: {"parent_id": 2, "name": "用户管理", "route_name": "User", "route_path": "user", "keep_alive": 1,
            "component": "system/user/index", "params": '[{"key": "a", "value": "b"}]'},
        3: {"parent_id": 2, "route_path": "https://example.com", "visible": 0},
        4: {"parent_id": 99, "route_path": "lost", "component": "lost/index"},
        **{number: {"parent_id": 1} for number in (11, 12, 13, 14)},
    }  # fmt: skip

    async def fill() -> None:
        engine = create_async_engine(f"sqlite+aiosqlite:///{path}")
        async with engine.begin() as db:
            for name, kind in COLUMNS.items():
                await db.execute(text(f"ALTER TABLE sys_menu ADD COLUMN {name} {kind}"))
            for number, values in rows.items():
                said = ", ".join(f"{name} = :{name}" for name in values)
                await db.execute(text(f"UPDATE sys_menu SET {said} WHERE id = {number}"), values)
        await engine.dispose()

    asyncio.run(fill())
    return console.url


def bring(gatehouse: InProcess, source: Source, *, dry_run: bool = False) -> Summary:
    return gatehouse.run(importer(gatehouse, dry_run=dry_run).run(source))


def bring_youlai(gatehouse: InProcess, url: str, *, dry_run: bool = False) -> Summary:
    async def work() -> Summary:
        async with open_youlai(url) as source:
            return await importer(gatehouse, dry_run=dry_run).run(source)

    return gatehouse.run(work())


def test_root_has_the_perms_of_imported_buttons_with_the_next_request(engines: None, tmp_path: Path) -> None:
    before_shop, with_shop = (sample_console(f"sqlite:///{tmp_path / name}") for name in ("before.db", "with.db"))
    with_shop.menu(20, "shop:order:ship")
    with_shop.role(4, "SHOP", 20)
    before_shop.write()
    with_shop.write()
    with InProcess(tmp_path / "data") as gatehouse:
        bring_youlai(gatehouse, before_shop.url)
        accounts = gatehouse.accounts
        gatehouse.run(accounts.add_user(NewUser("keeper", "Keeper", hash_password(PASSWORD), 1, 0), ["ROOT"]))
        token = gatehouse.login("keeper").data["accessToken"]
        before = set(gatehouse.me(token).data["perms"])
        bring_youlai(gatehouse, with_shop.url)
        assert set(gatehouse.me(token).data["perms"]) - before == {"shop:order:ship"}


def menus(gatehouse: InProcess) -> dict[int, Menu]:
    return {menu.id: menu for menu in gatehouse.run(gatehouse.service.stores.menus.all())}


@pytest.mark.parametrize("version", [NEW, OLD], ids=["letters", "numbers"])
def test_the_menus_of_an_old_console_replace_those_of_the_first_start(
    engines: None, tmp_path: Path, version: Version
) -> None:
    url = old_console(tmp_path / "old.db", version)
    with InProcess(tmp_path / "data") as gatehouse:
        laid = menus(gatehouse)
        assert bring_youlai(gatehouse, url, dry_run=True).menus.added == 8
        assert menus(gatehouse) == laid
        summary = bring_youlai(gatehouse, url)
        assert (summary.menus.added, summary.menus.changed) == (8, 0)
        assert "sys_menu 4" in {remark.origin for remark in summary.adapted}
        found = menus(gatehouse)
        assert set(found) == {1, 2, 3, 4, 11, 12, 13, 14}
        page = found[1]
        assert (page.parent, page.name, page.type, page.component) == (
            2,
            "用户管理",
            MenuType.PAGE,
            "system/user/index",
        )
        assert (page.params, page.keep_alive) == ('{"a":"b"}', True)
        assert (found[3].type, found[3].external_url, found[3].visible) == (MenuType.LINK, "https://example.com", False)
        assert (found[2].always_show, found[2].sort, found[4].parent) == (True, 3, None)
        assert found[12].perm == "sys:user:add"
        given = gatehouse.run(gatehouse.service.stores.menus.by_role())
        assert given == {"ADMIN": {1}, "GUEST": {1}, "SHOP": {1, 2, 3}}
        again = bring_youlai(gatehouse, url)
        assert (again.menus.added, again.menus.changed, again.menus.unchanged) == (0, 0, 8)
        added = Menu(0, None, "New", MenuType.FOLDER, route_path="/new")
        assert gatehouse.run(gatehouse.service.management.menu_changes.add(OPERATOR, added)) > 14


def test_menus_that_somebody_changed_do_not_make_way(tmp_path: Path) -> None:
    url = old_console(tmp_path / "old.db", NEW)
    with InProcess(tmp_path / "data") as gatehouse:
        log = next(menu for menu in menus(gatehouse).values() if menu.name == "Log")
        change = MenuChange(name="Journal")
        gatehouse.run(gatehouse.service.management.menu_changes.edit(OPERATOR, log.id, change))
        bring_youlai(gatehouse, url)
        assert menus(gatehouse)[log.id].name == "Journal"
        assert menus(gatehouse)[1].name == "用户管理"


def test_menus_go_through_a_file(engines: None, tmp_path: Path) -> None:
    url = old_console(tmp_path / "old.db", NEW)
    file = tmp_path / "all.jsonl"
    with InProcess(tmp_path / "one") as gatehouse:
        bring_youlai(gatehouse, url)
        sent = menus(gatehouse)
        given = gatehouse.run(gatehouse.service.stores.menus.by_role())
        gatehouse.run(export(gatehouse.service.stores.database, file, FileFormat.JSONL, with_hashes=True))
    with InProcess(tmp_path / "two") as gatehouse:
        summary = bring(gatehouse, UserFile(file))
        assert summary.refused == []
        assert menus(gatehouse) == sent
        assert gatehouse.run(gatehouse.service.stores.menus.by_role()) == given
        assert bring(gatehouse, UserFile(file)).menus.unchanged == len(sent)
