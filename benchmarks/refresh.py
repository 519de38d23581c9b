"""Refresh as it is deployed, 0.1.0 and the working tree by turns: limits on and off, embedded and on Redis.

python -m benchmarks.refresh [--rounds 10] [--seconds 1] [--engines embedded,Redis] [--limits on,off] [--json FILE]

One core carries the server and its databases, the other one the load: 32 connections, each of which follows a chain of
refresh tokens. 0.1.0 signs with EdDSA alone, so the working tree is measured with EdDSA and with ES256, its default.
CPU is that of the worker and its databases for each refresh: what else the machine does changes it little.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psutil
from rich.console import Console
from rich.table import Table

from benchmarks.load import SERVER_CORE, Load, middle, require_wrk, spread, wrk
from benchmarks.past_release import built
from benchmarks.running_service import HIGH_LIMITS, Subject
from tests.support.conversation import REFRESH
from tests.support.engines import RedisServer

CONNECTIONS = 32
OLD = "0.1.0"
NOW = "now"


class Contest:
    """One engine with limits on or off: the candidates by turns."""

    def __init__(self, engine: str, limits: str, folder: Path, old: Path) -> None:
        self.engine = engine
        self.limits = limits
        self.folder = folder / f"{engine}-{limits}"
        self.folder.mkdir()
        self._old = old
        self.loads: dict[str, list[Load]] = {}
        self.cpu: dict[str, list[float]] = {}
        self._databases: dict[Subject, list[int]] = {}

    def run(self, rounds: int, seconds: float) -> None:
        with ExitStack() as stack:
            subjects = {name: stack.enter_context(subject) for name, subject in self._subjects(stack).items()}
            for _ in range(rounds):
                for name, subject in subjects.items():
                    script = subject.refresh_script(self.folder, CONNECTIONS + 4)
                    before = self._cpu_seconds(subject)
                    load = wrk(subject.url(REFRESH), seconds=seconds, connections=CONNECTIONS, script=script)
                    used = self._cpu_seconds(subject) - before
                    self.loads.setdefault(name, []).append(load)
                    self.cpu.setdefault(name, []).append(used * 1e6 / (load.rate * seconds))
        print(f"  {self.engine}, limits {self.limits}: " + ", ".join(map(self.summary, self.loads)), flush=True)

    def _subjects(self, stack: ExitStack) -> dict[str, Subject]:
        return {
            OLD: self._subject(stack, "old", python=self._old),
            f"{NOW}, EdDSA": self._subject(stack, "eddsa", signing_algorithm="EdDSA"),
            f"{NOW}, ES256": self._subject(stack, "es256"),
        }

    def _subject(self, stack: ExitStack, name: str, *, python: Path | None = None, **settings: Any) -> Subject:
        """Each candidate has a Redis of its own, on the core of the service."""
        if self.limits == "on":
            settings |= HIGH_LIMITS
        databases = []
        if self.engine != "embedded":
            databases.append(self._redis(stack, settings))
        subject = Subject(self.folder / name, python=python, **settings)
        self._databases[subject] = databases
        return subject

    def _redis(self, stack: ExitStack, settings: dict[str, object]) -> int:
        redis = RedisServer()
        redis.start()
        stack.callback(redis.remove)
        assert redis.process is not None
        for thread in Path(f"/proc/{redis.process.pid}/task").iterdir():
            os.sched_setaffinity(int(thread.name), {SERVER_CORE})
        settings["state_url"] = redis.url()
        return redis.process.pid

    def _cpu_seconds(self, subject: Subject) -> float:
        processes = [*subject.running.workers(), *(psutil.Process(pid) for pid in self._databases[subject])]
        times = [process.cpu_times() for process in processes]
        return sum(each.user + each.system for each in times)

    def ratio(self, name: str) -> float:
        pairs = zip(self.loads[name], self.loads[OLD], strict=True)
        return statistics.median(load.rate / old.rate for load, old in pairs)

    def cpu_ratio(self, name: str) -> float:
        pairs = zip(self.cpu[name], self.cpu[OLD], strict=True)
        return statistics.median(old / now for now, old in pairs)

    def summary(self, name: str) -> str:
        rate, cpu = middle(self.loads[name]).rate, statistics.median(self.cpu[name])
        return f"{name} {rate:,.0f}/s ({self.ratio(name):.2f}), {cpu:.0f} us ({self.cpu_ratio(name):.2f})"


def show(contests: list[Contest]) -> None:
    table = Table(title=f"Refresh, one core, {CONNECTIONS} connections")
    for heading in (
        "engine",
        "limits",
        "release",
        "a second",
        "spread",
        "p50 ms",
        "p99 ms",
        f"times {OLD}",
        "CPU us",
        "CPU, times less",
    ):
        table.add_column(heading, justify="left" if heading in {"engine", "limits", "release"} else "right")
    for contest in contests:
        for name, loads in contest.loads.items():
            load = middle(loads)
            failed = f" ({load.bad + load.errors} failed)" if load.bad + load.errors else ""
            table.add_row(
                contest.engine, contest.limits, name, f"{load.rate:,.0f}{failed}", f"{spread(loads):.0%}",
                f"{load.p50:.2f}", f"{load.p99:.2f}", f"{contest.ratio(name):.2f}",
                f"{statistics.median(contest.cpu[name]):.0f}", f"{contest.cpu_ratio(name):.2f}",
            )  # fmt: skip
    Console(width=120).print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--engines", default="embedded,Redis")
    parser.add_argument("--limits", default="on,off")
    parser.add_argument("--json", type=Path, default=Path(".bench/refresh.json"))
    given = parser.parse_args()
    require_wrk()
    given.json.parent.mkdir(parents=True, exist_ok=True)
    old = built(OLD, given.json.parent)
    contests = []
    with tempfile.TemporaryDirectory(dir=given.json.parent) as folder:
        for engine in given.engines.split(","):
            for limits in given.limits.split(","):
                contest = Contest(engine, limits, Path(folder).resolve(), old)
                contest.run(given.rounds, given.seconds)
                contests.append(contest)
    show(contests)
    results = [
        {"engine": each.engine, "limits": each.limits, "release": name, "times": each.ratio(name)}
        | {"cpu_us": statistics.median(each.cpu[name]), "cpu_times_less": each.cpu_ratio(name)}
        | {"rate": middle(loads).rate, "p50": middle(loads).p50, "p99": middle(loads).p99, "spread": spread(loads)}
        for each in contests
        for name, loads in each.loads.items()
    ]
    given.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
