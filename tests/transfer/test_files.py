"""Files: what `gatehouse export` writes, `gatehouse import users` reads, and nothing is lost or added on the way."""

from __future__ import annotations

import csv
import json
import stat
from pathlib import Path
from typing import Any

import pytest

from gatehouse.transfer.xlsx import write_sheet
from tests.support.conversation import login
from tests.transfer.conftest import Place
from tests.transfer.console import OLD_PASSWORD, sample_console


@pytest.fixture
def lived_in(place: Place, sqlite_url: str) -> Place:
    """A service with people of every kind."""
    console = sample_console(sqlite_url)
    console.department(9, 'A, "quoted" name', 2)
    console.role(4, "PAUSED", 11, status=0)
    console.user(10, "王小明", 3, 4, nickname='Comma, "quote" and 🐟', dept_id=9)
    console.user(11, "disabled", status=0)
    console.write()
    place.bring(sqlite_url)
    place.typed("user", "edit", "test", "--captcha-exempt", "--gender", "female", "--email", "t@example.com").done()
    place.typed("role", "edit", "PAUSED", "--data-scope", "chosen", "--dept", "9", "--sort", "5").done()
    return place


def written(place: Place, name: str, *options: str) -> Path:
    file = place.data.parent / name
    place.typed("export", str(file), *options).done()
    return file


def brought(place: Place, file: Path, *options: str) -> dict[str, Any]:
    return place.told(place.typed("import", "users", str(file), "--json", *options))


def lines(path: Path, *rows: dict[str, Any] | str) -> Path:
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


def test_json_lines_take_everything_to_another_service(lived_in: Place, tmp_path: Path) -> None:
    lived_in.typed("user", "edit", "test", "--claim", "family_name=测试", "--claim", "address.country=CN").done()
    file = written(lived_in, "all.jsonl", "--with-hashes")
    other = Place(tmp_path / "other")
    told = brought(other, file)
    assert (told["refused"], told["adapted"], told["madeWay"]) == ([], [], "admin (id 1)")
    assert told["users"] == {"added": 5, "changed": 0, "unchanged": 0}
    assert written(other, "again.jsonl", "--with-hashes").read_bytes() == file.read_bytes()
    assert brought(other, file)["users"] == {"added": 0, "changed": 0, "unchanged": 5}
    with other.serving() as client:
        assert login(client, username="王小明", password=OLD_PASSWORD)


def test_csv_takes_the_users_where_roles_and_departments_are(lived_in: Place, tmp_path: Path) -> None:
    everything = written(lived_in, "all.jsonl")
    file = written(lived_in, "all.csv", "--with-hashes")
    other = Place(tmp_path / "other")
    furniture = [line for line in everything.read_text().splitlines() if json.loads(line)["type"] != "user"]
    brought(other, lines(tmp_path / "furniture.jsonl", *furniture))
    assert brought(other, file)["users"] == {"added": 5, "changed": 0, "unchanged": 0}
    assert written(other, "again.csv", "--with-hashes").read_bytes() == file.read_bytes()
    assert other.people() == lived_in.people()


def test_hashes_leave_only_if_asked_for_and_files_are_private(lived_in: Place) -> None:
    for name in ("plain.jsonl", "plain.csv"):
        file = written(lived_in, name)
        assert "$2" not in file.read_text()
        assert "$argon2" not in file.read_text()
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with_hashes = written(lived_in, "full.csv", "--with-hashes")
    assert "$2a$" in with_hashes.read_text()
    assert stat.S_IMODE(with_hashes.stat().st_mode) == 0o600
    assert [path.name for path in with_hashes.parent.glob("*.part")] == []


def test_an_export_without_hashes_changes_no_password(lived_in: Place) -> None:
    before = lived_in.people()
    file = written(lived_in, "plain.csv")
    assert brought(lived_in, file)["users"] == {"added": 0, "changed": 0, "unchanged": 5}
    assert lived_in.people() == before


def test_a_file_without_hashes_does_not_lock_the_first_administrator_out(lived_in: Place, tmp_path: Path) -> None:
    file = written(lived_in, "plain.jsonl")
    other = Place(tmp_path / "other")
    told = brought(other, file)
    assert told["madeWay"] is None
    assert {remark["place"].split(" ", 2)[2] for remark in told["refused"]} == {"'root'", "'admin'"}
    with other.serving() as client:
        assert login(client)


def test_a_short_list_is_enough(place: Place, tmp_path: Path) -> None:
    place.typed("role", "add", "EDITOR").done()
    file = tmp_path / "new.csv"
    file.write_text("username,roles\nada,EDITOR\ngrace,EDITOR ADMIN\n")
    assert brought(place, file)["users"] == {"added": 2, "changed": 0, "unchanged": 0}
    people = place.people()
    assert (people["ada"]["nickname"], people["ada"]["roles"], people["ada"]["enabled"]) == ("ada", ["EDITOR"], True)
    assert people["grace"]["roles"] == ["ADMIN", "EDITOR"]
    assert brought(place, file)["users"] == {"added": 0, "changed": 0, "unchanged": 2}
    # Nothing was said of a password, so none works until one is set.
    place.typed("user", "password", "ada", "--password-stdin", stdin="a passphrase of hers\n").done()
    with place.serving() as client:
        assert login(client, username="ada", password="a passphrase of hers")
        refused = client.post(
            "/api/v1/auth/login",
            json={"username": "grace", "password": "", "captchaId": "x", "captchaCode": "x"},
        )
        assert refused.status_code == 400


def test_what_a_line_does_not_say_stays(lived_in: Place, tmp_path: Path) -> None:
    before = lived_in.people()["test"]
    told = brought(lived_in, lines(tmp_path / "one.jsonl", {"username": "test", "nickname": "New"}))
    assert told["users"] == {"added": 0, "changed": 1, "unchanged": 0}
    assert lived_in.people()["test"] == before | {"nickname": "New"}


def test_lines_that_cannot_be_used_are_named_and_the_others_come(place: Place, tmp_path: Path) -> None:
    file = lines(
        tmp_path / "mixed.jsonl",
        {"username": "good"},
        "{not json",
        "[]",
        {"username": "typo", "nick": "x"},
        {"nickname": "nameless"},
        {"username": "wrong", "id": "many"},
        {"username": "unknown", "roles": ["NO_SUCH_ROLE"]},
        {"type": "planet", "name": "Mars"},
        {"username": "GOOD"},
        {"username": "plain", "passwordHash": "123456"},
        {"type": "role", "code": "R", "name": "R", "enabled": True, "perms": ["nonsense"]},
        {"username": "late", "created": -1},
        "",
        {"username": "fine"},
    )
    told = brought(place, file)
    reasons = {remark["place"]: remark["text"] for remark in told["refused"]}
    assert list(reasons) == [
        "line 2", "line 3", "line 4", "line 5", "line 6", "line 8", "line 11",
        "line 7 'unknown'", "line 9 'GOOD'", "line 10 'plain'", "line 12 'late'",
    ]  # fmt: skip
    assert reasons["line 2"] == "not JSON"
    assert "nick" in reasons["line 4"]
    assert reasons["line 7 'unknown'"] == "there is no role 'NO_SUCH_ROLE'"
    assert "line 1 'good'" in reasons["line 9 'GOOD'"]
    assert told["users"]["added"] == 2
    assert {"good", "fine"} <= place.people().keys()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("name\nada\n", "there is no column 'name'"),
        ("nickname\nAda\n", "the column 'username' is missing"),
        ("", "the column 'username' is missing"),
        ('username\n"ada', "unexpected end of data"),
        (b"username\n\xff\n", "utf-8"),
    ],
    ids=["unknown", "missing", "empty", "quote", "bytes"],
)
def test_a_file_of_another_kind_is_told_in_one_line(
    place: Place, tmp_path: Path, content: str | bytes, says: str
) -> None:
    file = tmp_path / "file.csv"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert says in place.typed("import", "users", str(file)).refused()


def test_csv_from_a_spreadsheet_is_read(place: Place, tmp_path: Path) -> None:
    """With a byte order mark, other line ends, and its own order of columns."""
    file = tmp_path / "sheet.csv"
    with file.open("w", encoding="utf-8-sig", newline="") as sheet:
        writer = csv.writer(sheet)
        writer.writerow(["nickname", "username", "enabled"])
        writer.writerow(["小明", "xiaoming", "false"])
        writer.writerow(["short row", "x"])
    told = brought(place, file)
    assert [remark["text"] for remark in told["refused"]] == ["more or fewer cells than columns"]
    who = place.people()["xiaoming"]
    assert (who["nickname"], who["enabled"]) == ("小明", False)


@pytest.mark.parametrize("name", ["people.xlsx", "people.csv"])
def test_the_sheet_of_the_console_is_read_like_any_other_file(place: Place, tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    rows = [
        ["Username", "Nickname", "Gender", "Mobile", "Email", "Department", "Roles"],
        ["ada", "Ada", "female", "call me", "", "Headquarters", "Administrator"],
        ["bob", "", "", "", "", "Nowhere", ""],
        ["cyd", "", "", "", "", "", "NOROLE"],
        ["admin", "Chief", "", "", "", "", ""],
    ]
    if name.endswith("xlsx"):
        file.write_bytes(write_sheet("users", rows))
    else:
        file.write_text("".join(f"{','.join(row)}\n" for row in rows))
    told = brought(place, file)
    assert (told["users"]["added"], told["users"]["changed"]) == (2, 1)
    assert told["refused"] == [{"place": "row 4 'cyd'", "text": "there is no role 'NOROLE'"}]
    assert [remark["place"] for remark in told["adapted"]] == ["row 2 'ada'", "row 3 'bob'"]
    people = place.people()
    assert (people["ada"]["nickname"], people["ada"]["roles"], people["bob"]["deptId"]) == ("Ada", ["ADMIN"], 1)
    assert people["admin"]["nickname"] == "Chief"


def test_nothing_is_overwritten_by_an_export(place: Place, tmp_path: Path) -> None:
    file = lines(tmp_path / "mine.csv", "precious")
    assert "exists already" in place.typed("export", str(file)).refused()
    assert file.read_text() == "precious\n"
    assert "expected a name that ends in" in place.typed("export", str(tmp_path / "mine.txt")).refused()


def test_the_name_need_not_say_the_format(place: Place, tmp_path: Path) -> None:
    file = tmp_path / "people"
    place.typed("export", str(file), "--format", "csv").done()
    assert file.read_text().startswith("id,username,")
    assert place.told(place.typed("import", "users", str(file), "--format", "csv", "--json"))["users"]["unchanged"] == 1


def test_a_spreadsheet_runs_nothing_from_an_export(lived_in: Place, tmp_path: Path) -> None:
    formulas = {"eve": '=HYPERLINK("http://evil.example","x")', "@cmd": "+1", "-mallory": "'=1"}
    rows = [{"username": name, "nickname": nickname} for name, nickname in formulas.items()]
    brought(lived_in, lines(tmp_path / "formulas.jsonl", *rows))
    file = written(lived_in, "people.csv")
    with file.open(newline="") as text:
        cells = [cell for row in csv.reader(text) for cell in row]
    assert not [cell for cell in cells if cell[:1] in set("=+-@")]
    assert brought(lived_in, file)["users"]["changed"] == 0, "read back as it was"
