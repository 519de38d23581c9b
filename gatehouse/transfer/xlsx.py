"""Spreadsheets (xlsx) in memory: uploads are bounded and never executed, and exports contain no formulas.

A formula in a sheet is refused where it is read. Text that a spreadsheet program could take for one is written with an
apostrophe before it, and that apostrophe is taken off again where such a text is read.
"""

from __future__ import annotations

import codecs
import io
import re
import zipfile
import zlib
from typing import TYPE_CHECKING, Any

from gatehouse.transfer.formula_quoting import quote, unquote

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# Compressed and uncompressed: a few kilobytes can expand to gigabytes.
FILE_MAX = 2 * 1024 * 1024
UNCOMPRESSED_MAX = 32 * 1024 * 1024
PARTS_MAX = 200
# Each becomes an object of hundreds of bytes: without this, 20 kB of file would take gigabytes and minutes.
TAGS_MAX = 300_000
ROWS_MAX = 2_000
CELL_MAX = 2_000

# XML 1.0 cannot represent these.
_UNWRITABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")

_ENCODING = re.compile(rb"""<\?xml[^>]*?encoding\s*=\s*["']([^"']*)""")
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, b"<\0", b"\0<")


class SheetInvalid(ValueError):
    """Not a spreadsheet, too large, or not to be trusted."""


class Formula:
    """The value of a cell that holds a formula."""


Cell = str | Formula


def write_sheet(title: str, rows: Iterable[Sequence[str]]) -> bytes:
    """One sheet of texts, its first row the names of the columns."""
    from openpyxl import Workbook  # noqa: PLC0415 - megabytes that few workers ever need

    book = Workbook(write_only=True)
    sheet = book.create_sheet(title)
    for row in rows:
        sheet.append([quote(_UNWRITABLE.sub(" ", text)) for text in row])
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def read_sheet(content: bytes, columns: int) -> list[list[Cell]]:
    """The first sheet, row by row, each as long as `columns`; empty rows at the end are left out.

    Not for files that somebody sent: `xlsx_subprocess.py` reads those.
    """
    unpacked = _unpack(content)
    from openpyxl import load_workbook  # noqa: PLC0415 - as above

    try:
        book = load_workbook(unpacked, read_only=True, keep_links=False)
        sheet = book.worksheets[0]
        rows = [
            [_text(cell) for cell in cells] + [""] * (columns - len(cells))
            for cells in sheet.iter_rows(max_row=ROWS_MAX + 2, max_col=columns)
        ]
    except Exception as problem:  # noqa: BLE001 - the library may raise anything on a hostile file
        raise SheetInvalid(f"not a spreadsheet: {type(problem).__name__}") from None
    while rows and not any(rows[-1]):
        rows.pop()
    if len(rows) > ROWS_MAX + 1:
        raise SheetInvalid(f"more than {ROWS_MAX} rows")
    return rows


def _unpack(content: bytes) -> io.BytesIO:
    """The same archive, not compressed, so that its reader unpacks nothing; what is in it has been looked at."""
    if len(content) > FILE_MAX:
        raise SheetInvalid(f"more than {FILE_MAX} bytes")
    unpacked = io.BytesIO()
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive, zipfile.ZipFile(unpacked, "w") as rebuilt:
            parts = archive.infolist()
            if len(parts) > PARTS_MAX or sum(part.file_size for part in parts) > UNCOMPRESSED_MAX:
                raise SheetInvalid("uncompressed it is larger than a list of users can be")
            if len({part.filename for part in parts}) < len(parts):
                raise SheetInvalid("two of its parts have one name")
            tags = 0
            for part in parts:
                text = _read_part(archive, part)
                if not _is_utf8(text) or b"<!DOCTYPE" in text:
                    raise SheetInvalid("it declares XML entities, or is not in UTF-8")
                tags += text.count(b"<")
                if tags > TAGS_MAX:
                    raise SheetInvalid("it has more cells than a list of users can have")
                rebuilt.writestr(part.filename, text)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, OSError, EOFError) as problem:
        raise SheetInvalid(f"not a spreadsheet: {type(problem).__name__}") from None
    unpacked.seek(0)
    return unpacked


def _read_part(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> bytes:
    """As much as the header says: of these two kinds no more than is asked for is decompressed."""
    if part.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        raise SheetInvalid("it is compressed in a way that spreadsheets are not")
    with archive.open(part) as file:
        return file.read(part.file_size)


def _is_utf8(text: bytes) -> bool:
    """Whether a parser would read it so, if it is XML: in any other encoding markup cannot be looked for."""
    declared = _ENCODING.match(text.removeprefix(codecs.BOM_UTF8))
    return not text.startswith(_UTF16) and (declared is None or declared[1].lower() == b"utf-8")


def _text(cell: Any) -> Cell:
    value = cell.value
    if value is None:
        return ""
    if cell.data_type == "f":
        return Formula()
    text = str(int(value) if isinstance(value, float) and value.is_integer() else value).strip()[:CELL_MAX]
    return unquote(text)
