"""Quantities in sentences for people."""

from __future__ import annotations

import pytest

from gatehouse.messages.quantities import counted, size
from tests.cli.terminal import Terminal
from tests.support.running import Running


@pytest.mark.parametrize(
    ("number", "noun", "read"),
    [(1, "user", "1 user"), (0, "origin", "0 origins"), (21, "old secret", "21 old secrets")],
)
def test_a_plural_follows_its_number(number: int, noun: str, read: str) -> None:
    assert counted(number, noun) == read


@pytest.mark.parametrize(
    ("number", "read"),
    [(76_621 * 2**20, "75 GB"), (9_728 * 2**20, "9.5 GB"), (2**30, "1.0 GB"), (512 * 2**20, "512 MB"), (0, "0 MB")],
)
def test_a_size_has_a_unit_that_can_be_read(number: int, read: str) -> None:
    assert size(number) == read


def test_doctor_counts_as_people_do(server: Running) -> None:
    said = Terminal(server.env)("doctor").done()
    assert "2 workers on" in said
    assert "(s)" not in said
