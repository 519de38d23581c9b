"""Progress bars: on a terminal only, removed when the work is done."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def progress_bars(*, hidden: bool = False) -> Iterator[Callable[[str, int, int], None]]:
    """Yields a function that takes a name, how much is done, and of how much. Each name gets a bar of its own."""
    columns = (TextColumn("{task.description:<24}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    disable = hidden or not sys.stderr.isatty()
    with Progress(*columns, console=Console(file=sys.stderr), transient=True, disable=disable) as bars:
        tasks: dict[str, TaskID] = {}

        def report(name: str, done: int, total: int) -> None:
            if name not in tasks:
                tasks[name] = bars.add_task(name, total=total)
            bars.update(tasks[name], completed=done, total=total)

        yield report
