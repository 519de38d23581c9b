"""Consoles of all generations ask the same paths and mean different things: each gets what it understands."""

from typing import Any

import pytest

from gatehouse.stores.database.users import NewUser
from tests.api.console.conftest import HASH, Console, FormConsole, OlderConsole
from tests.support.inprocess import InProcess

ROLE = {"name": "Editors", "code": "EDITOR", "sort": 1, "status": 1}
DEPARTMENT_AND_BELOW = 2


def as_2_10(gatehouse: InProcess) -> Console:
    return FormConsole(gatehouse)


def as_2_18(gatehouse: InProcess) -> Console:
    console = OlderConsole(gatehouse)
    console.get("notices/my-page")
    return console


def as_3_4(gatehouse: InProcess) -> Console:
    console = FormConsole(gatehouse)
    console.get("notices/my-page", pageNum=1, pageSize=5, isRead=0)
    return console


@pytest.mark.parametrize(
    ("generation", "folder"), [(as_2_10, "CATALOG"), (as_2_18, "CATALOG"), (as_3_4, 2), (Console, "C")]
)
def test_each_reads_the_menus_in_its_own_words(gatehouse: InProcess, generation: type[Console], folder: object) -> None:
    [system] = generation(gatehouse).get("menus")
    assert system["type"] == folder


@pytest.mark.parametrize(("generation", "sent"), [(as_2_10, 1), (as_2_18, 1), (as_3_4, 2), (Console, 2)])
def test_department_and_below_is_stored_as_that_whoever_sends_it(
    gatehouse: InProcess, generation: type[Console], sent: int
) -> None:
    console = generation(gatehouse)
    console.done("POST", "roles", ROLE | {"dataScope": sent})
    [role] = [role for role in gatehouse.run(gatehouse.service.accounts.roles.all()) if role.code == "EDITOR"]
    assert role.data_scope == DEPARTMENT_AND_BELOW
    assert console.get(f"roles/{role.id}/form")["dataScope"] == sent


def test_the_figures_of_the_dashboard_are_a_list_for_the_oldest_alone(gatehouse: InProcess) -> None:
    assert [one["type"] for one in as_2_18(gatehouse).get("logs/visit-stats")] == ["pv", "uv"]
    # 2.25 to 3.4 ask for them at the same time as for their notices.
    assert "todayPvCount" in FormConsole(gatehouse).get("logs/visit-stats")
    assert "todayPvCount" in as_3_4(gatehouse).get("logs/visit-stats")


@pytest.mark.parametrize(("generation", "path"), [(as_2_10, "path"), (as_2_18, "routePath"), (as_3_4, "routePath")])
def test_each_changes_the_path_of_a_menu_under_its_own_name(
    gatehouse: InProcess, generation: type[Console], path: str
) -> None:
    console = generation(gatehouse)
    console.get("dict/gender/options" if generation is as_2_10 else "dicts/gender/items/options")

    def shown(name: str) -> dict[str, Any]:
        [menu] = [menu for menu in console.get("menus") if menu["name"] == name]
        form: dict[str, Any] = console.get(f"menus/{menu['id']}/form")
        assert menu[path] == form[path]
        return form

    console.done("POST", "menus", {"type": "CATALOG", "parentId": 0, "name": "Shop", path: "/shop"})
    folder = shown("Shop")
    assert folder[path] == "/shop"
    console.done("PUT", f"menus/{folder['id']}", folder | {path: "/store"})
    assert shown("Shop")[path] == "/store"
    console.done("POST", "menus", {"type": "EXTLINK", "parentId": 0, "name": "Docs", path: "https://example.com/a"})
    link = shown("Docs")
    assert link[path] == "https://example.com/a"
    console.done("PUT", f"menus/{link['id']}", link | {path: "https://example.com/b"})
    assert shown("Docs")[path] == "https://example.com/b"


def test_a_search_by_day_finds_users_under_the_names_of_2_11(gatehouse: InProcess) -> None:
    console = as_2_10(gatehouse)
    console.done("POST", "users", {"username": "ann", "nickname": "Ann"})

    def found(first: str, last: str) -> list[str]:
        return [user["username"] for user in console.get("users/page", startTime=first, endTime=last)["list"]]

    assert found("2030-03-17", "2030-03-17") == ["ann"]
    assert found("2030-03-18", "2030-03-19") == found("2030-03-15", "2030-03-16") == []
    console.refused("A0421", "GET", "users/page", startTime="tomorrow")


def test_consoles_up_to_2_13_read_the_gender_of_a_user_as_a_word(gatehouse: InProcess) -> None:
    console = as_2_10(gatehouse)
    assert [user["genderLabel"] for user in console.get("users/page")["list"]] == ["Unknown"]
    console.done("PUT", "users/1", {"username": "admin", "nickname": "Admin", "gender": "2"})
    answer = gatehouse.request("GET", "/api/v1/users/page", token=console.token, headers={"accept-language": "zh-CN"})
    assert [user["genderLabel"] for user in answer.json["data"]["list"]] == ["女"]


def test_consoles_up_to_2_11_reset_a_password_in_their_own_way(gatehouse: InProcess) -> None:
    accounts = gatehouse.service.accounts
    ann = gatehouse.run(accounts.add_user(NewUser("ann", "Ann", "", 1, 0), []))
    console = as_2_10(gatehouse)
    assert "sys:user:reset_pwd" in console.get("users/me")["perms"], "2.9 hides the button without it"
    console.done("PATCH", f"users/{ann}/password", password="tulip rain lamp 7")
    assert Console(gatehouse, "ann", "tulip rain lamp 7").get("users/me")["username"] == "ann"


def kept_up_to_2_11(routes: list[dict[str, Any]], roles: list[str]) -> dict[str, list[str]]:
    """What these consoles keep of the side menu, by title: for ROOT every route that names roles at all."""
    kept: dict[str, list[str]] = {}
    for route in routes:
        named = route["meta"].get("roles")
        if named is not None and ("ROOT" in roles or set(named) & set(roles)):
            kept |= {route["meta"]["title"]: named} | kept_up_to_2_11(route.get("children", []), roles)
    return kept


def side_menu_up_to_2_11(console: Console) -> dict[str, list[str]]:
    return kept_up_to_2_11(console.get("menus/routes"), console.get("users/me")["roles"])


SYSTEM = ["System", "Users", "Roles", "Menus", "Departments", "Log"]


def test_consoles_up_to_2_11_keep_the_pages_that_the_users_roles_show(gatehouse: InProcess) -> None:
    assert side_menu_up_to_2_11(as_2_10(gatehouse)) == {title: ["ADMIN"] for title in SYSTEM}
    accounts = gatehouse.service.accounts
    gatehouse.run(accounts.add_role("ROOT", "Root"))
    gatehouse.run(accounts.add_user(NewUser("root", "Root", HASH, 1, 0), ["ROOT"]))
    assert side_menu_up_to_2_11(Console(gatehouse, "root")) == {title: ["ROOT"] for title in SYSTEM}


def test_a_page_names_those_of_the_users_roles_that_show_it_and_nobody_elses(gatehouse: InProcess) -> None:
    accounts = gatehouse.service.accounts
    gatehouse.run(accounts.add_role("READER", "Reader", ["sys:log:list"]))
    gatehouse.run(accounts.add_role("CLERK", "Clerk", ["sys:log:query", "sys:dept:list"]))
    gatehouse.run(accounts.add_role("SELLER", "Seller", ["shop:order:ship"]))
    gatehouse.run(accounts.add_user(NewUser("ann", "Ann", HASH, 1, 0), ["CLERK", "READER", "SELLER"]))
    link = {"type": "E", "parentId": "0", "externalUrl": "https://example.com/a", "name": "Shop"}
    admin = Console(gatehouse)
    admin.done("POST", "menus", link)
    [made] = [menu["id"] for menu in admin.get("menus") if menu["name"] == "Shop"]
    admin.done("PUT", f"roles/{gatehouse.run(accounts.role('SELLER')).id}/menus", [made])
    assert side_menu_up_to_2_11(Console(gatehouse, "ann")) == {
        "System": ["CLERK", "READER"], "Departments": ["CLERK"], "Log": ["CLERK", "READER"], "Shop": ["SELLER"],
    }  # fmt: skip


@pytest.mark.parametrize(
    "path", ["dicts/gender/items/options", "dicts/gender/items", "dict-data/gender/options", "dict/gender/options"]
)
def test_genders_are_found_where_each_looks_for_them(gatehouse: InProcess, path: str) -> None:
    assert [item["value"] for item in Console(gatehouse).get(path)] == ["1", "2", "0"]
