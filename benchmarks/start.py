"""Start and memory, the working tree and 0.1.0 by turns: `python -m benchmarks.start`.

A start is counted from the command to the first answered request; the first one makes the data folder. Memory is that
of a worker and of the process that started it, a second after the start: resident, and its share when pages that
several processes use are divided among them.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from benchmarks.past_release import built
from benchmarks.running_service import Subject


class Start(NamedTuple):
    first: float
    later: float
    worker: float
    worker_share: float
    parent: float


def measure(data: Path, python: Path | None) -> Start:
    with Subject(data, pinned=False, python=python) as subject:
        first = subject.started_in
    with Subject(data, pinned=False, python=python) as subject:
        time.sleep(1)
        [worker] = subject.running.workers()
        resident, share = memory(worker.pid)
        assert subject.running.process is not None
        return Start(first, subject.started_in, resident, share, memory(subject.running.process.pid)[0])


def memory(pid: int) -> tuple[float, float]:
    """Megabytes: resident, and the share."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    kilobytes = {name.rstrip(":"): float(value) for name, value, *_ in (line.split() for line in lines)}
    return kilobytes["Rss"] * 1.024e-3, kilobytes["Pss"] * 1.024e-3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--folder", type=Path, default=Path(".bench"), help="where 0.1.0 is built")
    options = parser.parse_args()
    versions = {"0.1.0": built("0.1.0", options.folder), "now": None}
    starts: dict[str, list[Start]] = {name: [] for name in versions}
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for number in range(options.rounds):
            for name, python in versions.items():
                starts[name].append(measure(Path(folder) / f"{name}-{number}", python))
    table = Table(title=f"Start and memory, medians of {options.rounds} rounds by turns (smallest and largest)")
    for heading in ("", "first start, s", "later start, s", "worker, MB", "its share, MB", "parent, MB"):
        table.add_column(heading)
    for name, measured in starts.items():
        table.add_row(name, *(_summary(values) for values in zip(*measured, strict=True)))
    Console(width=120).print(table)


def _summary(values: tuple[float, ...]) -> str:
    digits = 2 if max(values) < 20 else 0
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f}-{max(values):.{digits}f})"


if __name__ == "__main__":
    main()
