"""Reads the sheet of users that the console gives out as a template: xlsx, or CSV with the same columns.

The texts of a sheet name departments and roles as people do; `import_plan.py` looks them up.
"""

from __future__ import annotations

import csv
import io
import re
from itertools import islice
from typing import TYPE_CHECKING

from msgspec import UNSET

from gatehouse.stores.database.users import UserChange
from gatehouse.transfer.formulas import unquote
from gatehouse.transfer.import_rows import Problem, Refusal, Remark, SourceUser
from gatehouse.transfer.xlsx import CELL_MAX, ROWS_MAX, Formula, SheetInvalid
from gatehouse.transfer.xlsx_process import read_sheet_apart

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gatehouse.transfer.xlsx import Cell

# The names of the columns, in English and in Chinese.
COLUMNS = (
    ("Username", "用户名"),
    ("Nickname", "昵称"),
    ("Gender", "性别"),
    ("Mobile", "手机号码"),
    ("Email", "邮箱"),
    ("Department", "部门"),
    ("Roles", "角色"),
)
GENDERS: Mapping[str, int] = {
    "0": 0, "unknown": 0, "未知": 0, "保密": 0,
    "1": 1, "male": 1, "男": 1,
    "2": 2, "female": 2, "女": 2,
}  # fmt: skip
_UNREADABLE_GENDER = -1
_COMMA = re.compile("[,\uff0c\u3001]")  # also the two that Chinese writes
_ZIP = b"PK"


def is_header(cells: Sequence[Cell]) -> bool:
    """Whether these are the columns of the template, in either language."""
    names = [str(cell).strip().casefold() for cell in cells]
    return names in [[column[language].casefold() for column in COLUMNS] for language in (0, 1)]


def read_user_sheet(content: bytes) -> tuple[list[SourceUser], list[Refusal]]:
    """The rows below the header, numbered as the spreadsheet program does; those with a formula apart.

    Blocks for as long as it takes to read.
    """
    cells = read_sheet_apart(content, len(COLUMNS)) if content.startswith(_ZIP) else _from_csv(content)
    if not cells or not is_header(cells[0]):
        raise SheetInvalid("its first row is not that of the template")
    rows, formulas = [], []
    for number, row in enumerate(cells[1:], 2):
        texts = [cell for cell in row if not isinstance(cell, Formula)]
        if len(texts) < len(row):
            remark = Remark(f"row {number}", "formulas are not taken")
            formulas.append(Refusal(number, Problem.FORMULA, "", remark))
        elif any(texts):
            rows.append(_user(number, texts))
    return rows, formulas


def _from_csv(content: bytes) -> list[list[Cell]]:
    try:
        lines = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True)
        rows = [row[: len(COLUMNS)] for row in islice(lines, ROWS_MAX + 2)]
    except (UnicodeDecodeError, csv.Error) as problem:
        raise SheetInvalid(f"not a spreadsheet: {type(problem).__name__}") from None
    if len(rows) > ROWS_MAX + 1:
        raise SheetInvalid(f"more than {ROWS_MAX} rows")
    return [[*(unquote(cell.strip()[:CELL_MAX]) for cell in row), *[""] * (len(COLUMNS) - len(row))] for row in rows]


def _user(number: int, texts: Sequence[str]) -> SourceUser:
    """Only what has a text; an empty cell says nothing."""
    username, nickname, gender, mobile, email, department, roles = texts
    named = tuple(part.strip() for part in _COMMA.split(roles) if part.strip())
    return SourceUser(
        origin=f"row {number} {username!r}",
        line=number,
        id=None,
        username=username,
        values=UserChange(
            nickname=nickname or UNSET,
            gender=GENDERS.get(gender.casefold(), _UNREADABLE_GENDER) if gender else UNSET,
            mobile=mobile or UNSET,
            email=email or UNSET,
        ),
        department_name=department,
        role_names=named,
    )
