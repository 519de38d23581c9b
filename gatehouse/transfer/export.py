"""Writes accounts to JSON Lines or CSV: whole or not at all, readable by the owner only."""

from __future__ import annotations

import csv
import io
import os
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, BinaryIO

import msgspec
from msgspec import UNSET

from gatehouse.auth.oauth.standard_claims import stored_claims
from gatehouse.stores.database.departments import Departments
from gatehouse.stores.database.factor_export import factor_copies
from gatehouse.stores.database.menus import Menus
from gatehouse.stores.database.roles import Roles
from gatehouse.stores.database.users import Users
from gatehouse.transfer.file_format import COLUMNS, DepartmentLine, FactorLine, FileFormat, MenuLine, RoleLine, UserLine
from gatehouse.transfer.formula_quoting import quote
from gatehouse.transfer.import_rows import BATCH

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from pathlib import Path

    from gatehouse.stores.database.sql_engine import Database
    from gatehouse.stores.database.users import Profile
    from gatehouse.transfer.file_format import Line


async def export(
    database: Database,
    path: Path,
    file_format: FileFormat,
    *,
    with_hashes: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """Returns how many users were written. The file appears under its name when it is complete."""
    users = Users(database)
    written, total = 0, await users.count()
    with _atomic_file(path) as file:
        async for line in _lines(database, users, file_format, with_hashes=with_hashes):
            _write(file, line, file_format)
            written += isinstance(line, UserLine)
            if progress and written % BATCH == 0:
                progress(written, total)
    if progress:
        progress(written, total)
    return written


@contextmanager
def _atomic_file(path: Path) -> Iterator[BinaryIO]:
    """A file that gets its name when everything is in it. One that is there already is left alone."""
    if path.exists():
        raise ValueError(f"{path} exists already")
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with os.fdopen(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.rename(path)
    finally:
        part.unlink(missing_ok=True)


async def _lines(
    database: Database, users: Users, file_format: FileFormat, *, with_hashes: bool
) -> AsyncIterator[Line | None]:
    if file_format is FileFormat.JSONL:
        for department in await Departments(database).all():
            yield DepartmentLine(
                department.id, department.name, department.parent, department.code, department.sort, department.enabled
            )
        menus = Menus(database)
        for menu in await menus.all():
            values = asdict(menu)
            yield MenuLine(kind=values.pop("type"), **values)
        given = await menus.by_role()
        for role in await Roles(database).all():
            shown = sorted(given.get(role.code, ()))
            yield RoleLine(
                code=role.code,
                name=role.name,
                enabled=role.enabled,
                perms=list(role.perms),
                menus=shown,
                sort=role.sort,
                data_scope=role.data_scope,
                depts=list(role.departments),
            )
    else:
        yield None  # the line with the names of the columns
    after = 0
    while page := await users.page(after=after, limit=BATCH):
        for profile in page:
            yield _user(profile, with_hashes=with_hashes)
        after = page[-1].user.id
    if with_hashes and file_format is FileFormat.JSONL:
        async for copy in factor_copies(database):
            yield FactorLine(*msgspec.structs.astuple(copy))


def _user(profile: Profile, *, with_hashes: bool) -> UserLine:
    user = profile.user
    return UserLine(
        id=user.id,
        username=user.username,
        nickname=user.nickname,
        avatar=user.avatar,
        dept_id=user.department,
        enabled=user.enabled,
        captcha_exempt=user.captcha_exempt,
        created=user.created,
        roles=list(profile.roles),
        password_hash=user.password_hash if with_hashes and user.password_hash else UNSET,
        gender=user.gender,
        mobile=user.mobile,
        email=user.email,
        claims=stored_claims(user.claims) or UNSET,
    )


def _write(file: BinaryIO, line: Line | None, file_format: FileFormat) -> None:
    if file_format is FileFormat.JSONL:
        file.write(msgspec.json.encode(line) + b"\n")
        return
    cells = list(COLUMNS) if line is None else _cells(line)
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    file.write(text.getvalue().encode())


def _cells(line: Line) -> list[str]:
    values = msgspec.to_builtins(line) | {"roles": " ".join(getattr(line, "roles", ()))}
    words = {True: "true", False: "false"}
    return [words[value] if isinstance(value := values.get(name, ""), bool) else quote(str(value)) for name in COLUMNS]
