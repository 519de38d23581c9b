"""A login flood of 200 clients: what do the others notice?

    python -m benchmarks.flood [--seconds 10]

Limits are on as they are by default, and the flood, by wrk, comes from 200 addresses under 200 names, so that no single
limit stops it. Measured from outside, by a process and on connections of its own: users/me and liveness, quiet and
during the flood; what the flood is answered with; the worker's memory.

The measuring process takes precedence over everything else on the machine, as if it ran on another: without that, what
is measured under load is how long it waits for a core itself.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import httpx

from benchmarks.load import require_wrk
from benchmarks.running_service import Subject
from tests.support.conversation import ME

CLIENTS = 200
EVERY_SECONDS = 0.02
_ANSWERED = re.compile(r"^answered (\d+) (\d+)$", re.MULTILINE)
_FAILED = re.compile(r"Socket errors: .*")


def sample(subject: Subject, headers: dict[str, str], seconds: float, label: str) -> None:
    """users/me and liveness by turns; prints their median and 99th percentile."""
    taken: dict[str, list[float]] = {ME: [], "/health/live": []}
    most = 0.0
    ends = time.monotonic() + seconds
    with subject.running.client() as client:
        while time.monotonic() < ends:
            for path, times in taken.items():
                times.append(ask(client, path, headers))
            most = max(most, subject.memory())
            time.sleep(EVERY_SECONDS)
    for path, times in taken.items():
        p99 = statistics.quantiles(times, n=100)[98]
        middle = statistics.median(times)
        print(f"{label:12} {path:18} median {middle:6.1f} ms, p99 {p99:6.1f} ms, {len(times)} samples")
    print(f"{label:12} {'memory of the worker':18} at most {most:.0f} MB", flush=True)


def take_precedence() -> None:
    """For this process, and not for those that it starts."""
    try:
        os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(1))
    except OSError:
        print("not permitted to take precedence (run as root): the measuring process waits for a core like the flood")


def ask(client: httpx.Client, path: str, headers: dict[str, str]) -> float:
    began = time.perf_counter()
    answer = client.get(path, headers=headers)
    assert answer.status_code == 200, answer.text
    return (time.perf_counter() - began) * 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=10)
    given = parser.parse_args()
    require_wrk()
    with (
        tempfile.TemporaryDirectory() as folder,
        Subject(Path(folder) / "data", pinned=False, limits="on", trusted_proxies="127.0.0.1") as subject,
    ):
        headers = subject.bearer()
        take_precedence()
        sample(subject, headers, given.seconds, "quiet")
        script = subject.flood_script(Path(folder), CLIENTS, 20_000)
        words = [
            "wrk",
            "-t1",
            f"-c{CLIENTS}",
            f"-d{given.seconds + 2}s",
            "--timeout",
            "10s",
            "-s",
            str(script),
            subject.url("/"),
        ]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as flood:
            time.sleep(1)
            sample(subject, headers, given.seconds, "flood")
            said, _ = flood.communicate()
    answers = {int(status): int(count) for status, count in _ANSWERED.findall(said)}
    failed = _FAILED.search(said)
    print(f"{'flood':12} answered with {dict(sorted(answers.items()))}{'; ' + failed[0] if failed else ''}")


if __name__ == "__main__":
    main()
