"""Cells of CSV that a spreadsheet would run as a formula: quoted when written, restored when read.

An apostrophe in front makes a spreadsheet take the rest as text. A cell that has apostrophes before such a sign gets
one more, so that reading gives back exactly what was written.
"""

from __future__ import annotations

import re

# Half and full width: spreadsheets in East Asian languages take both. Tab and carriage return are skipped by some.
_FORMULA = re.compile(r"'*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]")


def quote(cell: str) -> str:
    return f"'{cell}" if _FORMULA.match(cell) else cell


def unquote(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell
