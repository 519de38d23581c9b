"""Reads accounts from JSON Lines, CSV or the console's sheet of users.

Lines are read twice: departments and roles first, so they may be in any order.
"""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from msgspec import UNSET

from gatehouse.auth.oauth.standard_claims import claims_text
from gatehouse.management import accepted_values
from gatehouse.management.menus import complete_menu
from gatehouse.stores.database.menus import Menu, MenuType
from gatehouse.stores.database.users import UserChange
from gatehouse.transfer.file_format import (
    COLUMNS,
    DepartmentLine,
    FactorLine,
    FileFormat,
    Line,
    MenuLine,
    RoleLine,
    UserLine,
    format_of,
)
from gatehouse.transfer.formula_quoting import unquote
from gatehouse.transfer.import_rows import (
    BATCH,
    Remark,
    SourceDepartment,
    SourceFactors,
    SourceMenu,
    SourceRole,
    SourceUser,
)
from gatehouse.transfer.user_sheet_reader import is_header, read_user_sheet
from gatehouse.transfer.xlsx import SheetInvalid

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
    from pathlib import Path

Key = TypeVar("Key")
Row = TypeVar("Row")

# An empty cell of these columns means an empty value; of all others, that the value is left out.
_MAY_BE_EMPTY = {"avatar", "roles", "mobile", "email"}


class UserFile:
    """The `Source` protocol over a file."""

    source_roles = None
    skipped = 0

    def __init__(self, path: Path, file_format: FileFormat | None = None) -> None:
        file_format = file_format or format_of(path)
        self._lines = _from_csv if file_format is FileFormat.CSV else _from_jsonl
        self._path = path
        self._sheet: list[SourceUser] | None = None
        self._departments: dict[int, SourceDepartment] = {}
        self._roles: dict[str, SourceRole] = {}
        self._menus: dict[int, SourceMenu] = {}
        self._assigned: dict[str, frozenset[int]] = {}
        self._users = 0
        self.refused: list[Remark] = []
        self.adapted: list[Remark] = []
        if file_format is FileFormat.XLSX or (file_format is FileFormat.CSV and _is_sheet(path)):
            self._sheet = self._read_sheet()
        self._read_all_but_users()

    def _read_sheet(self) -> list[SourceUser]:
        try:
            rows, formulas = read_user_sheet(self._path.read_bytes())
        except SheetInvalid as problem:
            raise ValueError(f"{self._path.name}: {problem}") from None
        self.refused += [refusal.remark for refusal in formulas]
        return rows

    def _read_all_but_users(self) -> None:
        for origin, line in self._read():
            try:
                match line:
                    case Remark():
                        self.refused.append(line)
                    case UserLine() | SourceUser():
                        self._users += 1
                    case DepartmentLine():
                        _add_once(self._departments, line.id, _department(origin, line))
                    case RoleLine():
                        _add_once(self._roles, line.code, _role(origin, line))
                        if line.menus is not UNSET:
                            self._assigned[line.code] = frozenset(line.menus)
                    case MenuLine():
                        _add_once(self._menus, line.id, _menu(origin, line))
            except ValueError as problem:
                self.refused.append(Remark(origin, str(problem)))

    async def departments(self) -> Sequence[SourceDepartment]:
        return list(self._departments.values())

    async def roles(self) -> Sequence[SourceRole]:
        return list(self._roles.values())

    async def menus(self) -> tuple[Sequence[SourceMenu], Mapping[str, frozenset[int]]]:
        return list(self._menus.values()), self._assigned

    async def factors(self) -> AsyncIterator[SourceFactors]:
        for origin, line in self._read():
            if isinstance(line, FactorLine):
                yield SourceFactors(origin, line)

    async def count(self) -> int:
        return self._users

    async def users(self) -> AsyncIterator[tuple[int, Sequence[SourceUser]]]:
        batch: list[SourceUser] = []
        for origin, line in self._read():
            if isinstance(line, UserLine | SourceUser):
                batch.append(_user(origin, line) if isinstance(line, UserLine) else line)
            if len(batch) == BATCH:
                yield len(batch), batch
                batch = []
        if batch:
            yield len(batch), batch

    def _read(self) -> Iterator[tuple[str, SourceUser | Line | Remark]]:
        """Every line, or why it cannot be read."""
        if self._sheet is not None:
            yield from ((row.origin, row) for row in self._sheet)
            return
        for number, read in self._lines(self._path):
            origin = f"line {number}"
            if isinstance(read, dict):
                try:
                    yield origin, _line(read)
                except (msgspec.ValidationError, ValueError) as problem:
                    yield origin, Remark(origin, str(problem))
            else:
                yield origin, Remark(origin, read)


def _from_jsonl(path: Path) -> Iterator[tuple[int, dict[str, Any] | str]]:
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                value = msgspec.json.decode(line.removeprefix(b"\xef\xbb\xbf"))
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                yield number, "not JSON"
                continue
            yield number, value if isinstance(value, dict) else "not a JSON object"


def _is_sheet(path: Path) -> bool:
    """Whether a CSV file has the columns of the console's template, and not those of an export."""
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        return is_header(next(csv.reader([file.readline()]), []))


def _from_csv(path: Path) -> Iterator[tuple[int, dict[str, Any] | str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file, strict=True)
        unknown = set(reader.fieldnames or ()) - set(COLUMNS)
        if unknown or "username" not in (reader.fieldnames or ()):
            wrong = f"there is no column {min(unknown)!r}" if unknown else "the column 'username' is missing"
            raise ValueError(f"{path.name}: {wrong}; columns are {', '.join(COLUMNS)}")
        try:
            for row in reader:
                uneven = None in row or None in row.values()
                yield reader.line_num, "more or fewer cells than columns" if uneven else _non_empty(row)
        except csv.Error as problem:
            raise ValueError(f"{path.name}, line {reader.line_num}: {problem}") from None


def _non_empty(row: dict[str, str]) -> dict[str, Any]:
    """The cells that have a value. msgspec converts their text to numbers and switches."""
    fields: dict[str, Any] = {name: unquote(cell) for name, cell in row.items() if cell or name in _MAY_BE_EMPTY}
    if "roles" in fields:
        fields["roles"] = fields["roles"].split()
    return fields


def _line(value: dict[str, Any]) -> Line:
    kinds: dict[str, type[Line]] = {
        "department": DepartmentLine,
        "role": RoleLine,
        "menu": MenuLine,
        "user": UserLine,
        "factor": FactorLine,
    }
    kind = kinds.get(str(value.get("type", "user")))
    if kind is None:
        raise ValueError("the type is none of department, role, menu, user, factor")
    # Not strict: a CSV cell is text, whatever it means.
    return msgspec.convert({"type": "user"} | value, kind, strict=False)


def _add_once(known: dict[Key, Row], key: Key, row: Row) -> None:
    if key in known:
        raise ValueError(f"{key!r} is there twice")
    known[key] = row


def _department(origin: str, line: DepartmentLine) -> SourceDepartment:
    accepted_values.check_department_name(line.name)
    if not 0 < line.id < 2**63:
        raise ValueError(f"{line.id} is not an id")
    if line.sort is not UNSET:
        accepted_values.check_sort(line.sort)
    if line.code is not UNSET:
        accepted_values.check_department_code(line.code)
    return SourceDepartment(origin, line.id, line.name, line.parent, line.code, line.sort, line.enabled)


def _role(origin: str, line: RoleLine) -> SourceRole:
    accepted_values.check_role_code(line.code)
    accepted_values.check_role_name(line.name)
    for perm in line.perms:
        accepted_values.check_perm(perm)
    if line.sort is not UNSET:
        accepted_values.check_sort(line.sort)
    if line.data_scope is not UNSET:
        accepted_values.check_data_scope(line.data_scope)
    chosen = None if line.depts is UNSET else tuple(sorted(set(line.depts)))
    perms = tuple(dict.fromkeys(line.perms))
    return SourceRole(origin, line.code, line.name, line.enabled, perms, line.sort, line.data_scope, chosen)


def _menu(origin: str, line: MenuLine) -> SourceMenu:
    if not 0 < line.id < 2**53:
        raise ValueError(f"{line.id} is not an id")
    columns = msgspec.structs.asdict(line)
    return SourceMenu(origin, complete_menu(Menu(type=MenuType(columns.pop("kind")), **columns)))


def _user(origin: str, line: UserLine) -> SourceUser:
    return SourceUser(
        origin=f"{origin} {line.username!r}",
        id=None if line.id is UNSET else line.id,
        username=line.username,
        values=UserChange(
            nickname=line.nickname,
            avatar=line.avatar,
            department=line.dept_id,
            password_hash=line.password_hash,
            enabled=line.enabled,
            captcha_exempt=line.captcha_exempt,
            gender=line.gender,
            mobile=line.mobile,
            email=line.email,
            claims=UNSET if line.claims is UNSET else claims_text(line.claims),
        ),
        created=None if line.created is UNSET else line.created,
        roles=None if line.roles is UNSET else tuple(dict.fromkeys(line.roles)),
    )
