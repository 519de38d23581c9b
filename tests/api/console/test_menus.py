"""The menu page, the side menu, and what a role has: one truth with its perms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gatehouse.management.authority import OPERATOR
from gatehouse.stores.database.tree_depth import MAX_DEPTH
from tests.api.console.conftest import Console, OlderConsole
from tests.support.inprocess import InProcess


def flat(tree: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [node for top in tree for node in (top, *flat(top.get("children", [])))]


def menu_called(console: Console, name: str, parent: str | None = None) -> dict[str, Any]:
    return next(
        menu
        for menu in flat(console.get("menus"))
        if menu["name"] == name and (parent is None or menu["parentId"] == parent)
    )


def titles(routes: list[dict[str, Any]]) -> list[str]:
    return [node["meta"]["title"] for node in flat(routes)]


def test_the_first_start_lays_down_the_pages_that_work(console: Console) -> None:
    [system] = console.get("menus")
    assert (system["name"], system["type"], system["routePath"], system["component"]) == (
        "System", "C", "/system", "Layout",
    )  # fmt: skip
    assert system["parentId"] == "0"
    pages = system["children"]
    assert [page["component"] for page in pages] == [
        f"system/{name}/index" for name in ("user", "role", "menu", "dept", "log")
    ]
    assert [page["routeName"] for page in pages] == ["User", "Role", "SysMenu", "Dept", "Log"]
    assert [button["perm"] for button in pages[4]["children"]] == ["sys:log:list"]
    assert {button["type"] for page in pages for button in page["children"]} == {"B"}
    assert all(isinstance(menu["id"], str) for menu in flat([system]))


def test_an_administrator_sees_every_page_in_the_side_menu(console: Console) -> None:
    [system] = console.get("menus/routes")
    assert (system["path"], system["name"], system["component"]) == ("/system", "/system", "Layout")
    assert system["meta"]["title"] == "System"
    assert [page["component"] for page in system["children"]] == [
        f"system/{name}/index" for name in ("user", "role", "menu", "dept", "log")
    ]
    assert "children" not in system["children"][0], "buttons are no routes"
    assert len({node["name"] for node in flat([system])}) == 6


def test_the_side_menu_is_in_the_language_of_the_browser(console: Console) -> None:
    answer = console.gatehouse.request(
        "GET", "/api/v1/menus/routes", token=console.token, headers={"accept-language": "zh-CN"}
    )
    assert titles(answer.json["data"])[:2] == ["系统管理", "用户管理"]


def test_without_perms_the_side_menu_is_empty(user: Callable[..., Console]) -> None:
    assert user("nobody").get("menus/routes") == []


def test_perms_from_the_command_line_show_a_page_and_a_checked_button(
    gatehouse: InProcess, console: Console, user: Callable[..., Console]
) -> None:
    clerk = user("clerk", "sys:log:query")  # by its older name
    assert titles(clerk.get("menus/routes")) == ["System", "Log"]
    role = gatehouse.run(gatehouse.service.accounts.role("CLERK"))
    log = menu_called(console, "Log")
    [button] = log["children"]
    held = console.get(f"roles/{role.id}/menu-ids")
    assert set(held) == {menu_called(console, "System")["id"], log["id"], button["id"]}
    assert console.get(f"roles/{role.id}/menuIds") == held


def test_an_assignment_grants_and_denies_the_perms_of_its_buttons_and_no_others(
    gatehouse: InProcess, console: Console, user: Callable[..., Console]
) -> None:
    clerk = user("clerk", "sys:log:list", "shop:order:ship")
    role = gatehouse.run(gatehouse.service.accounts.role("CLERK")).id
    dept = menu_called(console, "Departments")
    wanted = [int(dept["parentId"]), dept["id"], *[b["id"] for b in dept["children"] if b["perm"] != "sys:dept:delete"]]
    console.done("PUT", f"roles/{role}/menus", wanted)
    perms = clerk.get("users/me")["perms"]
    assert "shop:order:ship" in perms, "no button carries it"
    assert {"sys:dept:create", "sys:dept:add", "sys:dept:list", "sys:dept:query", "sys:dept:update"} <= set(perms)
    assert not {"sys:log:list", "sys:log:query", "sys:dept:delete"} & set(perms)
    assert titles(clerk.get("menus/routes")) == ["System", "Departments"]
    assert set(console.get(f"roles/{role}/menu-ids")) == {str(each) for each in wanted}
    console.done("PUT", f"roles/{role}/menus", [])
    assert clerk.get("users/me")["perms"] == ["shop:order:ship"]
    assert clerk.get("menus/routes") == []


def test_a_page_without_buttons_is_shown_to_whom_it_was_given(
    gatehouse: InProcess, console: Console, user: Callable[..., Console]
) -> None:
    clerk = user("clerk", "shop:order:ship")
    role = gatehouse.run(gatehouse.service.accounts.role("CLERK")).id
    shop = {"type": "C", "parentId": "0", "name": "Shop", "routePath": "shop", "sort": 2}
    console.done("POST", "menus", shop)
    top = menu_called(console, "Shop")
    assert (top["routePath"], top["component"]) == ("/shop", "Layout")
    console.done("POST", "menus", {"type": "M", "parentId": top["id"], "name": "Orders", "routePath": "orders",
                                   "component": "shop/orders/index", "keepAlive": 1, "routeName": "Orders",
                                   "params": [{"key": "open", "value": "1"}]})  # fmt: skip
    orders = menu_called(console, "Orders")
    console.done("PUT", f"roles/{role}/menus", [top["id"], orders["id"]])
    [route] = clerk.get("menus/routes")
    assert [child["path"] for child in route["children"]] == ["orders"]
    assert route["children"][0]["meta"] == {
        "title": "Orders", "roles": ["CLERK"], "keepAlive": True, "params": {"open": "1"},
    }  # fmt: skip
    assert set(console.get(f"roles/{role}/menu-ids")) == {top["id"], orders["id"]}


def test_nobody_assigns_a_button_whose_perm_they_lack(
    gatehouse: InProcess, console: Console, user: Callable[..., Console]
) -> None:
    clerk = user("clerk", "sys:role:assign", "sys:log:list")
    gatehouse.run(gatehouse.service.accounts.add_role("TEAM", "Team", ["sys:log:list"]))
    role = gatehouse.run(gatehouse.service.accounts.role("TEAM")).id
    add_user = menu_called(console, "Add", menu_called(console, "Users")["id"])
    log = menu_called(console, "Log")
    clerk.refused("A0301", "PUT", f"roles/{role}/menus", [add_user["id"]])
    assert gatehouse.run(gatehouse.service.accounts.role("TEAM")).perms == ("sys:log:list",)
    clerk.done("PUT", f"roles/{role}/menus", [log["id"]])
    admin = gatehouse.run(gatehouse.service.accounts.role("ADMIN")).id
    clerk.refused("A0301", "PUT", f"roles/{admin}/menus", [])


def test_the_last_administrator_keeps_what_makes_one(gatehouse: InProcess, console: Console) -> None:
    admin = gatehouse.run(gatehouse.service.accounts.role("ADMIN")).id
    answer = console.call("PUT", f"roles/{admin}/menus", [])
    assert answer.status >= 400
    assert "sys:user:create" in console.get("users/me")["perms"]


def test_a_menu_is_made_read_changed_and_deleted(console: Console) -> None:
    users = menu_called(console, "Users")
    console.done("POST", "menus", {"type": "B", "parentId": users["id"], "name": "Ship", "perm": "shop:order:ship",
                                   "sort": 9, "visible": 1, "scope": 2, "params": []})  # fmt: skip
    made = menu_called(console, "Ship")
    form = console.get(f"menus/{made['id']}/form")
    assert (form["perm"], form["sort"], form["parentId"], form["params"]) == ("shop:order:ship", 9, users["id"], [])
    console.done("PUT", f"menus/{made['id']}", form | {"name": "Ship it", "perm": "shop:order:send"})
    assert menu_called(console, "Ship it")["perm"] == "shop:order:send"
    assert "Ship it" in {menu["name"] for menu in flat(console.get("menus", keywords="ship"))}
    console.done("DELETE", f"menus/{made['id']}")
    console.refused("C0113", "GET", f"menus/{made['id']}/form")


def test_the_perm_of_a_button_is_roots_with_the_next_request(console: Console, gatehouse: InProcess) -> None:
    gatehouse.run(gatehouse.service.accounts.add_role("ROOT", "Root"))
    gatehouse.run(gatehouse.service.accounts.grant("admin", ["ROOT"]))

    def shop_perms() -> list[str]:
        return [perm for perm in console.get("users/me")["perms"] if perm.startswith("shop:")]

    assert shop_perms() == []
    button = {"type": "B", "parentId": menu_called(console, "Users")["id"], "name": "Ship", "perm": "shop:order:ship"}
    console.done("POST", "menus", button)
    assert shop_perms() == ["shop:order:ship"]
    made = menu_called(console, "Ship")["id"]
    console.done("PUT", f"menus/{made}", button | {"perm": "shop:order:send"})
    assert shop_perms() == ["shop:order:send"]
    console.done("DELETE", f"menus/{made}")
    assert shop_perms() == []


def test_a_folder_goes_with_all_that_is_below_it(console: Console) -> None:
    console.done("POST", "menus", {"type": "C", "name": "Shop", "routePath": "/shop"})
    top = menu_called(console, "Shop")
    page = {"type": "M", "parentId": top["id"], "name": "Orders", "routePath": "orders", "component": "shop/orders"}
    console.done("POST", "menus", page)
    console.done("DELETE", f"menus/{top['id']}")
    assert {"Shop", "Orders"} & {menu["name"] for menu in flat(console.get("menus"))} == set()


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"name": ""}, "A0410"),
        ({"name": "x" * 65}, "A0421"),
        ({"perm": ""}, "A0421"),
        ({"perm": "no perm"}, "A0421"),
        ({"type": "X"}, "A0421"),
        ({"parentId": "x"}, "A0421"),
        ({"parentId": 9999}, "C0113"),
        ({"parentId": 0}, "A0421"),
        ({"type": "E", "externalUrl": "javascript:alert(1)"}, "A0421"),
        ({"type": "M", "component": "a/b"}, "A0421"),
    ],
)
def test_menus_that_are_refused(console: Console, changes: dict[str, Any], code: str) -> None:
    good = {"type": "B", "parentId": menu_called(console, "Users")["id"], "name": "Ship", "perm": "shop:order:ship"}
    console.refused(code, "POST", "menus", good | changes)


@pytest.mark.parametrize(("field", "value"), [("sort", -1), ("perm", "no perm")])
def test_the_message_names_the_field_of_a_button_that_is_wrong(console: Console, field: str, value: object) -> None:
    good = {"type": "B", "parentId": menu_called(console, "Users")["id"], "name": "Ship", "perm": "shop:order:ship"}
    assert field in console.refused("A0421", "POST", "menus", good | {field: value})


def test_a_menu_does_not_go_below_itself(console: Console) -> None:
    system = console.get("menus")[0]
    console.done("POST", "menus", {"type": "C", "parentId": system["id"], "name": "Inner", "routePath": "inner"})
    inner = menu_called(console, "Inner")
    console.refused("A0440", "PUT", f"menus/{system['id']}", {**system, "parentId": inner["id"]})


def test_links_open_in_a_new_tab_or_in_a_frame(console: Console) -> None:
    system = console.get("menus")[0]["id"]
    link = {"type": "E", "parentId": system, "externalUrl": "https://example.com/a", "visible": 1, "component": ""}
    console.done("POST", "menus", link | {"name": "Tab"})
    console.done("POST", "menus", link | {"name": "Frame", "component": "iframe", "routePath": "frame"})
    console.done("POST", "menus", link | {"name": "Top", "parentId": "0"})
    by_title = {node["meta"]["title"]: node for node in flat(console.get("menus/routes"))}
    assert "Tab" not in by_title, "it has to be assigned first"
    role = console.gatehouse.run(console.gatehouse.service.accounts.role("ADMIN")).id
    everything = [menu["id"] for menu in flat(console.get("menus"))]
    console.done("PUT", f"roles/{role}/menus", everything)
    routes = console.get("menus/routes")
    by_title = {node["meta"]["title"]: node for node in flat(routes)}
    assert by_title["Tab"]["path"] == "https://example.com/a"
    assert (by_title["Frame"]["component"], by_title["Frame"]["path"]) == ("iframe", "frame")
    assert by_title["Frame"]["meta"]["externalUrl"] == "https://example.com/a"
    for route in routes:
        assert route["path"].startswith("/"), "the router throws at the top otherwise"
        assert route["component"] == "Layout"
    assert len({node["name"] for node in flat(routes)}) == len(flat(routes))


def test_options_with_and_without_buttons(console: Console) -> None:
    def labels(options: list[dict[str, Any]]) -> set[str]:
        return {option["label"] for option in flat(options)}

    parents, everything = console.get("menus/options", onlyParent="true"), console.get("menus/options")
    assert "Users" in labels(parents)
    assert "Reset password" not in labels(parents)
    assert "Reset password" in labels(everything)
    assert set(flat(everything)[-1]) == {"value", "label"}


def test_older_consoles_read_and_send_their_own_words(gatehouse: InProcess, console: Console) -> None:
    older = OlderConsole(gatehouse)
    [system] = older.get("menus")
    assert system["type"] == "CATALOG"
    assert {menu["type"] for menu in flat([system])} == {"CATALOG", "MENU", "BUTTON"}
    link = {"type": "EXTLINK", "parentId": 0, "name": "Docs", "routePath": "https://example.com", "visible": 1}
    leftovers = {"sort": 1, "keepAlive": 1, "alwaysShow": 0, "params": [{"key": "", "value": ""}], "perm": "a:b:c"}
    older.done("POST", "menus", link | leftovers)
    made = menu_called(console, "Docs")
    assert (made["type"], made["externalUrl"], made["routePath"]) == ("E", "https://example.com", "")
    form = older.get(f"menus/{made['id']}/form")
    assert (form["type"], form["routePath"]) == ("EXTLINK", "https://example.com")
    assert console.get(f"menus/{made['id']}/form")["type"] == "E", "another session, another console"
    older.get("dicts/gender/items")  # what 2.25 to 3.4 ask for
    assert {menu["type"] for menu in flat(older.get("menus"))} == {1, 2, 3, 4}


def test_release_0_1_gets_the_menus_once(tmp_path: Any) -> None:
    with InProcess(tmp_path / "data") as gatehouse:
        before = Console(gatehouse).get("menus")
        gatehouse.run(gatehouse.service.accounts.menu_changes.delete(OPERATOR, int(before[0]["children"][4]["id"])))
    with InProcess(tmp_path / "data") as gatehouse:
        names = [page["name"] for page in Console(gatehouse).get("menus")[0]["children"]]
    assert names == ["Users", "Roles", "Menus", "Departments"], "a second start adds nothing"


def test_the_menus_that_were_laid_out_are_offered_in_chinese(console: Console, gatehouse: InProcess) -> None:
    headers = {"accept-language": "zh-CN"}
    answer = gatehouse.request("GET", "/api/v1/menus/options", token=console.token, headers=headers)
    found = {option["label"] for option in flat(answer.json["data"])}
    assert {"系统管理", "用户管理", "重置密码", "分配菜单"} <= found
    assert [label for label in found if label.isascii()] == []


def test_a_tree_of_menus_does_not_grow_deeper_than_it_can_be_shown(console: Console) -> None:
    """Or whoever may add a menu could keep everybody out of the console, who is shown them all after login."""
    parent = "0"
    for level in range(1, MAX_DEPTH + 1):
        console.done("POST", "menus", {"type": "C", "name": f"m{level}", "routePath": f"/m{level}", "parentId": parent})
        parent = menu_called(console, f"m{level}")["id"]
    deeper = {"type": "C", "name": "deeper", "routePath": "/deeper", "parentId": parent}
    console.refused("A0440", "POST", "menus", deeper)
    console.done("POST", "menus", deeper | {"parentId": "0"})
    assert console.get("menus")
