"""Row by row: what is respected, what is put right and told, what is refused and named."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.transfer.conftest import Place
from tests.transfer.console import Console, sample_console

REASON = {
    "hash": "the password is neither a bcrypt nor an Argon2id hash",
}


@pytest.fixture
def console(sqlite_url: str) -> Console:
    return sample_console(sqlite_url)


def remarks(told: dict[str, Any], what: str) -> dict[str, str]:
    return {remark["place"]: remark["text"] for remark in told[what]}


def test_status_and_soft_deletion_are_respected(place: Place, console: Console) -> None:
    console.user(10, "disabled", 3, status=0)
    console.user(11, "unclear", 3, status=None)
    console.user(12, "deleted", 3, deleted=1)
    console.user(13, "half-deleted", 3, deleted=None)
    console.write()
    told = place.bring(console.url)
    people = place.people()
    assert told["skipped"] == 2
    assert {name: people[name]["enabled"] for name in ("disabled", "unclear", "test")} == {
        "disabled": False, "unclear": False, "test": True,
    }  # fmt: skip
    assert people.keys() & {"deleted", "half-deleted"} == set()


def test_disabled_and_deleted_roles_grant_nothing(place: Place, console: Console) -> None:
    console.role(4, "PAUSED", 12, status=0)
    console.role(5, "GONE", 13, deleted=1)
    console.user(10, "ada", 3, 4, 5)
    console.write()
    place.bring(console.url)
    shown = place.typed("user", "show", "ada", "--json").json
    assert shown["perms"] == ["sys:user:list", "sys:user:query"]
    assert place.typed("role", "show", "PAUSED", "--json").json["enabled"] is False
    assert "no role" in place.typed("role", "show", "GONE").refused()


def test_only_buttons_carry_perms(place: Place, console: Console) -> None:
    console.menu(20, "sys:page:open", "M")
    console.role(4, "PAGES", 20, 11)
    console.write()
    place.bring(console.url)
    assert place.typed("role", "show", "PAGES", "--json").json["perms"] == ["sys:user:query"]


def test_contact_fields_and_places_come_along(place: Place, console: Console) -> None:
    console.user(10, "ada", 3, gender=2, mobile=" 138 0013 ", email="ada@example.com")
    console.user(11, "bob", 3, gender=9, mobile="none yet", email="bob at home")
    console.write()
    told = place.bring(console.url)
    people = place.people()
    shown = {name: [people[name][key] for key in ("gender", "mobile", "email")] for name in ("ada", "bob")}
    assert shown == {"ada": [2, "138 0013", "ada@example.com"], "bob": [0, "", ""]}
    assert [remark["text"] for remark in told["adapted"]] == [
        "a mobile number has up to 32 digits, spaces and + - ( ): left empty",
        "an email address reads name@domain and has at most 254 characters: left empty",
    ]
    assert place.typed("role", "show", "GUEST", "--json").json["sort"] == 1
    assert place.bring(console.url)["users"]["changed"] == 0


def test_a_perm_that_older_consoles_call_otherwise_is_the_same(place: Place, console: Console) -> None:
    console.menu(20, "sys:user:password:reset")
    console.role(4, "HELPDESK", 20)
    console.write()
    assert place.bring(console.url)["refused"] == []
    assert place.typed("role", "show", "HELPDESK", "--json").json["perms"] == ["sys:user:reset-password"]


@pytest.mark.parametrize(
    ("given", "chosen", "scopes"),
    [
        ((0, 1, 2, 3), (), ("all", "department-and-below", "department", "own")),
        ((1, 2, 3, 4), (), ("all", "department-and-below", "department", "own")),
        ((1, 5, 3, None), (2,), ("all", "chosen", "department", "own")),
        ((1, 2, 2, 3), (), ("department-and-below", "department", "department", "own")),
        ((0, 9, None, 3), (), ("all", "own", "own", "own")),
    ],
    ids=["from zero", "from one", "with chosen", "nothing tells", "odd"],
)
def test_data_scopes_of_both_counts(
    place: Place, sqlite_url: str, given: tuple[int | None, ...], chosen: tuple[int, ...], scopes: tuple[str, ...]
) -> None:
    """Where nothing tells which count it is, a role sees less and not more."""
    console = Console(sqlite_url)
    console.department(1, "Top")
    console.department(2, "North", 1)
    for number, scope in enumerate(given, 1):
        console.role(number, f"R{number}", scope=scope)
    console.write()
    if chosen:
        with closing(sqlite3.connect(sqlite_url.removeprefix("sqlite:///"))) as db, db:
            db.execute("CREATE TABLE sys_role_dept (role_id INTEGER, dept_id INTEGER)")
            db.executemany("INSERT INTO sys_role_dept VALUES (2, ?)", [(each,) for each in (*chosen, 99)])
    place.bring(sqlite_url)
    shown = [place.typed("role", "show", f"R{number}", "--json").json for number in range(1, 5)]
    assert tuple(role["data_scope"] for role in shown) == scopes
    assert shown[1]["depts"] == list(chosen)


def test_perms_of_another_form_are_refused_and_named(place: Place, console: Console) -> None:
    console.menu(20, "everything")
    console.menu(21, "sys:user")
    console.menu(22, "")
    console.role(4, "ODD", 20, 21, 22, 11)
    console.write()
    told = place.bring(console.url)
    assert remarks(told, "refused") == {
        "sys_menu 20": "a perm reads segment:segment:segment, got 'everything'",
        "sys_menu 21": "a perm reads segment:segment:segment, got 'sys:user'",
    }
    assert place.typed("role", "show", "ODD", "--json").json["perms"] == ["sys:user:query"]


def test_roles_that_cannot_come_are_named_and_give_nothing(place: Place, console: Console) -> None:
    console.role(4, "TWICE", 11)
    console.role(5, "TWICE", 12)
    console.role(6, "not a code", 13)
    console.user(10, "ada", 5, 6)
    console.write()
    told = place.bring(console.url)
    assert remarks(told, "refused") == {
        "sys_role 5 'TWICE'": "another role of this code came first",
        "sys_role 6 'not a code'": "a role code has letters, digits, _ . -, got 'not a code'",
    }
    assert place.people()["ada"]["roles"] == []


def test_names_that_differ_in_case_only_are_refused_and_named(place: Place, console: Console) -> None:
    console.user(10, "Ada")
    console.user(11, "ada")
    console.user(12, "ＡＤＡ")
    console.user(13, "ROOT")
    console.user(14, "gone", deleted=1)
    console.user(15, "Gone")
    console.write()
    told = place.bring(console.url)
    assert remarks(told, "refused") == {
        "sys_user 11 'ada'": "the name 'ada' is that of sys_user 10 'Ada' (case does not count)",
        "sys_user 12 'ＡＤＡ'": "the name 'ＡＤＡ' is that of sys_user 10 'Ada' (case does not count)",
        "sys_user 13 'ROOT'": "the name 'ROOT' is that of sys_user 1 'root' (case does not count)",
    }
    assert place.people()["Ada"]["id"] == 10
    assert place.people()["Gone"]["id"] == 15


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"password": None}, REASON["hash"]),
        ({"password": "{noop}123456"}, REASON["hash"]),
        ({"password": "e10adc3949ba59abbe56e057f20f883e"}, REASON["hash"]),
        ({"password": "$2a$10$tooshort"}, REASON["hash"]),
    ],
    ids=["none", "noop", "md5", "short"],
)
def test_unreadable_passwords_are_refused(place: Place, console: Console, values: dict[str, Any], reason: str) -> None:
    console.user(10, "ada", 3, **values)
    console.write()
    assert remarks(place.bring(console.url), "refused") == {"sys_user 10 'ada'": reason}
    assert "ada" not in place.people()


@pytest.mark.parametrize("username", [None, "", " padded ", "line\nbreak"])
def test_impossible_usernames_are_refused(place: Place, console: Console, username: str | None) -> None:
    console.user(10, username, 3)
    console.user(-5, "negative", 3)
    console.write()
    told = place.bring(console.url)
    assert set(remarks(told, "refused")) == {f"sys_user 10 {username!r}", "sys_user -5 'negative'"}
    assert told["users"]["added"] == 3


def test_what_need_not_stop_a_user_is_put_right_and_told(place: Place, console: Console) -> None:
    console.department(8, "A" * 80)
    console.department(9, "Gone", deleted=1)
    console.user(10, "lost", 3, dept_id=9)
    console.user(11, "odd", 3, nickname="Tab\tulator", avatar="javascript:alert(1)")
    console.user(12, "plain", 3, nickname="", avatar=None, dept_id=None)
    console.write()
    told = place.bring(console.url)
    assert told["refused"] == []
    assert [(remark["place"], remark["text"]) for remark in told["adapted"]] == [
        ("sys_dept 8", f"the name became {'A' * 64!r}"),
        ("sys_user 10 'lost'", "there is no department 9: put into 1"),
        ("sys_user 11 'odd'", "the nickname became 'Tab ulator'"),
        ("sys_user 11 'odd'", "an avatar is a URL of at most 1024 characters: left empty"),
    ]
    people = place.people()
    assert people["lost"]["deptId"] == people["plain"]["deptId"] == 1
    assert (people["odd"]["nickname"], people["odd"]["avatar"]) == ("Tab ulator", "")
    assert people["plain"]["nickname"] == "plain"


def test_departments_in_a_circle_are_put_at_the_top(place: Place, console: Console) -> None:
    console.department(10, "Hen", 11)
    console.department(11, "Egg", 10)
    console.department(12, "Orphan", 99)
    console.write()
    told = place.bring(console.url)
    assert set(remarks(told, "adapted")) == {"sys_dept 10", "sys_dept 12"}
    parents = {each["id"]: each["parent"] for each in place.typed("dept", "list", "--json").json}
    assert parents == {1: None, 2: 1, 3: 1, 10: None, 11: 10, 12: None}


def test_roles_given_here_stay_and_roles_taken_there_go(place: Place, console: Console) -> None:
    console.role(4, "EXTRA", 12)
    console.user(10, "ada", 3, 4)
    console.write()
    place.bring(console.url)
    place.typed("role", "add", "LOCAL").done()
    place.typed("user", "grant", "ada", "LOCAL").done()
    assert place.bring(console.url)["users"]["changed"] == 0
    console.unlink(10, 3)
    console.change("sys_role", 4, is_deleted=1)
    assert place.bring(console.url)["users"]["changed"] == 1
    assert place.people()["ada"]["roles"] == ["LOCAL"]


def test_passwords_come_again_only_if_asked_for(place: Place, console: Console) -> None:
    console.write()
    place.bring(console.url)
    place.typed("user", "password", "test", "--password-stdin", stdin="a newer passphrase\n").done()
    newer = place.people()["test"]["passwordHash"]
    place.bring(console.url)
    assert place.people()["test"]["passwordHash"] == newer
    told = place.bring(console.url, "--overwrite-passwords")
    assert told["users"] == {"added": 0, "changed": 1, "unchanged": 2}
    assert place.people()["test"]["passwordHash"].startswith("$2a$")


def test_a_dry_run_says_the_same_and_does_nothing(place: Place, console: Console) -> None:
    console.user(10, "Ada", 3)
    console.user(11, "ada", 3)
    console.user(12, "gone", deleted=1)
    console.write()
    before = contents(place)
    dry = place.bring(console.url, "--dry-run")
    assert contents(place) == before
    assert dry.pop("dryRun") is True
    real = place.bring(console.url)
    assert real.pop("dryRun") is False
    assert dry == real


def contents(place: Place) -> list[str]:
    with closing(sqlite3.connect(place.data / "accounts.db")) as db, db:
        return list(db.iterdump())


def test_every_change_is_in_the_audit_trail(place: Place, console: Console) -> None:
    console.write()
    place.bring(console.url)
    console.change("sys_user", 3, status=0, nickname="New")
    place.bring(console.url)
    place.bring(console.url)
    with closing(sqlite3.connect(place.data / "accounts.db")) as db, db:
        told = db.execute("SELECT event, user FROM audit_events WHERE address = 'import' ORDER BY id").fetchall()
    assert told == [
        ("department.added", None), ("department.added", None), ("department.changed", None),
        ("role.added", None), ("role.added", None), ("role.changed", None),
        ("user.deleted", 1), ("user.added", 1), ("user.added", 2), ("user.added", 3),
        ("user.disabled", 3), ("user.changed", 3),
    ]  # fmt: skip


def test_what_is_missing_is_named(place: Place, console: Console, tmp_path: Path) -> None:
    console.write()
    with closing(sqlite3.connect(tmp_path / "old.db")) as db, db:
        db.execute("DROP TABLE sys_role_menu")
        db.execute("ALTER TABLE sys_user DROP COLUMN status")
        db.execute("ALTER TABLE sys_user DROP COLUMN is_deleted")
    said = place.typed("import", "youlai", "--from", console.url).refused()
    assert said == (
        "gatehouse: the source has no column sys_user.status, no column sys_user.is_deleted or deleted,"
        " no table sys_role_menu\n"
    )


@pytest.mark.parametrize(
    ("url", "code", "says"),
    [
        ("sqlite:///no/such/file.db", 3, "there is no file no/such/file.db"),
        ("oracle://user@host/name", 2, "not 'oracle'"),
        ("nonsense", 2, "expected a URL"),
        ("mysql://user:very-secret@127.0.0.1:1/name", 3, "cannot read mysql"),
    ],
)
def test_a_source_that_cannot_be_read_is_told_in_one_line(place: Place, url: str, code: int, says: str) -> None:
    said = place.typed("import", "youlai", "--from", url).refused(code)
    assert says in said
    assert "very-secret" not in said


def test_the_address_may_come_out_of_sight(place: Place, console: Console) -> None:
    console.write()
    outcome = place.typed("import", "youlai", "--from", "-", "--json", stdin=f"{console.url}\n")
    assert place.told(outcome)["users"]["added"] == 3


def test_a_person_reads_a_summary(place: Place, console: Console) -> None:
    console.user(11, "ROOT", 3)
    console.write()
    outcome = place.typed("import", "youlai", "--from", console.url)
    assert outcome.code == 1
    lines = [" ".join(line.split()) for line in outcome.out.splitlines()]
    assert "users 3 0 0" in lines
    assert "The administrator of the first start, admin (id 1), was replaced." in lines
    assert lines[-2].startswith("Refused: sys_user 11 'ROOT': the name 'ROOT' is that of sys_user 1 'root'")
    assert lines[-1] == "Done."


def test_hashes_that_cost_too_much_are_refused(place: Place, console: Console) -> None:
    """A check at bcrypt 31 takes days of a core: one such row, and one login, and a hash thread is gone."""
    salted = "abcdefghijklmnopqrstuu" + "x" * 31
    argon2id = "$argon2id$v=19$m={},t={},p=1$c29tZXNhbHRzb21lc2FsdA$aGFzaGhhc2hoYXNoaGFzaA"
    hashes = {
        "fine": f"$2a$14${salted}",
        "dear": f"$2a$15${salted}",
        "dearest": f"$2a$31${salted}",
        "nonsense": f"$2a$99${salted}",
        "large": argon2id.format(4 * 1024 * 1024, 2),
        "long": argon2id.format(65_536, 1000),
        "usual": argon2id.format(65_536, 3),
    }
    for number, (name, hashed) in enumerate(hashes.items(), start=10):
        console.user(number, name, 3, password=hashed)
    console.write()
    refused = remarks(place.bring(console.url), "refused")
    costs = "the password's hash costs too much to check at every login"
    assert sorted(refused.values()) == sorted([costs] * 4 + [REASON["hash"]])
    assert place.people().keys() & hashes.keys() == {"fine", "usual"}
