"""Refresh as it is deployed, 0.1.0 and the working tree by turns: limits on and off, embedded and on Redis.

python -m benchmarks.refresh [--rounds 10] [--seconds 1] [--engines embedded,Redis] [--limits on,off] [--json FILE]

One core carries the server and its databases, the other one the load: 32 connections, each of which follows a chain of
refresh tokens. 0.1.0 signs with EdDSA alone, so the working tree is measured with EdDSA and with ES256, its default.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
from contextlib import ExitStack
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.load import SERVER_CORE, Load, middle, require_wrk, spread, wrk
from benchmarks.release import built
from benchmarks.subject import HIGH_LIMITS, Subject
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

    def run(self, rounds: int, seconds: float) -> None:
        with ExitStack() as stack:
            subjects = {name: stack.enter_context(subject) for name, subject in self._subjects(stack).items()}
            for _ in range(rounds):
                for name, subject in subjects.items():
                    script = subject.refresh_script(self.folder, CONNECTIONS + 4)
                    load = wrk(subject.url(REFRESH), seconds=seconds, connections=CONNECTIONS, script=script)
                    self.loads.setdefault(name, []).append(load)
        print(f"  {self.engine}, limits {self.limits}: " + ", ".join(map(self.summary, self.loads)), flush=True)

    def _subjects(self, stack: ExitStack) -> dict[str, Subject]:
        settings: dict[str, object] = dict(HIGH_LIMITS) if self.limits == "on" else {}
        return {
            OLD: Subject(self.folder / "old", python=self._old, **settings, **self._state(stack)),
            f"{NOW}, EdDSA": Subject(
                self.folder / "eddsa", signing_algorithm="EdDSA", **settings, **self._state(stack)
            ),
            f"{NOW}, ES256": Subject(self.folder / "es256", **settings, **self._state(stack)),
        }

    def _state(self, stack: ExitStack) -> dict[str, object]:
        """Each candidate has a server of its own, on the core of the service."""
        if self.engine == "embedded":
            return {}
        redis = RedisServer()
        redis.start()
        stack.callback(redis.remove)
        assert redis.process is not None
        for thread in Path(f"/proc/{redis.process.pid}/task").iterdir():
            os.sched_setaffinity(int(thread.name), {SERVER_CORE})
        return {"state_url": redis.url()}

    def ratio(self, name: str) -> float:
        pairs = zip(self.loads[name], self.loads[OLD], strict=True)
        return statistics.median(load.rate / old.rate for load, old in pairs)

    def summary(self, name: str) -> str:
        return f"{name} {middle(self.loads[name]).rate:,.0f}/s ({self.ratio(name):.2f})"


def show(contests: list[Contest]) -> None:
    table = Table(title=f"Refresh, one core, {CONNECTIONS} connections")
    for heading in ("engine", "limits", "release", "a second", "spread", "p50 ms", "p99 ms", f"times {OLD}"):
        table.add_column(heading, justify="left" if heading in {"engine", "limits", "release"} else "right")
    for contest in contests:
        for name, loads in contest.loads.items():
            load = middle(loads)
            failed = f" ({load.bad + load.errors} failed)" if load.bad + load.errors else ""
            table.add_row(
                contest.engine, contest.limits, name, f"{load.rate:,.0f}{failed}", f"{spread(loads):.0%}",
                f"{load.p50:.2f}", f"{load.p99:.2f}", f"{contest.ratio(name):.2f}",
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
        | {"rate": middle(loads).rate, "p50": middle(loads).p50, "p99": middle(loads).p99, "spread": spread(loads)}
        for each in contests
        for name, loads in each.loads.items()
    ]
    given.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
