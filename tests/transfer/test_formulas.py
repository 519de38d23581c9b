"""Cells that a spreadsheet would run: they leave as text, and come back as they were."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatehouse.transfer.formula_quoting import quote, unquote


@pytest.mark.parametrize("sign", "=+-@\t\r＝＋－＠")
def test_a_formula_becomes_text(sign: str) -> None:
    assert quote(f"{sign}1+1") == f"'{sign}1+1"


@pytest.mark.parametrize("cell", ["", "ada", "O'Brien", "'tis", "$2a$10$abc", "1700000000.0", "https://a/b?c=d"])
def test_other_cells_stay_as_they_are(cell: str) -> None:
    assert quote(cell) == cell
    assert unquote(cell) == cell


@given(st.text(alphabet="'=+-@a ＝", max_size=6))
def test_what_is_written_is_read_back(cell: str) -> None:
    assert unquote(quote(cell)) == cell
    assert quote(cell)[:1] not in set("=+-@＝")
