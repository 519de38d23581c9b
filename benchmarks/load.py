"""Load by wrk, on a core of its own: one call, one result."""

from __future__ import annotations

import os
import re
import selectors
import shutil
import socket
import statistics
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

SERVER_CORE = 0
LOAD_CORE = 1

_LATENCY = re.compile(r"^\s+(50|99)%\s+([\d.]+)(us|ms|s|m)$", re.MULTILINE)
_RATE = re.compile(r"^Requests/sec:\s+([\d.]+)", re.MULTILINE)
_BAD = re.compile(r"Non-2xx or 3xx responses: (\d+)")
_SOCKET = re.compile(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)")
_MILLISECONDS = {"us": 0.001, "ms": 1.0, "s": 1000.0, "m": 60_000.0}


@dataclass(frozen=True, slots=True)
class Load:
    """One round: rate a second, latencies in milliseconds, answers that were not 2xx, sockets that failed."""

    rate: float
    p50: float
    p99: float
    bad: int
    errors: int


def require_wrk() -> None:
    if shutil.which("wrk") is None:
        raise SystemExit("wrk is missing: install it with `apt-get install wrk`, or your system's package of that name")


def on_core(core: int | None) -> list[str]:
    """Words to put before a command so that it stays on one core, where the machine can do that."""
    return ["taskset", "-c", str(core)] if core is not None and shutil.which("taskset") else []


@contextmanager
def staying_on(core: int) -> Iterator[None]:
    """This process itself, for as long as it measures something by its own hand."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def wrk(
    url: str,
    *,
    seconds: float,
    connections: int = 32,
    headers: dict[str, str] | None = None,
    script: Path | None = None,
    core: int | None = LOAD_CORE,
) -> Load:
    words = [
        *on_core(core),
        "wrk",
        "-t1",
        f"-c{connections}",
        f"-d{max(1, round(seconds))}s",
        "--timeout",
        "10s",
        "--latency",
    ]
    for name, value in (headers or {}).items():
        words += ["-H", f"{name}: {value}"]
    if script:
        words += ["-s", str(script)]
    output = subprocess.run([*words, url], capture_output=True, text=True, check=True).stdout
    return read(output)


def counted_p99(url: str, *, seconds: float, connections: int, headers: dict[str, str]) -> float:
    """The p99 in milliseconds of what was really sent: wrk adds, for every stall, what it would have sent meanwhile.

    As wrk does, each connection sends its next request when it has its answer. Small answers only: one read each.
    """
    target = urlsplit(url)
    lines = [f"GET {target.path} HTTP/1.1", f"host: {target.netloc}", *(f"{name}: {headers[name]}" for name in headers)]
    request = "\r\n".join([*lines, "", ""]).encode()
    sent: dict[socket.socket, float] = {}
    times: list[float] = []
    with staying_on(LOAD_CORE), selectors.DefaultSelector() as ready, ExitStack() as stack:
        for _ in range(connections):
            connection = stack.enter_context(socket.create_connection((target.hostname, target.port)))
            ready.register(connection, selectors.EVENT_READ, connection)
            sent[connection] = time.perf_counter()
            connection.send(request)
        ends = time.perf_counter() + seconds
        while time.perf_counter() < ends:
            for key, _ in ready.select():
                connection = key.data
                if not connection.recv(65_536).startswith(b"HTTP/1.1 200"):
                    raise ValueError(f"{url} answered something else")
                times.append(time.perf_counter() - sent[connection])
                sent[connection] = time.perf_counter()
                connection.send(request)
    return statistics.quantiles(times, n=100)[98] * 1000


def read(output: str) -> Load:
    latency = {found[0]: float(found[1]) * _MILLISECONDS[found[2]] for found in _LATENCY.findall(output)}
    rate, bad, sockets = _RATE.search(output), _BAD.search(output), _SOCKET.search(output)
    if rate is None:
        raise ValueError(f"wrk said something else:\n{output}")
    return Load(
        rate=float(rate[1]),
        p50=latency.get("50", 0.0),
        p99=latency.get("99", 0.0),
        bad=int(bad[1]) if bad else 0,
        errors=sum(int(number) for number in sockets.groups()) if sockets else 0,
    )


def middle(rounds: list[Load]) -> Load:
    """The median round by each measure; failures add up."""
    return Load(
        rate=statistics.median(each.rate for each in rounds),
        p50=statistics.median(each.p50 for each in rounds),
        p99=statistics.median(each.p99 for each in rounds),
        bad=sum(each.bad for each in rounds),
        errors=sum(each.errors for each in rounds),
    )


def spread(rounds: list[Load]) -> float:
    """How far the rounds lie apart, as a share of their median."""
    rates = [each.rate for each in rounds]
    return (max(rates) - min(rates)) / statistics.median(rates) if rates else 0.0
