"""`gatehouse role` and `gatehouse dept`: what they change shows on the next request of everyone it touches."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.cli.terminal import Terminal
from tests.support.conversation import ME, bearer


def me(client: httpx.Client, tokens: dict[str, object]) -> dict[str, Any]:
    answer = client.get(ME, headers=bearer(tokens))
    assert answer.status_code == 200, answer.text
    return dict(answer.json()["data"])


@pytest.fixture
def clerk(typed: Terminal, somebody: str) -> str:
    """A role of its own for the test, held by somebody."""
    code = f"CLERK-{somebody}"
    typed("role", "add", code, "--name", "Clerk", "--allow", "sys:log:query").done()
    typed("user", "grant", somebody, code).done()
    return code


def test_perms_follow_allow_and_deny(
    client: httpx.Client, typed: Terminal, clerk: str, tokens: dict[str, object]
) -> None:
    assert me(client, tokens)["perms"] == ["sys:log:list", "sys:log:query"]
    typed("role", "allow", clerk, "sys:user:query", "sys:dept:query").done()
    shown = [f"sys:{what}:{name}" for what in ("dept", "log", "user") for name in ("list", "query")]
    assert me(client, tokens)["perms"] == shown, "under the names of both generations"
    typed("role", "deny", clerk, "sys:log:list", "sys:dept:query").done()
    assert me(client, tokens)["perms"] == ["sys:user:list", "sys:user:query"]


def test_a_disabled_role_gives_nothing(
    client: httpx.Client, typed: Terminal, clerk: str, tokens: dict[str, object]
) -> None:
    assert me(client, tokens)["roles"] == [clerk]
    typed("role", "edit", clerk, "--disable").done()
    assert (me(client, tokens)["roles"], me(client, tokens)["perms"]) == ([], [])
    typed("role", "edit", clerk, "--enable", "--code", f"{clerk}-2", "--name", "Head clerk").done()
    assert me(client, tokens)["roles"] == [f"{clerk}-2"]


def test_a_deleted_role_is_gone_from_its_holders(
    client: httpx.Client, typed: Terminal, clerk: str, tokens: dict[str, object]
) -> None:
    assert me(client, tokens)["roles"] == [clerk]
    kept = typed("role", "delete", clerk, stdin="\n")
    assert (kept.code, "held by 1 user" in kept.err) == (1, True)
    typed("role", "delete", clerk, "--yes").done()
    assert me(client, tokens)["roles"] == []


def test_roles_are_listed_and_shown(typed: Terminal, clerk: str) -> None:
    listed = {each["code"]: each for each in typed("role", "list", "--json").json}
    assert listed[clerk] == {
        "code": clerk, "name": "Clerk", "enabled": True, "users": 1, "perms": ["sys:log:query"], "sort": 0,
        "data_scope": "own", "depts": [],
    }  # fmt: skip
    assert clerk in typed("role", "list").done()
    assert typed("role", "show", clerk, "--json").json == listed[clerk]
    assert "sys:log:query" in typed("role", "show", clerk).done()


def test_a_role_has_a_place_and_a_data_scope(typed: Terminal, clerk: str) -> None:
    typed("role", "edit", clerk, "--data-scope", "chosen", "--dept", "1", "--sort", "3").done()
    shown = typed("role", "show", clerk, "--json").json
    assert (shown["data_scope"], shown["depts"], shown["sort"]) == ("chosen", [1], 3)
    typed("role", "edit", clerk, "--data-scope", "department-and-below").done()
    shown = typed("role", "show", clerk, "--json").json
    assert (shown["data_scope"], shown["depts"]) == ("department-and-below", [])
    typed("role", "add", f"{clerk}-3", "--dept", "1").done()
    assert typed("role", "show", f"{clerk}-3", "--json").json["data_scope"] == "chosen"
    assert "--data-scope chosen" in typed("role", "edit", clerk, "--data-scope", "own", "--dept", "1").refused()
    assert "does not exist" in typed("role", "edit", clerk, "--dept", "999").refused()


def test_roles_that_are_wrong_get_one_line(typed: Terminal, clerk: str) -> None:
    assert "a role code has" in typed("role", "add", "two words").refused()
    assert "already" in typed("role", "add", clerk).refused()
    assert "segment:segment:segment" in typed("role", "allow", clerk, "sys:user").refused()
    assert "segment:segment:segment" in typed("role", "add", "FRESH", "--allow", "nonsense").refused()
    assert "does not give" in typed("role", "deny", clerk, "sys:user:add").refused()
    assert "nothing to change" in typed("role", "edit", clerk).refused()
    assert "already" in typed("role", "edit", clerk, "--code", "ADMIN").refused()
    for words in (["show"], ["edit", "--name", "x"], ["delete", "--yes"], ["allow", "a:b:c"], ["deny", "a:b:c"]):
        assert "there is no role 'NONE'" in typed("role", words[0], "NONE", *words[1:]).refused()


def test_departments_make_a_tree(
    client: httpx.Client, typed: Terminal, somebody: str, tokens: dict[str, object]
) -> None:
    north = typed("dept", "add", "North", "--parent", "1", "--json").json["id"]
    echo = typed("dept", "add", "Harbour", "--parent", str(north)).done()
    harbour = echo.strip().rstrip(".").rpartition(" ")[2]
    typed("user", "edit", somebody, "--dept", harbour).done()
    assert me(client, tokens)["deptId"] == int(harbour)
    tree = typed("dept", "list").done().splitlines()
    assert tree[0].startswith("Headquarters  id 1, ")
    assert f"    └── Harbour  id {harbour}, 1 user" in [line.replace("│", " ") for line in tree]
    listed = typed("dept", "list", "--json").json
    assert {"id": int(harbour), "name": "Harbour", "parent": north, "users": 1} in listed
    typed("dept", "edit", harbour, "--name", "Port", "--parent", "1").done()
    listed = typed("dept", "list", "--json").json
    assert {"id": int(harbour), "name": "Port", "parent": 1, "users": 1} in listed
    kept = typed("dept", "delete", str(north), stdin="n\n")
    assert kept.code == 1
    typed("dept", "delete", str(north), "--yes").done()
    assert north not in {each["id"] for each in typed("dept", "list", "--json").json}


def test_departments_that_are_wrong_get_one_line(typed: Terminal) -> None:
    assert "still has users" in typed("dept", "delete", "1", "--yes").refused()
    assert "no department 999" in typed("dept", "delete", "999", "--yes").refused()
    assert "no department 999" in typed("dept", "add", "Lost", "--parent", "999").refused()
    assert "below itself" in typed("dept", "edit", "1", "--parent", "1").refused()
    assert "nothing to change" in typed("dept", "edit", "1").refused()
    assert "1 to 64 printable" in typed("dept", "add", "\x1b[31m").refused()
    assert "is not in the range" in typed("dept", "edit", "99999999999999999999", "--name", "x").refused()
    assert "not a valid integer" in typed("dept", "delete", "north").refused()


def test_a_department_is_switched_off_and_sorted(typed: Terminal) -> None:
    made = typed("dept", "add", "Closed", "--parent", "1", "--json").json["id"]
    typed("dept", "edit", str(made), "--disable", "--code", "C", "--sort", "9").done()
    typed("dept", "edit", str(made), "--enable").done()
    typed("dept", "delete", str(made), "--yes").done()


def test_menus_are_made_assigned_and_deleted(
    client: httpx.Client, typed: Terminal, clerk: str, tokens: dict[str, object]
) -> None:
    shop = typed("menu", "add", "folder", "Shop", "--path", "/shop", "--json").json["id"]
    orders = typed(
        "menu",
        "add",
        "page",
        "Orders",
        "--parent",
        str(shop),
        "--path",
        "orders",
        "--component",
        "shop/orders",
        "--json",
    ).json["id"]
    ship = typed("menu", "add", "button", "Ship", "--parent", str(orders), "--perm", "shop:order:ship", "--json").json
    typed("menu", "edit", str(orders), "--name", "Open orders", "--keep-alive").done()
    assert f"Open orders  id {orders}, page, shop/orders" in typed("menu", "list").done()
    typed("menu", "assign", clerk, str(shop), str(orders), str(ship["id"])).done()
    held = typed("menu", "list", "--role", clerk, "--json").json
    assert {each["id"] for each in held} == {shop, orders, ship["id"]}
    assert next(each for each in held if each["id"] == orders)["keep_alive"] is True
    assert me(client, tokens)["perms"] == ["shop:order:ship"]
    assert "Deleted menu" in typed("menu", "delete", str(shop), "--yes").done()
    assert typed("menu", "list", "--role", clerk).done() == "No menus.\n"
    assert me(client, tokens)["perms"] == ["shop:order:ship"], "a perm is the role's, not the button's"


def test_menus_that_are_wrong_get_one_line(typed: Terminal, clerk: str) -> None:
    assert "perm" in typed("menu", "add", "button", "Ship", "--parent", "2").refused()
    assert "cannot be below this parent" in typed("menu", "add", "button", "Ship", "--perm", "a:b:c").refused()
    assert "no menu 999" in typed("menu", "delete", "999", "--yes").refused()
    assert "no menu 999" in typed("menu", "assign", clerk, "999").refused()
    assert "nothing to change" in typed("menu", "edit", "1").refused()
    assert "below itself" in typed("menu", "edit", "1", "--parent", "1").refused()
