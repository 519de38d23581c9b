"""Users as spreadsheets: template, import with its report, export; and files that mean no good."""

from __future__ import annotations

import asyncio
import io
import tracemalloc
import zipfile
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from openpyxl import Workbook, load_workbook

from gatehouse.api.console import user_import_and_export
from gatehouse.stores.database.users import NewUser
from gatehouse.transfer import xlsx_subprocess as xlsx_process
from gatehouse.transfer.user_sheet_reader import read_user_sheet
from gatehouse.transfer.xlsx import ROWS_MAX, UNCOMPRESSED_MAX, SheetInvalid, read_sheet, write_sheet
from tests.api.console.conftest import HASH, Console
from tests.api.console.test_users import id_of
from tests.support.inprocess import Answer, InProcess

HEADER = ["Username", "Nickname", "Gender", "Mobile", "Email", "Department", "Roles"]
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


def sheet(*rows: Sequence[Any], header: list[str] = HEADER) -> bytes:
    book = Workbook()
    assert book.active is not None
    for row in (header, *rows):
        book.active.append(list(row))
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def upload(console: Console, content: bytes, field: str = "file", language: str = "en", **query: str) -> Answer:
    return console.gatehouse.run(send(console, content, field, language, **query))


async def send(console: Console, content: bytes, field: str = "file", language: str = "en", **query: str) -> Answer:
    boundary = "----boundary"
    body = (
        (
            f'--{boundary}\r\nContent-Disposition: form-data; name="{field}"; filename="users.xlsx"\r\n'
            f"Content-Type: {XLSX}\r\n\r\n"
        ).encode()
        + content
        + f"\r\n--{boundary}--\r\n".encode()
    )
    headers = {"content-type": f"multipart/form-data; boundary={boundary}", "accept-language": language}
    return await console.gatehouse.send(
        "POST", "/api/v1/users/import", content=body, headers=headers, token=console.token, query=query
    )


def cells(answer: Answer) -> list[list[Any]]:
    assert answer.status == 200
    assert answer.headers["content-type"] == XLSX
    book = load_workbook(io.BytesIO(answer.content))
    assert book.active is not None
    return [[cell.value for cell in row] for row in book.active.iter_rows()]


def test_the_template_comes_back_filled_in(console: Console) -> None:
    answer = console.call("GET", "users/template")
    assert cells(answer) == [HEADER]
    assert answer.headers["content-disposition"] == "attachment; filename=users-template.xlsx"
    chinese = console.gatehouse.request(
        "GET", "/api/v1/users/template", token=console.token, headers={"accept-language": "zh"}
    )
    assert cells(chinese)[0][0] == "用户名"
    rows: list[list[Any]] = [
        ["ann", "Ann", "女", 13800138000, "ann@example.com", "Headquarters", "ADMIN"],
        ["bob", None, "male"],
    ]
    report = upload(console, sheet(*rows, header=[str(name) for name in cells(chinese)[0]])).data
    assert report == {"code": "00000", "validCount": 2, "invalidCount": 0, "messageList": [], "users": []}
    [bob, ann] = console.get("users")["list"][:2]
    assert (ann["gender"], ann["mobile"], ann["roleNames"], ann["deptName"]) == (
        2, "13800138000", "Administrator", "Headquarters",
    )  # fmt: skip
    assert (bob["nickname"], bob["gender"], bob["roleNames"]) == ("bob", 1, "")
    assert console.gatehouse.login("ann", "").status == 400


def test_rows_that_cannot_be_taken_are_told_and_the_others_come(console: Console) -> None:
    rows: list[list[object]] = [
        ["ann", "Ann", "", "", "", "", ""],
        ["Admin"],
        ["ANN"],
        [None, "nameless"],
        ["bob", "Bob", "other"],
        ["bob", "Bob", "", "call me"],
        ["bob", "Bob", "", "", "", "Nowhere"],
        ["bob", "Bob", "", "", "", "", "NOROLE"],
        ["bob", '=HYPERLINK("http://example.com")'],
        [],
        ["cyd", "Cyd", "0", "", "", "1", "ADMIN, Administrator"],
    ]
    report = upload(console, sheet(*rows)).data
    assert (report["code"], report["validCount"], report["invalidCount"]) == ("00000", 2, 8)
    assert report["messageList"] == [
        "row 3: there is a user Admin already",
        "row 4: ANN is in the sheet twice",
        "row 5: the username is missing",
        "row 6: gender is not valid",
        "row 7: mobile is not valid",
        "row 8: there is no one department Nowhere",
        "row 9: there is no one role NOROLE",
        "row 10: formulas are not taken",
    ]
    assert console.get("users")["total"] == 3
    again = upload(console, sheet(*rows), language="zh").data
    assert "第 2 行：用户名 ann 已存在" in again["messageList"]


def test_the_template_may_be_saved_as_csv(console: Console) -> None:
    rows = [",".join(HEADER), 'ann,"Lee, Ann",2,,,Headquarters,"ADMIN, Administrator"', "bob", "admin"]
    report = upload(console, "\r\n".join(rows).encode("utf-8-sig")).data
    assert (report["validCount"], report["messageList"]) == (2, ["row 4: there is a user admin already"])
    [bob, ann] = console.get("users")["list"][:2]
    assert (ann["nickname"], ann["gender"], ann["roleNames"], bob["nickname"]) == (
        "Lee, Ann",
        2,
        "Administrator",
        "bob",
    )


def test_a_preview_tells_the_same_and_adds_nobody(console: Console) -> None:
    content = sheet(["ann", "Ann", "", "", "", "", "ADMIN"], ["admin", "", "", "", "", "", ""])
    told = upload(console, content, preview="true").data
    assert told["users"] == [
        {"username": "ann", "nickname": "Ann", "department": "Headquarters", "roles": ["Administrator"]}
    ]
    assert (told["validCount"], told["messageList"]) == (1, ["row 3: there is a user admin already"])
    assert console.get("users")["total"] == 1
    done = upload(console, content).data
    assert done == told | {"users": []}
    assert console.get("users")["total"] == 2


def test_an_import_hands_out_no_more_than_the_caller_holds(console: Console, user: Callable[..., Console]) -> None:
    clerk = user("clerk", "sys:user:import")
    report = upload(clerk, sheet(["ann", "", "", "", "", "", "ADMIN"], ["bob", "", "", "", "", "", "CLERK"])).data
    assert (report["validCount"], report["messageList"]) == (1, ["row 2: you cannot grant the role ADMIN"])


@pytest.mark.parametrize(("change", "code"), [("disabled", "A0230"), ("perm taken", "A0301")])
def test_whoever_loses_the_right_while_the_sheet_waits_adds_nobody(
    console: Console,
    user: Callable[..., Console],
    gatehouse: InProcess,
    monkeypatch: pytest.MonkeyPatch,
    change: str,
    code: str,
) -> None:
    clerk, accounts = user("clerk", "sys:user:import"), gatehouse.accounts
    read = read_user_sheet
    [role] = gatehouse.run(accounts.user("clerk")).roles

    def slow_read(content: bytes) -> Any:
        work = accounts.disable_user("clerk") if change == "disabled" else accounts.deny(role, ["sys:user:import"])
        asyncio.run_coroutine_threadsafe(work, gatehouse.loop).result()
        return read(content)

    monkeypatch.setattr(user_import_and_export, "read_user_sheet", slow_read)
    assert upload(clerk, sheet(["ann", "Ann", "", "", "", "", ""])).code == code
    assert console.get("users", pageNum=1, pageSize=10, keywords="ann")["total"] == 0


def test_an_export_is_recorded_with_who_took_it(console: Console, gatehouse: InProcess) -> None:
    assert console.call("GET", "users/export").status == 200
    gatehouse.run(gatehouse.service.audit.stop())
    [event] = gatehouse.run(gatehouse.service.stores.audit_trail.read(newest=5, events=["users.exported"]))
    assert (event.actor, event.detail) == (1, '{"users":1}')


def test_older_consoles_name_the_department_in_the_query(console: Console) -> None:
    console.done("POST", "depts", {"name": "North", "parentId": "1"})
    north = console.get("depts/options")[0]["children"][0]["value"]
    assert upload(console, sheet(["ann"]), deptId=north).data["validCount"] == 1
    assert console.get(f"users/{id_of(console, 'ann')}/form")["deptId"] == north
    assert upload(console, sheet(["bob"]), deptId="999").code == "C0113"


def test_an_export_holds_what_the_search_finds_and_executes_nothing(console: Console, gatehouse: InProcess) -> None:
    accounts = gatehouse.accounts
    gatehouse.run(accounts.add_user(NewUser("ann", "=1+1", HASH, 1, 0, mobile="+86 138", email="a@b"), ["ADMIN"]))
    gatehouse.run(accounts.add_user(NewUser("bob", "@SUM(A1)", HASH, 1, 0, enabled=False)))
    answer = console.call("GET", "users/export", pageNum="1", pageSize="1")
    assert answer.headers["content-disposition"] == "attachment; filename=users.xlsx"
    rows = cells(answer)
    assert rows[0] == [*HEADER, "Status", "Created"]
    assert [row[0] for row in rows[1:]] == ["admin", "ann", "bob"]
    assert rows[2][1:8] == ["'=1+1", "unknown", "'+86 138", "a@b", "Headquarters", "Administrator", "enabled"]
    assert (rows[3][1], rows[3][7]) == ("'@SUM(A1)", "disabled")
    kinds = {cell.data_type for row in load_workbook(io.BytesIO(answer.content)).worksheets[0].rows for cell in row}
    assert "f" not in kinds
    assert [row[0] for row in cells(console.call("GET", "users/export", keywords="nn"))[1:]] == ["ann"]
    assert HASH.encode() not in answer.content


def test_what_was_exported_reads_back_as_it_was() -> None:
    texts = ["=1+1", "+86 138", "plain", "'quoted", "-", "'=x"]
    [header, row] = read_sheet(write_sheet("x", [["a\x00b"] * 6, texts]), 6)
    assert (header, row) == (["a b"] * 6, texts)


def bomb() -> bytes:
    """A kilobyte that says it unfolds to more than anybody needs."""
    content = io.BytesIO(sheet(["ann"]))
    with zipfile.ZipFile(content, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/media/zeros.bin", b"\0" * (UNCOMPRESSED_MAX + 1))
    return content.getvalue()


def changed(change: Callable[[bytes], bytes], part: str = "sheet1.xml") -> bytes:
    """A sheet with one of its parts changed."""
    content, source = io.BytesIO(), zipfile.ZipFile(io.BytesIO(sheet(["ann"])))
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in source.namelist():
            data = source.read(name)
            archive.writestr(name, change(data) if name.endswith(part) else data)
    return content.getvalue()


ENTITIES = b'<!DOCTYPE x [<!ENTITY a "lol"><!ENTITY b "&a;&a;">]>'


def with_entities(before: bytes = b"", encoding: str = "utf-8") -> bytes:
    declaration = f'<?xml version="1.0" encoding="{encoding}"?>'.encode()
    return changed(lambda data: (declaration + before + ENTITIES + data.rpartition(b"?>")[2]).decode().encode(encoding))


def with_many(tag: bytes, parent: bytes, part: str) -> bytes:
    """A few kilobytes that become millions of objects."""
    return changed(lambda data: data.replace(b"</" + parent, tag * 3_000_000 + b"</" + parent), part)


@pytest.mark.parametrize(
    "content",
    [
        b"not a sheet",
        b"Username,Nickname\nann,Ann\n",
        b"Username,Nickname,Gender,Mobile,Email,Department,Roles" + b"\nann" * (ROWS_MAX + 1),
        b"\xff\xfe\x00",
        b"PK\x03\x04 nearly",
        bomb(),
        with_entities(),
        with_entities(before=b"<!--" + b" " * 5000 + b"-->"),
        with_entities(encoding="utf-16"),
        with_entities(encoding="utf-16-le"),
        with_many(b"<c/>", b"row>", "sheet1.xml"),
        with_many(b"<font/>", b"fonts>", "styles.xml"),
        sheet(["ann"], header=["Name"]),
        sheet(header=[]),
    ],
    ids=[
        "text",
        "other columns",
        "too many lines",
        "bytes",
        "broken",
        "bomb",
        "entities",
        "entities far down",
        "entities in another encoding",
        "entities without a mark",
        "many cells",
        "many fonts",
        "other header",
        "empty",
    ],
)
def test_files_that_are_no_template_are_refused(console: Console, content: bytes) -> None:
    answer = upload(console, content)
    assert (answer.status, answer.code) == (400, "A0421"), answer.content
    assert "file" in answer.json["msg"]
    assert console.get("users")["total"] == 1


@pytest.mark.parametrize(
    "kind",
    [
        zipfile.ZIP_DEFLATED,
        pytest.param(zipfile.ZIP_BZIP2, marks=pytest.mark.full),
        pytest.param(zipfile.ZIP_LZMA, marks=pytest.mark.full),
    ],
)
def test_a_part_that_is_larger_than_its_header_says_takes_no_memory(kind: int) -> None:
    content = io.BytesIO(sheet(["ann"]))
    with zipfile.ZipFile(content, "a", kind) as archive:
        archive.writestr("xl/media/zeros.bin", b"\0" * 200_000_000)
        archive.infolist()[-1].file_size = 1
    tracemalloc.start()
    with pytest.raises(SheetInvalid):
        read_sheet(content.getvalue(), 7)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20_000_000


@pytest.mark.full
def test_a_sheet_that_takes_for_ever_to_read_stops_nobody(console: Console, monkeypatch: pytest.MonkeyPatch) -> None:
    """The library looks at formats with an expression that takes the square of their length."""
    monkeypatch.setattr(xlsx_process, "SECONDS", 5)
    odd = b'<numFmts count="1"><numFmt numFmtId="164" formatCode="' + b"[" * 1_000_000 + b'"/></numFmts><fonts'
    content = changed(
        lambda data: data.replace(b"<fonts", odd, 1).replace(b'<xf numFmtId="0"', b'<xf numFmtId="164"'), "styles.xml"
    )
    answered = 0

    async def ask_meanwhile(upload: asyncio.Task[Answer]) -> Answer:
        nonlocal answered
        while not upload.done():
            answered += (await console.gatehouse.send("GET", "/api/v1/users/me", token=console.token)).status == 200
            await asyncio.sleep(0)
        return await upload

    async def both() -> Answer:
        return await ask_meanwhile(asyncio.create_task(send(console, content)))

    answer = console.gatehouse.run(both())
    assert (answer.status, answer.code) == (400, "A0421"), answer.content
    assert answered > 10


def test_what_is_too_large_or_no_form_is_refused(console: Console) -> None:
    assert upload(console, b"x" * (3 * 1024 * 1024)).status == 413
    assert upload(console, sheet(["ann"]), field="other").code == "A0410"
    assert upload(console, b"").code == "A0410"
    assert console.call("POST", "users/import", {"file": "x"}).status == 415
    rows = [[f"user{number}"] for number in range(ROWS_MAX + 1)]
    with pytest.raises(SheetInvalid, match="rows"):
        read_sheet(sheet(*rows), 7)
