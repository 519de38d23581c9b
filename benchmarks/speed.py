"""`make bench`: every operation beside its baseline, interleaved, several rounds, in one table.

Limits are on, as deployed, and so high that none refuses; what a limit is counted for is measured with limits off too.

python -m benchmarks.speed [--rounds 5] [--seconds 2] [--json FILE] [--only me,captcha,refresh,login,redis]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.baselines import BareServer, captcha_library, raw_hashes, raw_refreshes
from benchmarks.load import LOAD_CORE, SERVER_CORE, Load, counted_p99, middle, require_wrk, spread, staying_on, wrk
from benchmarks.running_service import HIGH_LIMITS, Subject
from gatehouse.auth.login.captcha.image import CaptchaRenderer
from tests.support.conversation import CAPTCHA, LOGIN, ME, REFRESH
from tests.support.engines import RedisServer

MAX_CONNECTIONS = 32
PARTS = ("me", "captcha", "refresh", "login", "redis")


@dataclass
class Row:
    """One operation: what was measured, its baseline's median rate, their ratio, and what is asked at least."""

    operation: str
    engine: str
    workers: int
    load: Load
    spread: float
    baseline: str
    baseline_rate: float
    ratio: float
    asked: float


class Bench:
    def __init__(self, rounds: int, seconds: float, folder: Path) -> None:
        self.rounds = rounds
        self.seconds = seconds
        self.folder = folder
        self.rows: list[Row] = []
        self.facts: dict[str, Any] = {}

    def compare(
        self, operation: str, ours: Callable[[], Load], baseline: str, theirs: Callable[[], float], asked: float,
        engine: str = "embedded",
    ) -> None:  # fmt: skip
        """Ours and theirs by turns, so that what else the machine does falls on both."""
        baseline_rates, loads = [], []
        for _ in range(self.rounds):
            baseline_rates.append(theirs())
            loads.append(ours())
        self.add(operation, loads, baseline, baseline_rates, asked, engine)

    def add(
        self, operation: str, loads: list[Load], baseline: str, baseline_rates: list[float], asked: float, engine: str,
    ) -> None:  # fmt: skip
        ratio = statistics.median(load.rate / rate for load, rate in zip(loads, baseline_rates, strict=True))
        row = Row(
            operation,
            engine,
            1,
            middle(loads),
            spread(loads),
            baseline,
            statistics.median(baseline_rates),
            ratio,
            asked,
        )
        self.rows.append(row)
        print(f"  {operation} ({engine}): {row.load.rate:,.0f}/s, {ratio:.2f} of {baseline}", flush=True)

    def hit(self, url: str, **options: Any) -> Load:
        return wrk(url, seconds=self.seconds, connections=MAX_CONNECTIONS, **options)


def users_me(bench: Bench, subject: Subject, engine: str, redis_url: str = "") -> None:
    headers = subject.bearer()
    with subject.running.client() as client:
        body = client.get(ME, headers=headers).content
    application = "bare_with_redis" if redis_url else "bare"
    with BareServer(application, body, redis_url=redis_url) as bare:
        bench.hit(bare.url)
        bench.hit(subject.url(ME), headers=headers)
        bench.compare(
            "users/me",
            lambda: bench.hit(subject.url(ME), headers=headers),
            "bare server" + (" + 1 Redis round trip" if redis_url else ""),
            lambda: bench.hit(bare.url, headers=headers).rate,
            0.75,
            engine,
        )


def captcha(bench: Bench, subject: Subject) -> None:
    renderer = CaptchaRenderer()

    def drawn() -> Load:
        done, started = 0, time.perf_counter()
        while time.perf_counter() < started + bench.seconds:
            renderer.render("H2XE")
            done += 1
        return Load(done / (time.perf_counter() - started), 0, 0, 0, 0)

    with staying_on(LOAD_CORE):
        bench.compare("captcha, drawn", drawn, "captcha library", lambda: captcha_library(bench.seconds), 8)
    bench.compare(
        "captcha, limits on",
        lambda: bench.hit(subject.url(CAPTCHA)),
        "600/s",
        lambda: 600.0,
        1,
    )


def refresh(bench: Bench, subjects: dict[tuple[str, str], Subject], engine: str = "embedded") -> None:
    """By signing algorithm and by limits, by turns: so they are compared with each other too."""
    loads: dict[tuple[str, str], list[Load]] = {kind: [] for kind in subjects}
    baseline_rates: dict[str, list[float]] = {algorithm: [] for algorithm, _ in subjects}
    for _ in range(bench.rounds):
        for algorithm, rates in baseline_rates.items():
            with staying_on(SERVER_CORE):
                rates.append(raw_refreshes(bench.seconds, algorithm))
        for kind, subject in subjects.items():
            script = subject.refresh_script(bench.folder, MAX_CONNECTIONS + 4)
            loads[kind].append(bench.hit(subject.url(REFRESH), script=script))
    for algorithm, limits in subjects:
        baseline = f"1 {algorithm} signature + 1 synced write"
        name = f"refresh, {algorithm}, limits {limits}"
        bench.add(name, loads[algorithm, limits], baseline, baseline_rates[algorithm], 0.60, engine)


def embedded_refresh(bench: Bench, subject: Subject, folder: Path) -> None:
    with (
        Subject(folder / "eddsa", signing_algorithm="EdDSA", **HIGH_LIMITS) as eddsa,
        Subject(folder / "unlimited") as unlimited,
        Subject(folder / "eddsa-unlimited", signing_algorithm="EdDSA") as eddsa_unlimited,
    ):
        subjects = {
            ("ES256", "on"): subject,
            ("EdDSA", "on"): eddsa,
            ("ES256", "off"): unlimited,
            ("EdDSA", "off"): eddsa_unlimited,
        }
        refresh(bench, subjects)
        bench.compare("captcha, limits off", lambda: bench.hit(unlimited.url(CAPTCHA)), "600/s", lambda: 600.0, 1)


def login(bench: Bench, folder: Path) -> None:
    """Over all cores: the hash is all the cost, and the load generator has next to nothing to do."""
    cores = os.cpu_count() or 1
    with Subject(folder / "login", pinned=False, hash_queue=500, **HIGH_LIMITS) as subject:
        quiet = subject.bearer()

        def ours() -> Load:
            script = subject.login_script(folder, 4000)
            return wrk(subject.url(LOGIN), seconds=bench.seconds * 2, connections=16, script=script, core=None)

        bench.compare("login", ours, f"Argon2id on {cores} threads", lambda: raw_hashes(bench.seconds * 2, cores), 0.90)
        subject.stay_on(SERVER_CORE)
        time.sleep(1)  # what the last round left in the queue is hashed
        calm = {connections: calls(bench, subject, quiet, connections) for connections in (MAX_CONNECTIONS, 4)}
        for connections, before in calm.items():
            during = storm(bench, subject, folder, quiet, connections)
            for how in before:
                name = f"users/me p99 ms, {connections} connections, {how}"
                bench.facts[name] = f"{before[how]:.2f} quiet, {during[how]:.2f} in a login storm"


def calls(bench: Bench, subject: Subject, headers: dict[str, str], connections: int) -> dict[str, float]:
    """The p99 of users/me: as wrk corrects it, and of what was really sent."""

    def by_wrk() -> float:
        return wrk(subject.url(ME), seconds=bench.seconds, connections=connections, headers=headers).p99

    def counted() -> float:
        return counted_p99(subject.url(ME), seconds=bench.seconds, connections=connections, headers=headers)

    return {
        how: statistics.median(measure() for _ in range(3)) for how, measure in (("wrk", by_wrk), ("counted", counted))
    }


def storm(bench: Bench, subject: Subject, folder: Path, headers: dict[str, str], connections: int) -> dict[str, float]:
    """The same, while 64 others log in as fast as they can."""
    script = subject.login_script(folder, 4000)
    with ThreadPoolExecutor(1) as pool:
        logins = pool.submit(wrk, subject.url(LOGIN), seconds=bench.seconds * 6 + 2, connections=64, script=script)
        time.sleep(1)
        p99 = calls(bench, subject, headers, connections)
        logins.result()
    return p99


def show(bench: Bench) -> None:
    table = Table(title="Gatehouse beside its baselines, one worker on one core, the load on another")
    for heading in (
        "operation",
        "engine",
        "requests/s",
        "spread",
        "p50 ms",
        "p99 ms",
        "baseline",
        "its rate",
        "ratio",
        "asked",
    ):
        table.add_column(heading, justify="left" if heading in {"operation", "engine", "baseline"} else "right")
    for row in bench.rows:
        failed = f" ({row.load.bad + row.load.errors} failed)" if row.load.bad + row.load.errors else ""
        table.add_row(
            row.operation, row.engine, f"{row.load.rate:,.0f}{failed}", f"{row.spread:.0%}", f"{row.load.p50:.2f}",
            f"{row.load.p99:.2f}", row.baseline, f"{row.baseline_rate:,.0f}", f"{row.ratio:.2f}", f"{row.asked:g}",
        )  # fmt: skip
    console = Console(width=150)
    console.print(table)
    for name, value in bench.facts.items():
        console.print(f"{name}: {value:.2f}" if isinstance(value, float) else f"{name}: {value}")


def chosen_parts(names: str) -> set[str]:
    chosen = set(names.split(","))
    if unknown := chosen - set(PARTS):
        raise argparse.ArgumentTypeError(f"{', '.join(sorted(unknown))}: expected some of {', '.join(PARTS)}")
    return chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--only", type=chosen_parts, default=set(PARTS), help=f"some of {','.join(PARTS)}")
    parser.add_argument("--json", type=Path, default=Path(".bench/speed.json"))
    given = parser.parse_args()
    only = given.only
    require_wrk()
    given.json.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=given.json.parent) as name:
        folder = Path(name)
        bench = Bench(given.rounds, given.seconds, folder)
        bench.facts["machine"] = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
        with Subject(folder / "embedded", **HIGH_LIMITS) as subject:
            bench.facts["seconds from start to first answer"] = subject.started_in
            if "me" in only:
                users_me(bench, subject, "embedded")
            if "captcha" in only:
                captcha(bench, subject)
            if "refresh" in only:
                embedded_refresh(bench, subject, folder)
            bench.facts["resident MB of the worker"] = subject.memory()
        if "login" in only:
            login(bench, folder)
        if "redis" in only:
            with_redis(bench, folder)
    show(bench)
    results = {"rows": [asdict(row) for row in bench.rows], "facts": bench.facts}
    given.json.write_text(json.dumps(results, indent=1))


def with_redis(bench: Bench, folder: Path) -> None:
    redis = RedisServer()
    redis.start()
    try:
        with (
            Subject(folder / "on-redis", state_url=redis.url(), **HIGH_LIMITS) as subject,
            Subject(folder / "on-redis-unlimited", state_url=redis.url(1)) as unlimited,
        ):
            users_me(bench, subject, "Redis", redis.url())
            refresh(bench, {("ES256", "on"): subject, ("ES256", "off"): unlimited}, "Redis")
    finally:
        redis.remove()


if __name__ == "__main__":
    main()
