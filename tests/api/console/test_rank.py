"""Nobody lowers somebody's rank in order to manage them, plants a perm for others to grant, or widens themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gatehouse.auth.perms import MANAGEMENT_PERMS
from gatehouse.stores.database.roles import DataScope
from gatehouse.stores.database.users import NewUser
from tests.api.console.conftest import HASH, Console
from tests.api.console.test_menus import menu_called
from tests.api.console.test_user_import_and_export import sheet, upload
from tests.api.console.test_users import NEW_PASSWORD, id_of, role_id
from tests.support.inprocess import InProcess

REFUSED = "A0301"


@pytest.fixture
def people(gatehouse: InProcess) -> People:
    return People(gatehouse)


class People:
    """Users with roles in departments, made as the command line does."""

    def __init__(self, gatehouse: InProcess) -> None:
        self._gatehouse = gatehouse
        self._accounts = gatehouse.accounts

    def role(self, code: str, *perms: str, **values: Any) -> None:
        self._gatehouse.run(self._accounts.add_role(code, code.title(), perms, **values))

    def department(self, name: str, parent: int | None = 1) -> int:
        return self._gatehouse.run(self._accounts.add_department(name, parent))

    def add(self, name: str, *roles: str, department: int = 1) -> int:
        return self._gatehouse.run(self._accounts.add_user(NewUser(name, name, HASH, department, 0), roles))

    def console(self, name: str, *roles: str, department: int = 1) -> Console:
        self.add(name, *roles, department=department)
        return Console(self._gatehouse, name)


# Deleting, disabling, emptying


@pytest.mark.parametrize("perms", [(), ("sys:user:list",)], ids=["without perms", "with a perm that she has"])
def test_a_role_is_no_way_around_to_its_holders(
    console: Console, people: People, user: Callable[..., Console], perms: tuple[str, ...]
) -> None:
    manager = user("manager", "sys:user:list", "sys:role:list", "sys:role:update", "sys:role:delete",
                   "sys:role:assign", "sys:user:reset-password")  # fmt: skip
    people.role("FINANCE", *perms, data_scope=DataScope.DEPARTMENT)
    target = people.add("target", "FINANCE")
    role = role_id(console, "FINANCE")
    form = console.get(f"roles/{role}/form")
    manager.refused(REFUSED, "PUT", f"users/{target}/password/reset", password=NEW_PASSWORD)
    manager.refused(REFUSED, "DELETE", f"roles/{role}")
    manager.refused(REFUSED, "PUT", f"roles/{role}", form | {"status": 0})
    manager.refused(REFUSED, "PUT", f"roles/{role}", form | {"dataScope": 4})
    if perms:
        manager.refused(REFUSED, "PUT", f"roles/{role}/perms", {"perms": []})
        manager.refused(REFUSED, "PUT", f"roles/{role}/menus", [])
    assert console.get(f"roles/{role}/form") == form
    manager.done("PUT", f"roles/{role}", form | {"name": "Money"})
    console.done("DELETE", f"users/{target}")
    manager.done("DELETE", f"roles/{role}")


def test_who_holds_a_role_may_still_disable_it(console: Console, people: People) -> None:
    people.role("TEAM", "sys:role:list", "sys:role:update")
    people.role("OTHER", "sys:role:delete")
    lead = people.console("lead", "TEAM", "OTHER")
    people.add("colleague", "TEAM")
    team = console.get(f"roles/{role_id(console, 'TEAM')}/form")
    lead.done("PUT", f"roles/{team['id']}", team | {"status": 0})


def test_deleting_a_menu_takes_the_perms_of_its_buttons(console: Console, user: Callable[..., Console]) -> None:
    clerk = user("clerk", "sys:menu:list", "sys:menu:delete", "sys:log:list")
    users, log = menu_called(console, "Users"), menu_called(console, "Log")
    clerk.refused(REFUSED, "DELETE", f"menus/{users['id']}")
    clerk.refused(REFUSED, "DELETE", f"menus/{users['children'][0]['id']}")
    clerk.done("DELETE", f"menus/{log['id']}")


# A planted perm


def test_a_perm_cannot_be_planted_in_what_a_role_already_shows(console: Console, people: People) -> None:
    """The next administrator who saves the role's tree would grant it."""
    people.role("MENUS", "sys:menu:list", "sys:menu:update", "sys:menu:create")
    people.role("CLERK", "sys:log:list")
    clerk = people.console("clerk", "MENUS", "CLERK")
    role = role_id(console, "CLERK")
    page = {"type": "M", "name": "Reports", "routePath": "reports", "component": "reports/index"}
    console.done("POST", "menus", page | {"parentId": menu_called(console, "System")["id"]})
    reports = menu_called(console, "Reports")
    log = menu_called(console, "Log")
    console.done("PUT", f"roles/{role}/menus", [reports["id"], *(each["id"] for each in log["children"])])
    planted = {"type": "B", "name": "Reports", "perm": "sys:user:reset-password", "parentId": log["id"]}
    clerk.refused(REFUSED, "PUT", f"menus/{reports['id']}", planted)
    clerk.refused(REFUSED, "POST", "menus", planted)
    assert menu_called(console, "Reports")["type"] == "M"
    own = planted | {"perm": "sys:log:list"}
    clerk.done("PUT", f"menus/{reports['id']}", own)
    clerk.refused(REFUSED, "PUT", f"menus/{reports['id']}", planted)
    reset = menu_called(console, "Reset password")
    clerk.refused(REFUSED, "PUT", f"menus/{reset['id']}", own)
    clerk.refused(REFUSED, "PUT", f"menus/{reset['id']}", reset | {"name": "Harmless"})


def test_a_menu_of_another_type_is_no_longer_assigned(console: Console, people: People) -> None:
    people.role("CLERK")
    role = role_id(console, "CLERK")
    top = {"type": "C", "name": "Shop", "routePath": "/shop"}
    console.done("POST", "menus", top)
    shop = menu_called(console, "Shop")["id"]
    page = {"type": "M", "name": "Orders", "routePath": "orders", "component": "orders", "parentId": shop}
    console.done("POST", "menus", page)
    orders = menu_called(console, "Orders")["id"]
    console.done("PUT", f"roles/{role}/menus", [shop, orders])
    console.done("PUT", f"menus/{orders}", {"type": "B", "name": "Orders", "perm": "shop:order:list", "parentId": shop})
    assert console.get(f"roles/{role}/menu-ids") == [shop]
    console.done("PUT", f"menus/{orders}", page)
    assert console.get(f"roles/{role}/menu-ids") == [shop]


# One's own department, data scope and roles


def in_a_branch(people: People, scope: DataScope = DataScope.DEPARTMENT_AND_BELOW) -> tuple[Console, int]:
    people.role("MANAGER", *MANAGEMENT_PERMS, data_scope=scope)
    branch = people.department("Branch")
    return people.console("manager", "MANAGER", department=branch), branch


def claims(console: Console) -> dict[str, Any]:
    return dict(console.get("users/me"))


def test_nobody_changes_their_own_department_or_roles(console: Console, people: People) -> None:
    manager, branch = in_a_branch(people)
    people.role("EXTRA")
    people.console("boss", "ADMIN")
    for who in (manager, console):
        own = who.get(f"users/{who.get('users/me')['userId']}/form")
        who.done("PUT", f"users/{own['id']}", own | {"nickname": "New name"})
        below = people.department("Below", int(own["deptId"]))
        for place in (1, branch, below):
            if str(place) != own["deptId"]:
                message = who.refused(REFUSED, "PUT", f"users/{own['id']}", own | {"deptId": place})
                assert "own account" in message
        who.refused(REFUSED, "PUT", f"users/{own['id']}", own | {"roleIds": []})
        extra = [*own["roleIds"], role_id(console, "EXTRA")]
        who.refused(REFUSED, "PUT", f"users/{own['id']}", own | {"roleIds": extra})
        who.done("PUT", f"users/{own['id']}", own)


def test_nobody_widens_the_data_scope_of_a_role_that_they_hold(console: Console, people: People) -> None:
    """An administrator neither: another one, or the command line, can."""
    admin = console.get(f"roles/{role_id(console, 'ADMIN')}/form")
    console.done("PUT", f"roles/{admin['id']}", admin | {"dataScope": 3})
    assert "own account" in console.refused(REFUSED, "PUT", f"roles/{admin['id']}", admin | {"dataScope": 1})
    people.role("NARROW", data_scope=DataScope.OWN)
    narrow = console.get(f"roles/{role_id(console, 'NARROW')}/form")
    console.done("PUT", f"roles/{narrow['id']}", narrow | {"dataScope": 1})


def test_nobody_makes_a_role_that_sees_more_than_they_do(console: Console, people: People) -> None:
    manager, branch = in_a_branch(people)
    role = {"name": "Role", "code": "R1"}
    for wide in ({"dataScope": 1}, {"dataScope": 5, "deptIds": [1]}):
        manager.refused(REFUSED, "POST", "roles", role | wide)
    manager.done("POST", "roles", role | {"dataScope": 2})
    manager.done("POST", "roles", role | {"code": "R2"})
    console.done("POST", "roles", role | {"code": "R3", "dataScope": 5, "deptIds": [1, branch]})


@pytest.mark.parametrize("scope", [DataScope.DEPARTMENT_AND_BELOW, DataScope.DEPARTMENT, DataScope.OWN])
def test_nobody_puts_a_user_into_a_department_beyond_their_own(
    console: Console, people: People, scope: DataScope
) -> None:
    manager, branch = in_a_branch(people, scope)
    team, other = people.department("Team", branch), people.department("Other")
    new = {"username": "new", "nickname": "New"}
    for place in (1, other):
        manager.refused(REFUSED, "POST", "users", new | {"deptId": place})
    for place in (branch, team):
        manager.done("POST", "users", new | {"username": f"new{place}", "deptId": place})
    made = id_of(console, f"new{team}")
    for place in (1, other):
        manager.refused(REFUSED, "PUT", f"users/{made}", new | {"deptId": place})
    manager.done("PUT", f"users/{made}", new | {"deptId": branch})
    elsewhere = people.add("elsewhere", department=other)
    manager.refused(REFUSED, "PUT", f"users/{elsewhere}", {"username": "elsewhere", "nickname": "E", "deptId": branch})
    console.done("PUT", f"users/{elsewhere}", {"username": "elsewhere", "nickname": "E", "deptId": branch})


def test_a_data_scope_of_all_departments_reaches_them_all(people: People) -> None:
    manager, _ = in_a_branch(people, DataScope.ALL)
    manager.done("POST", "users", {"username": "new", "nickname": "New", "deptId": 1})


def test_nobody_takes_over_or_equips_somebody_who_sees_more(console: Console, people: People) -> None:
    """The data scope of a role depends on the department of who holds it."""
    manager, _ = in_a_branch(people)
    colleague = people.add("colleague", "MANAGER")
    plain = people.add("plain")
    manager.refused(REFUSED, "PUT", f"users/{colleague}/password/reset", password=NEW_PASSWORD)
    manager.done("PUT", f"users/{plain}/password/reset", password=NEW_PASSWORD)
    form = {"username": "plain", "nickname": "Plain", "roleIds": [role_id(console, "MANAGER")]}
    manager.refused(REFUSED, "PUT", f"users/{plain}", form)
    console.done("PUT", f"users/{plain}", form)


def test_a_role_of_ones_own_is_no_way_to_somebody_who_sees_more(console: Console, people: People) -> None:
    """Without the role, or with a narrower one, the colleague would see no more than the manager."""
    manager, branch = in_a_branch(people)
    colleague = people.add("colleague", "MANAGER")
    own = console.get(f"roles/{role_id(console, 'MANAGER')}/form")
    for change in ({"dataScope": 4}, {"dataScope": 3}, {"status": 0}):
        manager.refused(REFUSED, "PUT", f"roles/{own['id']}", own | change)
    manager.refused(REFUSED, "DELETE", f"roles/{own['id']}")
    manager.refused(REFUSED, "PUT", f"roles/{own['id']}/perms", {"perms": list(MANAGEMENT_PERMS[1:])})
    console.done("PUT", f"users/{colleague}", {"username": "colleague", "nickname": "C", "deptId": branch})
    manager.done("PUT", f"roles/{own['id']}", own | {"dataScope": 3})


def test_a_sheet_puts_nobody_beyond_the_department_of_who_imports_it(console: Console, people: People) -> None:
    manager, branch = in_a_branch(people)
    content = sheet(["ann", "", "", "", "", "Headquarters"], ["bob", "", "", "", "", "Branch", "MANAGER"], ["cyd"])
    report = upload(manager, content).data
    assert (report["validCount"], report["messageList"]) == (
        2, ["row 2: you cannot put users into the department Headquarters"],
    )  # fmt: skip
    assert {console.get(f"users/{id_of(console, name)}/form")["deptId"] for name in ("bob", "cyd")} == {str(branch)}
    refused = upload(manager, sheet(["dan"]), deptId="1", language="zh").data
    assert refused["messageList"] == ["第 2 行：无权将用户加入部门 1"]


def test_departments_are_moved_within_reach_alone(console: Console, people: People) -> None:
    """An empty department has data all the same, and who it is below sees them."""
    manager, branch = in_a_branch(people)
    archive, team = people.department("Archive"), people.department("Team", branch)
    manager.refused(REFUSED, "PUT", f"depts/{archive}", {"name": "Archive", "parentId": branch})
    manager.refused(REFUSED, "PUT", f"depts/{archive}", {"name": "Archive", "parentId": 1, "status": 0})
    manager.refused(REFUSED, "PUT", f"depts/{team}", {"name": "Team", "parentId": 1})
    manager.refused(REFUSED, "DELETE", f"depts/{archive}")
    manager.refused(REFUSED, "POST", "depts", {"name": "New", "parentId": 1})
    manager.refused(REFUSED, "POST", "depts", {"name": "New", "parentId": 0})
    manager.done("POST", "depts", {"name": "New", "parentId": branch})
    manager.done("PUT", f"depts/{team}", {"name": "Team", "parentId": branch, "status": 0})
    manager.done("DELETE", f"depts/{team}")
    console.done("PUT", f"depts/{archive}", {"name": "Archive", "parentId": branch})


# The administrator and the perms of other services


def test_an_administrator_administers_the_perms_of_other_services(console: Console, people: People) -> None:
    people.role("SHOP", "shop:order:refund")
    clerk = people.add("clerk", "SHOP")
    role, form = role_id(console, "SHOP"), {"username": "clerk", "nickname": "Clerk"}
    console.done("PUT", f"users/{clerk}", form | {"nickname": "Renamed"})
    console.done("PUT", f"users/{clerk}", form | {"status": 0})
    console.done("PUT", f"users/{clerk}", form | {"status": 1})
    console.done("PUT", f"roles/{role}/perms", {"perms": ["shop:order:ship", "sys:tenant:list", "sys:user:list"]})
    assert console.get(f"roles/{role}/perms")["perms"] == ["shop:order:ship", "sys:tenant:list", "sys:user:list"]
    console.done("POST", "users", {"username": "other", "nickname": "Other", "roleIds": [role]})
    console.done("PUT", f"users/{clerk}", form | {"roleIds": []})
    console.done("DELETE", f"users/{clerk}")
    assert "shop:order:ship" not in console.get("users/me")["perms"], "to grant it is not to have it"


@pytest.mark.parametrize("perm", ["sys:config:list", "sys:user:impersonate", "*:*:*", "SYS:User:x", "sys:*:list"])
def test_the_perms_of_gatehouse_itself_are_granted_by_those_who_have_them(
    console: Console, gatehouse: InProcess, people: People, perm: str
) -> None:
    gatehouse.run(gatehouse.accounts.deny("ADMIN", ["sys:config:list"]))
    people.role("EMPTY")
    role = role_id(console, "EMPTY")
    message = console.refused(REFUSED, "PUT", f"roles/{role}/perms", {"perms": [perm]})
    assert f"gatehouse role allow ADMIN {perm}" in message


def test_a_refusal_names_what_is_missing_and_what_mends_it(
    console: Console, people: People, user: Callable[..., Console]
) -> None:
    manager = user("manager", "sys:user:list", "sys:user:create", "sys:user:update", "sys:role:assign")
    people.role("SHOP", "shop:order:refund")
    people.role("FINANCE")
    clerk = people.add("clerk", "SHOP")
    new = {"username": "new", "nickname": "New", "deptId": 1}
    shop, finance = role_id(console, "SHOP"), role_id(console, "FINANCE")
    message = manager.refused(REFUSED, "POST", "users", new | {"roleIds": [shop]})
    assert "gatehouse role allow MANAGER shop:order:refund" in message
    assert "/admin" in message
    assert "gatehouse user grant NAME FINANCE" in manager.refused(
        REFUSED, "POST", "users", new | {"roleIds": [finance]}
    )
    message = manager.refused(REFUSED, "PUT", f"users/{clerk}", {"username": "clerk", "nickname": "x"})
    assert message.startswith("This user has more permissions than you")
    assert "shop:order:refund" in message
    answer = manager.gatehouse.request(
        "PUT", f"/api/v1/roles/{shop}/perms", body={"perms": []}, token=manager.token,
        headers={"accept-language": "zh-CN"},
    )  # fmt: skip
    assert "缺少权限：shop:order:refund" in answer.json["msg"]
    assert "gatehouse role allow MANAGER shop:order:refund" in answer.json["msg"]
