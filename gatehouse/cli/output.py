"""Shows what a command found: tables for a person, JSON for a script, from the same records.

Colour only on a terminal, and nothing that came over the network can move the cursor or fake colours.
"""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import msgspec
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Record = Mapping[str, Any]

# Wide enough that a table is never folded where there is no terminal.
_UNBOUNDED = 1000

_UNITS = ((86_400 * 365, "y"), (86_400, "d"), (3600, "h"), (60, "min"), (1, "s"))


class Moment(NamedTuple):
    """A point in time: absolute and relative for a person, ISO 8601 in UTC for a script."""

    at: float | None

    def __str__(self) -> str:
        return "" if self.at is None else f"{absolute(self.at)}  {relative(self.at - time.time())}"


class Mark(NamedTuple):
    """A state: a word in colour for a person, its value for a script."""

    value: object
    word: str
    colour: str


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for scripts.")


def absolute(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def relative(seconds: float) -> str:
    size = abs(seconds)
    for length, unit in _UNITS:
        if size >= length:
            amount = f"{round(size / length)} {unit}"
            return f"{amount} ago" if seconds < 0 else f"in {amount}"
    return "now"


def enabled(value: bool) -> Mark:  # noqa: FBT001 - it is what the mark is about
    return Mark(value, "enabled", "green") if value else Mark(value, "disabled", "red")


def echo(line: str) -> None:
    """What was done, for the operator to read."""
    click.echo(printable(line))


def records(found: Sequence[Record], columns: Mapping[str, str], *, as_json: bool, nothing: str) -> None:
    """A list. `columns` are those a person sees, with their headings; JSON has every field."""
    if as_json:
        return as_document([_plain(record) for record in found])
    if not found:
        return echo(nothing)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for heading in columns.values():
        table.add_column(heading, overflow="fold")
    for record in found:
        table.add_row(*(_cell(record[name]) for name in columns))
    return show(table)


def record(found: Record, *, as_json: bool) -> None:
    """One thing, a line for each of its fields."""
    if as_json:
        return as_document(_plain(found))
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in found.items():
        label = "state" if isinstance(value, Mark) else name.replace("_", " ")
        table.add_row(label, _cell(value))
    return show(table)


def as_document(value: object) -> None:
    click.echo(msgspec.json.format(msgspec.json.encode(value), indent=2))


def as_line(found: Record) -> None:
    """One record as one line of JSON Lines."""
    click.echo(msgspec.json.encode(_plain(found)))


def show(what: object) -> None:
    console = Console(file=sys.stdout, highlight=False, width=None if sys.stdout.isatty() else _UNBOUNDED)
    with console.capture() as captured:
        console.print(what)
    lines = (line.rstrip() for line in captured.get().splitlines())
    click.echo("\n".join(line for line in lines if line))


def printable(text: str) -> str:
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)


def _cell(value: object) -> Text:
    match value:
        case Mark():
            return Text(value.word, style=value.colour)
        case None:
            return Text("")
        case bool():
            return Text("yes" if value else "no")
        case list() | tuple() if not isinstance(value, Moment):
            return Text("\n".join(_wrapped(value)))
    return Text(printable(str(value)))


def _wrapped(words: Iterable[object], width: int = 60) -> list[str]:
    """Words in lines of readable length: a role may give forty perms."""
    lines = [""]
    for word in map(printable, map(str, words)):
        if lines[-1] and len(lines[-1]) + len(word) + 1 > width:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return lines


def _plain(value: Any) -> Any:
    match value:
        case Moment():
            return (
                None if value.at is None else datetime.fromtimestamp(value.at, UTC).isoformat().replace("+00:00", "Z")
            )
        case Mark():
            return value.value
        case dict():
            return {name: _plain(each) for name, each in value.items()}
        case list() | tuple():
            return [_plain(each) for each in value]
    return value
