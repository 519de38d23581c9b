"""The console's user page, on both pairs of engines."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from urllib.parse import urlencode

import pytest

from gatehouse.common import logs
from gatehouse.stores.database.users import NewUser
from tests.api.console.conftest import HASH, Console
from tests.support.inprocess import InProcess
from tests.support.running import PASSWORD

pytestmark = pytest.mark.every_engine

ROW = {
    "id", "username", "nickname", "gender", "avatar", "mobile", "email", "status", "deptName", "roleNames",
    "createTime", "genderLabel", "hasPassword", "lastLoginTime",
}  # fmt: skip
FORM = {"id", "username", "nickname", "deptId", "roleIds", "gender", "mobile", "email", "status", "avatar"}
NEW_PASSWORD = "tulip rain lamp 42"


def id_of(console: Console, username: str) -> str:
    [row] = [row for row in console.get("users", keywords=username)["list"] if row["username"] == username]
    return str(row["id"])


def role_id(console: Console, code: str) -> str:
    [row] = [row for row in console.get("roles", pageSize=100)["list"] if row["code"] == code]
    return str(row["id"])


def ann(**changes: object) -> dict[str, object]:
    return {"status": 1, "username": "ann", "nickname": "Ann", "deptId": "1", "roleIds": [], **changes}


def test_a_user_is_added_shown_changed_and_deleted(console: Console) -> None:
    role = role_id(console, "ADMIN")
    console.done(
        "POST", "users", ann(roleIds=[role], gender="2", mobile="138 0013 8000", email="ann@example.com", tenantId=1)
    )
    page = console.get("users", pageNum=1, pageSize=10)
    assert page["total"] == 2
    row = page["list"][0]
    assert set(row) == ROW
    assert row | {"avatar": "", "createTime": ""} == {
        "id": row["id"], "username": "ann", "nickname": "Ann", "gender": 2, "genderLabel": "Female", "avatar": "",
        "mobile": "138 0013 8000",
        "email": "ann@example.com", "status": 1, "deptName": "Headquarters", "roleNames": "Administrator",
        "createTime": "", "hasPassword": False, "lastLoginTime": "",
    }  # fmt: skip
    assert row["createTime"] == "2030-03-17 17:46:40"
    form = console.get(f"users/{row['id']}/form")
    assert set(form) == FORM
    assert (form["deptId"], form["roleIds"], form["gender"], form["status"]) == ("1", [role], 2, 1)
    console.done("PUT", f"users/{row['id']}", form | {"nickname": "Ann Lee", "mobile": "", "roleIds": [int(role)]})
    changed = console.get(f"users/{row['id']}/form")
    assert changed == form | {"nickname": "Ann Lee", "mobile": ""}
    console.done("DELETE", f"users/{row['id']}")
    console.refused("C0113", "GET", f"users/{row['id']}/form")
    assert console.get("users")["total"] == 1


def test_a_user_is_added_with_the_first_password_or_not_at_all(gatehouse: InProcess, console: Console) -> None:
    assert "too common" in console.refused("A0421", "POST", "users", ann(firstPassword="12345678"))
    console.refused("A0421", "POST", "users", ann(username="ann.lee.long", firstPassword="x ann.lee.long x"))
    assert console.get("users")["total"] == 1
    console.done("POST", "users", ann(firstPassword=NEW_PASSWORD))
    assert gatehouse.login("ann", NEW_PASSWORD).status == 200


def test_a_first_password_takes_the_perm_to_set_one(user: Callable[..., Console], console: Console) -> None:
    clerk = user("clerk", "sys:user:create", "sys:user:list")
    clerk.refused("A0301", "POST", "users", ann(firstPassword=NEW_PASSWORD))
    assert console.get("users", keywords="ann")["total"] == 0
    clerk.done("POST", "users", ann(firstPassword=""))
    assert console.get("users", keywords="ann")["list"][0]["hasPassword"] is False


def test_the_list_says_who_has_a_password_and_when_they_last_logged_in(gatehouse: InProcess, console: Console) -> None:
    console.done("POST", "users", ann())
    console.done("POST", "users", ann(username="bob", nickname="Bob", firstPassword=NEW_PASSWORD))
    gatehouse.login("bob", NEW_PASSWORD)
    gatehouse.clock.move(3 * 86_400)
    gatehouse.login("bob", NEW_PASSWORD)
    console = Console(gatehouse)
    gatehouse.run(gatehouse.service.audit.stop())
    rows = {row["username"]: row for row in console.get("users")["list"]}
    assert {name: row["hasPassword"] for name, row in rows.items()} == {"ann": False, "bob": True, "admin": True}
    assert (rows["ann"]["lastLoginTime"], rows["bob"]["lastLoginTime"]) == ("", "2030-03-20 17:46:40")
    trail = gatehouse.service.audit_trail
    assert gatehouse.run(trail.prune(gatehouse.clock() + 1))
    [bob] = console.get("users", keywords="bob")["list"]
    assert bob["lastLoginTime"] == "2030-03-20 17:46:40", "the trail is pruned, and the login is still known"


def test_users_are_found_by_role_and_by_a_missing_password(console: Console) -> None:
    role = role_id(console, "ADMIN")
    console.done("POST", "users", ann(roleIds=[role]))
    console.done("POST", "users", ann(username="bob", nickname="Bob", firstPassword=NEW_PASSWORD))

    def names(**query: object) -> set[str]:
        return {row["username"] for row in console.get("users", **query)["list"]}

    assert names(roleId=role) == {"admin", "ann"}
    assert names(roleId=99) == set()
    assert names(hasPassword=0) == {"ann"}
    assert names(hasPassword=1) == {"admin", "bob"}
    assert names(hasPassword=1, roleId=role) == {"admin"}


def test_what_a_change_leaves_out_stays(console: Console) -> None:
    console.done("POST", "users", ann(mobile="1", email="a@b", gender=1, roleIds=[role_id(console, "ADMIN")]))
    user = id_of(console, "ann")
    before = console.get(f"users/{user}/form")
    console.done("PUT", f"users/{user}", {"username": "ann", "nickname": "Ann"})
    assert console.get(f"users/{user}/form") == before
    console.done("PUT", f"users/{user}", {"username": "ann", "nickname": "Ann", "roleIds": None, "gender": ""})
    assert console.get(f"users/{user}/form") == before | {"roleIds": [], "gender": 0}


def test_lists_are_searched_filtered_sorted_and_paged(gatehouse: InProcess) -> None:
    accounts = gatehouse.service.accounts
    north = gatehouse.run(accounts.add_department("North", 1))
    for number, name in enumerate(["Bea", "Cem", "Dora", "Emil"]):
        gatehouse.clock.move(86_400)
        place = north if number % 2 else 1
        new = NewUser(name.lower(), f"N {name}", HASH, place, 0, enabled=bool(number % 2))
        gatehouse.run(accounts.add_user(new))
    console = Console(gatehouse)
    everybody = ["emil", "dora", "cem", "bea", "admin"]

    def names(**query: object) -> list[str]:
        return [row["username"] for row in console.get("users", **query)["list"]]

    assert names() == everybody
    assert names(pageNum=2, pageSize=2) == everybody[2:4]
    assert console.get("users", pageNum=9, pageSize=2) == {"list": [], "total": 5}
    assert console.get("users", pageNum=9, pageSize=2, keywords="e") == {"list": [], "total": 3}
    assert names(keywords="EM") == ["emil", "cem"]
    assert names(keywords="n d") == ["dora"]
    assert names(keywords="%") == names(keywords="_") == []
    assert names(status=0) == ["dora", "bea"]
    assert names(status="", keywords="", deptId="") == everybody
    assert names(deptId=north) == ["emil", "cem"]
    assert names(deptId=1) == everybody, "with those below"
    assert names(deptId=1, keywords="d", status=0) == ["dora"]
    assert names(sort="username") == sorted(everybody)
    assert names(sort="-username") == sorted(everybody, reverse=True)
    assert names(sort="createTime", pageSize=3, pageNum=2) == ["dora", "emil"]
    console.refused("A0421", "GET", "users", sort="password")
    console.refused("A0421", "GET", "users", pageSize="many")
    days = [("createTime", "2030-03-19"), ("createTime", "2030-03-20")]
    for pairs in (days, [(f"createTime[{number}]", day) for number, (_, day) in enumerate(days)]):
        asked = {"token": console.token, "raw_query": urlencode(pairs)}
        found = gatehouse.request("GET", "/api/v1/users/page", **asked).data
        assert [row["username"] for row in found["list"]] == ["dora", "cem"]


def test_nobody_logs_in_as_a_new_user_until_a_password_is_set(console: Console, gatehouse: InProcess) -> None:
    console.done("POST", "users", ann(password="never looked at"))
    user = id_of(console, "ann")
    hashed = gatehouse.service.hash_pool.check
    checked: list[str] = []

    async def counting(stored: str, password: str) -> object:
        checked.append(stored)
        return await hashed(stored, password)

    gatehouse.service.hash_pool.check = counting  # type: ignore[method-assign, assignment]
    for password in ("never looked at", "123456", "x"):
        assert gatehouse.login("ann", password).code == "A0210"
    assert [stored.startswith("$argon2id$") for stored in checked] == [True] * 3, "one real hash each"
    console.done("PUT", f"users/{user}/password/reset", password=NEW_PASSWORD)
    assert gatehouse.login("ann", NEW_PASSWORD).status == 200


def test_a_reset_follows_the_policy_and_ends_the_sessions(console: Console, user: Callable[..., Console]) -> None:
    bob = user("bob")
    number = id_of(console, "bob")
    for weak in ("short", "password1", "bob-bob-bob-1"):
        assert console.refused("A0421", "PUT", f"users/{number}/password/reset", password=weak)
    console.refused("A0410", "PUT", f"users/{number}/password/reset")
    assert bob.call("GET", "users/me").status == 200, "nothing happened so far"
    console.done("PUT", f"users/{number}/password/reset", password=NEW_PASSWORD)
    bob.refused("A0230", "GET", "users/me")
    assert bob.gatehouse.login("bob", PASSWORD).code == "A0210"
    assert bob.gatehouse.login("bob", NEW_PASSWORD).status == 200


@pytest.fixture
def everything_logged() -> None:
    logs.configure("debug", "json", cached=False)


def test_a_password_in_the_query_reaches_no_log(
    everything_logged: None,
    console: Console,
    gatehouse: InProcess,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    console.done("POST", "users", ann())
    user = id_of(console, "ann")
    for secret in (NEW_PASSWORD, "ann-ann-ann-secret"):
        console.call("PUT", f"users/{user}/password/reset", password=secret)
        console.call("PUT", "users/999/password/reset", password=secret)
        console.call("POST", f"users/{user}/password/reset", password=secret)
    gatehouse.run(gatehouse.service.audit.stop())
    logs.flush()
    told = "".join(capfd.readouterr()) + caplog.text
    assert "password.changed" in told, "the log is there"
    told += str(list(gatehouse.run(gatehouse.service.audit_trail.read(newest=50))))
    for secret in (NEW_PASSWORD, "ann-ann-ann-secret", "tulip"):
        assert secret not in told


def test_a_disabled_user_is_out_at_once(console: Console, user: Callable[..., Console]) -> None:
    bob = user("bob")
    number = id_of(console, "bob")
    console.done("PUT", f"users/{number}", {"username": "bob", "nickname": "bob", "status": 0})
    bob.refused("A0230", "GET", "users/me")
    assert bob.gatehouse.login("bob").code == "A0210"
    console.done("PUT", f"users/{number}", {"username": "bob", "nickname": "bob", "status": 1})
    assert bob.gatehouse.login("bob").status == 200


def test_several_are_deleted_together_or_not_at_all(console: Console, user: Callable[..., Console]) -> None:
    bob, cyd = user("bob"), user("cyd")
    ids = [id_of(console, name) for name in ("bob", "cyd")]
    console.refused("C0113", "DELETE", f"users/{ids[0]},999")
    console.refused("A0301", "DELETE", f"users/{ids[0]},1")
    console.refused("A0421", "DELETE", f"users/{ids[0]},x")
    assert bob.call("GET", "users/me").status == 200
    console.done("DELETE", f"users/{ids[0]},{ids[1]}")
    for gone in (bob, cyd):
        gone.refused("A0230", "GET", "users/me")


def test_roles_show_on_the_next_request(console: Console, user: Callable[..., Console]) -> None:
    bob = user("bob")
    number = id_of(console, "bob")
    assert bob.get("users/me")["roles"] == []
    bob.refused("A0301", "GET", "users")
    body = {"username": "bob", "nickname": "bob", "roleIds": [role_id(console, "ADMIN")]}
    console.done("PUT", f"users/{number}", body)
    assert bob.get("users/me")["roles"] == ["ADMIN"]
    assert bob.get("users")["total"] == 2
    console.done("PUT", f"users/{number}", body | {"roleIds": []})
    assert bob.get("users/me")["perms"] == []


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("username", " "), ("username", "x" * 65), ("nickname", "a\u0000b"), ("deptId", "north"), ("gender", 7),
        ("gender", "male"), ("mobile", "call me"), ("email", "nobody"), ("email", "a b@c"), ("status", "on"),
        ("avatar", "javascript:alert(1)"), ("roleIds", "1"), ("roleIds", ["x"]), ("roleIds", [-1]),
    ],
)  # fmt: skip
def test_values_that_are_wrong_are_refused_by_name(console: Console, field: str, value: object) -> None:
    assert field in console.refused("A0421", "POST", "users", ann(**{field: value}))
    assert console.get("users")["total"] == 1


def test_names_are_taken_and_things_that_are_missing_are_missing(console: Console) -> None:
    console.refused("A0440", "POST", "users", ann(username="ADMIN"))
    console.refused("A0410", "POST", "users", {"nickname": "x"})
    console.refused("C0113", "POST", "users", ann(deptId=999))
    console.refused("C0113", "POST", "users", ann(roleIds=[999]))
    console.refused("C0113", "PUT", "users/999", ann())
    console.done("POST", "users", ann())
    console.refused("A0440", "PUT", f"users/{id_of(console, 'ann')}", ann(username="Admin"))
    assert console.get("users/options") == [
        {"value": "1", "label": "Administrator"},
        {"value": id_of(console, "ann"), "label": "Ann"},
    ]


def test_every_change_is_in_the_trail_with_who_and_what(console: Console, gatehouse: InProcess) -> None:
    role = role_id(console, "ADMIN")
    console.done("POST", "users", ann())
    user = id_of(console, "ann")
    console.done("PUT", f"users/{user}", ann(nickname="Ann Lee", roleIds=[role], status=0))
    console.done("PUT", f"users/{user}", ann(nickname="Ann Lee", roleIds=[role], status=0))
    console.done("PUT", f"users/{user}/password/reset", password=NEW_PASSWORD)
    console.done("DELETE", f"users/{user}")
    gatehouse.run(gatehouse.service.audit.stop())
    entries = gatehouse.run(gatehouse.service.audit_trail.read(user=int(user)))
    assert [entry.event for entry in entries] == [
        "user.added", "user.changed", "user.disabled", "password.changed", "user.deleted",
    ]  # fmt: skip
    assert {entry.actor for entry in entries} == {1}
    assert {entry.address for entry in entries} == {"127.0.0.1"}
    assert entries[1].detail == '{"changed":["nickname"],"granted":["ADMIN"]}'


def test_of_two_edits_at_once_one_wins_as_a_whole(console: Console, gatehouse: InProcess) -> None:
    accounts = gatehouse.service.accounts
    for code in "ABCD":
        gatehouse.run(accounts.add_role(code, code))
    ids = {code: role_id(console, code) for code in "ABCD"}
    gatehouse.run(accounts.add_user(NewUser("ann", "Ann", HASH, 1, 0)))
    user = id_of(console, "ann")
    forms = {"first": ["A", "B"], "second": ["B", "C", "D"], "third": []}

    async def edit(nickname: str) -> int:
        body = ann(nickname=nickname, roleIds=[ids[code] for code in forms[nickname]])
        answer = await gatehouse.send("PUT", f"/api/v1/users/{user}", body=body, token=console.token)
        return answer.status

    async def all_at_once() -> list[int]:
        return await asyncio.gather(*(edit(nickname) for nickname in [*forms] * 2))

    assert set(gatehouse.run(all_at_once())) == {200}
    form = console.get(f"users/{user}/form")
    assert form["roleIds"] == [ids[code] for code in forms[form["nickname"]]]
