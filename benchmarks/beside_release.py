"""users/me, captcha, refresh and login, a release and the working tree by turns: `python -m benchmarks.beside_release`.

`--release` names a release or any commit, such as the last one before a larger change. One core carries the server, the
other one the load. Users have no second factor. CPU is that of the worker for each request: what else the machine does
changes it little. Refresh on other engines: `benchmarks.refresh`.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from benchmarks.load import Load, middle, require_wrk, wrk
from benchmarks.past_release import built
from benchmarks.running_service import HIGH_LIMITS, Subject
from tests.support.conversation import CAPTCHA, LOGIN, ME, REFRESH

CONNECTIONS = 16
DRAIN_SECONDS = 1.5  # hashes that are still queued would cost the next one, on the same core
LOGINS = 4000  # more than a round can use: each needs a captcha of its own

Hit = Callable[[], Load]
Prepare = Callable[[], Hit]  # what a round needs is made before its time counts


class Round(NamedTuple):
    load: Load
    cpu_us: float


def measured(subject: Subject, seconds: float, prepare: Prepare) -> Round:
    hit = prepare()
    before = _cpu_seconds(subject)
    load = hit()
    used = _cpu_seconds(subject) - before
    if not load.rate:
        raise SystemExit(f"not one answer in {seconds:g} s: the machine is too busy to measure, or --seconds too few")
    time.sleep(DRAIN_SECONDS)
    return Round(load, used * 1e6 / (load.rate * seconds))


def _cpu_seconds(subject: Subject) -> float:
    return sum(sum(worker.cpu_times()[:2]) for worker in subject.running.workers())


def operations(subject: Subject, folder: Path, seconds: float) -> dict[str, Prepare]:
    headers = subject.bearer()

    def with_script(path: str, script: Path) -> Hit:
        return lambda: wrk(subject.url(path), seconds=seconds, connections=CONNECTIONS, script=script)

    return {
        "users/me": lambda: lambda: wrk(subject.url(ME), seconds=seconds, headers=headers),
        "captcha": lambda: lambda: wrk(subject.url(CAPTCHA), seconds=seconds),
        "refresh": lambda: with_script(REFRESH, subject.refresh_script_of_logins(folder, CONNECTIONS + 4)),
        "login": lambda: with_script(LOGIN, subject.login_script(folder, LOGINS)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--release", default="0.1.0", help="a release, or a commit")
    parser.add_argument("--folder", type=Path, default=Path(".bench"), help="where it is built")
    options = parser.parse_args()
    require_wrk()
    options.folder.mkdir(exist_ok=True)
    python = built(options.release, options.folder)
    rounds: dict[str, dict[str, list[Round]]] = {}
    with tempfile.TemporaryDirectory(dir=options.folder) as temporary:
        folder = Path(temporary).resolve()
        with (
            Subject(folder / "old", python=python, hash_queue=500, **HIGH_LIMITS) as before,
            Subject(folder / "now", hash_queue=500, **HIGH_LIMITS) as now,
        ):
            subjects = {options.release: before, "now": now}
            hits = {name: operations(subject, folder, options.seconds) for name, subject in subjects.items()}
            for _ in range(options.rounds):
                for operation in hits["now"]:
                    for name, subject in subjects.items():
                        done = measured(subject, options.seconds, hits[name][operation])
                        rounds.setdefault(operation, {}).setdefault(name, []).append(done)
    show(rounds, options.release, options.rounds)


def show(measurements: dict[str, dict[str, list[Round]]], old: str, count: int) -> None:
    table = Table(title=f"{old} and the working tree by turns, medians of {count} rounds")
    for heading in (
        "operation",
        "release",
        "a second",
        "p50 ms",
        "p99 ms",
        f"times {old}",
        "CPU us",
        "CPU, times less",
    ):
        table.add_column(heading, justify="left" if heading in {"operation", "release"} else "right")
    for operation, by_release in measurements.items():
        for name, rounds in by_release.items():
            load = middle([each.load for each in rounds])
            pairs = list(zip(rounds, by_release[old], strict=True))
            failed = f" ({load.bad + load.errors} failed)" if load.bad + load.errors else ""
            table.add_row(
                operation, name, f"{load.rate:,.0f}{failed}", f"{load.p50:.2f}", f"{load.p99:.2f}",
                f"{statistics.median(each.load.rate / other.load.rate for each, other in pairs):.2f}",
                f"{statistics.median(each.cpu_us for each in rounds):.0f}",
                f"{statistics.median(other.cpu_us / each.cpu_us for each, other in pairs):.2f}",
            )  # fmt: skip
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
