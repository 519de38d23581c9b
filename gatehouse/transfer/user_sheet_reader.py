"""Reads the sheet of users that the console gives out as a template: xlsx, or CSV with the same columns.

The texts of a sheet name departments and roles as people do; `import_plan.py` looks them up.
"""

from __future__ import annotations

import csv
import io
import re
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

from msgspec import UNSET

from gatehouse.messages import languages, section
from gatehouse.stores.database.users import UserChange
from gatehouse.transfer.formula_quoting import unquote
from gatehouse.transfer.import_rows import Problem, Refusal, Remark, SourceUser
from gatehouse.transfer.xlsx import CELL_MAX, ROWS_MAX, Formula, SheetInvalid
from gatehouse.transfer.xlsx_subprocess import read_sheet_apart

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gatehouse.transfer.xlsx import Cell

COLUMNS = ("username", "nickname", "gender", "mobile", "email", "department", "roles")
_UNREADABLE_GENDER = -1
_COMMA = re.compile("[,\uff0c\u3001]")  # also the two that Chinese writes
_ZIP = b"PK"


def header(columns: Sequence[str], language: str) -> list[str]:
    return [section("sheet_columns", language)[column] for column in columns]


def is_header(cells: Sequence[Cell]) -> bool:
    """Whether these are the columns of the template, in any language."""
    names = [str(cell).strip().casefold() for cell in cells]
    return names in [[name.casefold() for name in header(COLUMNS, language)] for language in languages()]


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


@cache
def _genders() -> Mapping[str, int]:
    """A gender is read as its number or as its name in any language."""
    sections = [section(name, language) for name in ("genders", "sheet_genders") for language in languages()]
    named = {text.casefold(): int(code) for genders in sections for code, text in genders.items()}
    return {"0": 0, "1": 1, "2": 2, **named}


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
            gender=_genders().get(gender.casefold(), _UNREADABLE_GENDER) if gender else UNSET,
            mobile=mobile or UNSET,
            email=email or UNSET,
        ),
        department_name=department,
        role_names=named,
    )
