"""A console moves in with all its ids: from every engine, into a service that was just started."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.conversation import ME, bearer, login
from tests.support.engines import Postgres
from tests.transfer.conftest import Place
from tests.transfer.console import NEW, OLD, OLD_PASSWORD, OTHER, Version, old_hash, sample_console

_numbers = itertools.count(1)


def database(kind: str, request: pytest.FixtureRequest) -> str:
    """The URL of an empty database of that kind."""
    name = f"console_{next(_numbers)}"
    match kind:
        case "mariadb":
            return str(request.getfixturevalue("mariadb_server").create(name))
        case "postgres":
            return str(request.getfixturevalue("postgres_server").create(name, migrated=False))
    return str(request.getfixturevalue("sqlite_url"))


@pytest.mark.parametrize(
    ("kind", "version"),
    [
        pytest.param("sqlite", NEW, id="sqlite-new"),
        pytest.param("sqlite", OTHER, id="sqlite-perms"),
        pytest.param("mariadb", NEW, id="mariadb-new", marks=pytest.mark.full),
        pytest.param("mariadb", OLD, id="mariadb-old", marks=pytest.mark.full),
        pytest.param("postgres", NEW, id="postgres-new", marks=pytest.mark.full),
    ],
)
def test_ids_roles_perms_and_departments_come_along(
    place: Place, kind: str, version: Version, request: pytest.FixtureRequest
) -> None:
    url = database(kind, request)
    sample_console(url, version).write()
    told = place.bring(url)
    assert told["users"] == {"added": 3, "changed": 0, "unchanged": 0}
    assert told["roles"] == {"added": 2, "changed": 1, "unchanged": 0}  # ADMIN was here
    assert told["departments"] == {"added": 2, "changed": 1, "unchanged": 0}  # 1 was here
    assert (told["madeWay"], told["refused"]) == ("admin (id 1)", [])
    people = place.people()
    assert {name: (who["id"], who["deptId"], who["roles"]) for name, who in people.items()} == {
        "root": (1, 1, ["ROOT"]),
        "admin": (2, 1, ["ADMIN"]),
        "test": (3, 3, ["GUEST"]),
    }
    assert people["admin"]["avatar"] == "https://cdn.example.com/a.gif"
    assert people["admin"]["created"] == 1684585800.0
    assert place.typed("role", "show", "ADMIN", "--json").json["perms"] == [
        "sys:user:add", "sys:user:delete", "sys:user:edit", "sys:user:query",
    ]  # fmt: skip
    # And again: nothing is left to do.
    again = place.bring(url)
    for what in ("users", "roles", "departments"):
        assert (again[what]["added"], again[what]["changed"]) == (0, 0)
    assert place.people() == people


def test_people_log_in_with_their_old_password_and_are_hashed_anew(place: Place, sqlite_url: str) -> None:
    sample_console(sqlite_url).write()
    place.bring(sqlite_url)
    assert place.people()["admin"]["passwordHash"].startswith("$2a$")
    with place.serving() as client:
        tokens = login(client, username="admin", password=OLD_PASSWORD)
        me = client.get(ME, headers=bearer(tokens)).json()["data"]
    assert (me["userId"], me["nickname"], me["roles"], me["deptId"]) == (2, "Nick admin", ["ADMIN"], 1)
    assert "sys:user:add" in me["perms"]
    assert place.people()["admin"]["passwordHash"].startswith("$argon2id$")
    assert place.people()["test"]["passwordHash"].startswith("$2a$")
    # What is newer here is not undone by a second import.
    assert place.bring(sqlite_url)["users"] == {"added": 0, "changed": 0, "unchanged": 3}
    assert place.people()["admin"]["passwordHash"].startswith("$argon2id$")


def test_who_was_logged_in_as_the_first_administrator_is_not_taken_for_another(place: Place, sqlite_url: str) -> None:
    """Under its id there is somebody else now: neither of its tokens may open that account."""
    sample_console(sqlite_url).write()
    with place.serving() as client:
        before = login(client)
        assert client.get(ME, headers=bearer(before)).json()["data"]["userId"] == 1
        place.bring(sqlite_url)
        assert client.get(ME, headers=bearer(before)).status_code == 401
        answer = client.post("/api/v1/auth/refresh-token", json={"refreshToken": before["refreshToken"]})
        assert answer.status_code == 401
        # The old console's root has id 1, and its own password.
        root = login(client, username="root", password=OLD_PASSWORD)
        assert client.get(ME, headers=bearer(root)).json()["data"]["username"] == "root"


def test_the_first_administrator_stays_if_nobody_needs_its_place(place: Place, sqlite_url: str) -> None:
    console = sample_console(sqlite_url)
    console.users.clear()
    console.user_roles.clear()
    console.user(70, "ada", 3)
    console.write()
    assert place.bring(sqlite_url)["madeWay"] is None
    assert {name: who["id"] for name, who in place.people().items()} == {"admin": 1, "ada": 70}


def test_where_others_live_already_ids_and_names_are_theirs(place: Place, sqlite_url: str) -> None:
    """The administrator is no longer alone: rows that would need its id or its name are refused, and named."""
    place.typed("user", "add", "local", "--password-stdin", stdin="quite a passphrase\n").done()
    sample_console(sqlite_url).write()
    told = place.bring(sqlite_url)
    assert told["madeWay"] is None
    assert told["refused"] == [
        {"place": "sys_user 1 'root'", "text": "id 1 belongs to 'admin' here"},
        {"place": "sys_user 2 'admin'", "text": "id 2 belongs to 'local' here"},
    ]
    assert told["users"] == {"added": 1, "changed": 0, "unchanged": 0}
    assert place.people()["admin"]["id"] == 1


def test_a_new_user_gets_an_id_beyond_those_that_came_along(place: Place, sqlite_url: str) -> None:
    console = sample_console(sqlite_url)
    console.user(5000, "high", 3)
    console.write()
    place.bring(sqlite_url)
    place.typed("user", "add", "next", "--password-stdin", stdin="quite a passphrase\n").done()
    assert place.people()["next"]["id"] == 5001


@pytest.mark.full
def test_into_postgresql(tmp_path: Path, sqlite_url: str, postgres_server: Postgres) -> None:
    place = Place(tmp_path / "data", database_url=postgres_server.create("moved_in"))
    console = sample_console(sqlite_url)
    for number in range(100, 1300):
        console.user(number, f"user{number}", 3, dept_id=2)
    console.write()
    told = place.bring(sqlite_url)
    assert told["users"]["added"] == 1203
    assert place.bring(sqlite_url)["users"] == {"added": 0, "changed": 0, "unchanged": 1203}
    place.typed("user", "add", "next", "--password-stdin", stdin="quite a passphrase\n").done()
    place.typed("dept", "add", "Next").done()
    people = place.people()
    assert (people["user1299"]["id"], people["user1299"]["deptId"], people["next"]["id"] > 1299) == (1299, 2, True)


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("mariadb", marks=pytest.mark.full)])
def test_names_in_every_script_survive_the_way(place: Place, kind: str, request: pytest.FixtureRequest) -> None:
    url = database(kind, request)
    console = sample_console(url)
    console.user(10, "王小明", 3, nickname="小明 🐟")
    console.write()
    place.bring(url)
    who = place.people()["王小明"]
    assert (who["id"], who["nickname"]) == (10, "小明 🐟")


def test_prefixed_hashes_are_understood(place: Place, sqlite_url: str) -> None:
    console = sample_console(sqlite_url)
    console.user(10, "ada", 3, password="{bcrypt}" + old_hash("a password of her own"))
    console.write()
    place.bring(sqlite_url)
    with place.serving() as client:
        assert login(client, username="ada", password="a password of her own")["accessToken"]


def test_a_running_service_shows_changes_on_the_next_request(place: Place, sqlite_url: str) -> None:
    console = sample_console(sqlite_url).write()
    place.bring(sqlite_url)
    with place.serving() as client:
        test = bearer(login(client, username="test", password=OLD_PASSWORD))
        assert me(client, test)["perms"] == ["sys:user:list", "sys:user:query"]
        console.link(3, 2)
        console.change("sys_user", 3, nickname="Promoted")
        assert place.bring(sqlite_url)["users"] == {"added": 0, "changed": 1, "unchanged": 2}
        assert (me(client, test)["nickname"], "sys:user:delete" in me(client, test)["perms"]) == ("Promoted", True)
        console.change("sys_menu", 14, perm="sys:user:remove")
        assert place.bring(sqlite_url)["roles"]["changed"] == 1
        assert "sys:user:remove" in me(client, test)["perms"]
        console.change("sys_user", 3, status=0)
        place.bring(sqlite_url)
        assert client.get(ME, headers=test).status_code == 401


def test_passwords_that_come_again_log_their_owners_out(place: Place, sqlite_url: str) -> None:
    sample_console(sqlite_url).write()
    place.bring(sqlite_url)
    with place.serving() as client:
        admin = bearer(login(client, username="admin", password=OLD_PASSWORD))
        # Hashed anew by that login, so the hash differs from the source's; the others are as they were.
        told = place.bring(sqlite_url, "--overwrite-passwords")
        assert told["users"] == {"added": 0, "changed": 1, "unchanged": 2}
        assert client.get(ME, headers=admin).status_code == 401
        assert login(client, username="admin", password=OLD_PASSWORD)


def me(client: httpx.Client, headers: dict[str, str]) -> dict[str, Any]:
    return dict(client.get(ME, headers=headers).json()["data"])
