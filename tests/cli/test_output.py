"""Tables and JSON from the same records: pure output."""

from __future__ import annotations

import json
import time

import pytest

from gatehouse.cli import output
from gatehouse.cli.output import Mark, Moment


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "now"),
        (0.4, "now"),
        (-59, "59 s ago"),
        (-60, "1 min ago"),
        (7300, "in 2 h"),
        (86_400 * 7 - 1, "in 7 d"),
        (-86_400 * 3, "3 d ago"),
    ],
)
def test_relative_times(seconds: float, words: str) -> None:
    assert output.relative(seconds) == words


def test_a_record_is_a_table_for_people_and_json_for_scripts(capsys: pytest.CaptureFixture[str]) -> None:
    found = [{"id": 7, "state": Mark(False, "disabled", "red"), "since": Moment(0.0), "roles": ("A", "B"), "no": None}]
    columns = {"id": "ID", "state": "STATE", "since": "SINCE", "roles": "ROLES"}
    output.records(found, columns, as_json=True, nothing="")
    assert json.loads(capsys.readouterr().out) == [
        {"id": 7, "state": False, "since": "1970-01-01T00:00:00Z", "roles": ["A", "B"], "no": None}
    ]
    output.records(found, columns, as_json=False, nothing="")
    heading, _, row = capsys.readouterr().out.splitlines()
    assert heading.split() == ["ID", "STATE", "SINCE", "ROLES"]
    assert row.split()[:5] == ["7", "disabled", "1970-01-01", "00:00:00Z", str(round(time.time() / (86_400 * 365)))]


def test_no_record_is_said_in_words_and_as_an_empty_list(capsys: pytest.CaptureFixture[str]) -> None:
    output.records([], {"id": "ID"}, as_json=False, nothing="No users.")
    output.records([], {"id": "ID"}, as_json=True, nothing="No users.")
    assert capsys.readouterr().out == "No users.\n[]\n"


def test_what_came_over_the_network_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    found = {"agent": "\x1b[2Jevil\r\n\x9b31m [red]markup[/red]"}
    output.record(found, as_json=False)
    out = capsys.readouterr().out
    assert not {"\x1b", "\r", "\x9b"} & set(out)
    assert "[red]markup[/red]" in out
    output.record(found, as_json=True)
    assert not {"\x1b", "\r"} & set(capsys.readouterr().out)


def test_many_perms_are_wrapped(capsys: pytest.CaptureFixture[str]) -> None:
    output.record({"perms": [f"sys:thing{n}:query" for n in range(40)]}, as_json=False)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 5
    assert max(map(len, lines)) < 80
