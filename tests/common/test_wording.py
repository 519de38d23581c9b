"""Numbers in sentences for people."""

from __future__ import annotations

import pytest

from gatehouse.common.wording import plural, size
from tests.cli.terminal import Terminal
from tests.support.running import Running


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("1 worker(s) on 2 core(s)", "1 worker on 2 cores"),
        ("0 origin(s)", "0 origins"),
        ("Removed 1 old secret(s)", "Removed 1 old secret"),
        ("21 user(s)", "21 users"),
        ("no number(s)", "no number(s)"),
    ],
)
def test_a_plural_follows_its_number(written: str, read: str) -> None:
    assert plural(written) == read


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
