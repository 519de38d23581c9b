"""Everything at once: 90 % users/me, 7 % refresh, 2 % captcha, 1 % login; each beside its own times in isolation.

python -m benchmarks.mixed_load [--rate 600] [--seconds 10] [--engines embedded,engines] [--json FILE]

Requests are sent at fixed times, whatever the answers do, and a time is counted from the moment a request was due: so a
stall counts for everybody who came in it. In isolation an operation comes as often as it does in the mix. One core
carries the server and its databases, the other one the load.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import selectors
import socket
import statistics
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.load import LOAD_CORE, SERVER_CORE, staying_on
from benchmarks.running_service import HIGH_LIMITS, Subject
from tests.support.conversation import CAPTCHA, LOGIN, ME, REFRESH
from tests.support.engines import PostgresServer, RedisServer
from tests.support.running import ANSWER, PASSWORD

SHARES = {"users/me": 0.90, "refresh": 0.07, "captcha": 0.02, "login": 0.01}
CONNECTIONS = 32
PEOPLE = 16

Times = dict[str, list[float]]


class Caller:
    """Makes requests and reads answers; refresh tokens go round, each answer's token is a later request's."""

    def __init__(self, subject: Subject) -> None:
        self._host = f"127.0.0.1:{subject.running.port}"
        self.port = subject.running.port
        self.captchas: Iterator[str] = iter(())
        self._refresh = deque(subject.refresh_tokens(2 * CONNECTIONS))
        with subject.running.client() as client:
            answers = [client.post(REFRESH, json={"refreshToken": self._refresh.popleft()}) for _ in range(PEOPLE)]
        self._access = [answer.json()["data"]["accessToken"] for answer in answers]

    def request(self, operation: str) -> bytes:
        match operation:
            case "users/me":
                return self._bytes("GET", ME, f"Authorization: Bearer {random.choice(self._access)}\r\n")
            case "captcha":
                return self._bytes("GET", CAPTCHA)
            case "refresh":
                return self._bytes("POST", REFRESH, body={"refreshToken": self._refresh.popleft()})
        body = {"username": "admin", "password": PASSWORD, "captchaCode": ANSWER, "captchaId": next(self.captchas)}
        return self._bytes("POST", LOGIN, body=body)

    def answered(self, operation: str, body: bytes) -> None:
        if operation == "refresh":
            self._refresh.append(json.loads(body)["data"]["refreshToken"])

    def _bytes(self, method: str, path: str, header: str = "", body: dict[str, str] | None = None) -> bytes:
        content = json.dumps(body).encode() if body else b""
        kind = f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n" if body else ""
        return f"{method} {path} HTTP/1.1\r\nHost: {self._host}\r\n{header}{kind}\r\n".encode() + content


class Connection:
    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.operation = ""
        self.due = 0.0
        self._read = b""

    def send(self, operation: str, due: float, request: bytes) -> None:
        self.operation, self.due, self._read = operation, due, b""
        self.socket.sendall(request)

    def receive(self) -> bytes | None:
        """The body of the answer, once it is whole."""
        self._read += self.socket.recv(262_144)
        head, found, body = self._read.partition(b"\r\n\r\n")
        if not found:
            return None
        if not head.startswith(b"HTTP/1.1 200"):
            raise ValueError(f"{self.operation} was answered with {head[:20]!r} {body[:80]!r}")
        length = int(head.lower().partition(b"content-length:")[2].partition(b"\r")[0])
        return body if len(body) >= length else None


def plan(rates: dict[str, float], seconds: float) -> list[tuple[float, str]]:
    """When what is due: each operation at its rate, its times spread at random."""
    chance = random.Random(18)
    due = [(chance.uniform(0, seconds), name) for name, rate in rates.items() for _ in range(round(rate * seconds))]
    return sorted(due)


def run(caller: Caller, rates: dict[str, float], seconds: float) -> Times:
    times: Times = {name: [] for name in rates}
    waiting = deque(plan(rates, seconds))
    with staying_on(LOAD_CORE), selectors.DefaultSelector() as ready:
        idle = [Connection(caller.port) for _ in range(CONNECTIONS)]
        everyone = list(idle)
        for connection in everyone:
            ready.register(connection.socket, selectors.EVENT_READ, connection)
        began = time.perf_counter()
        while waiting or len(idle) < CONNECTIONS:
            now = time.perf_counter() - began
            while waiting and idle and waiting[0][0] <= now:
                due, operation = waiting.popleft()
                idle.pop().send(operation, due, caller.request(operation))
            pause = max(0.0, waiting[0][0] - now) if waiting and idle else 1.0
            for key, _ in ready.select(pause):
                body = key.data.receive()
                if body is not None:
                    times[key.data.operation].append(time.perf_counter() - began - key.data.due)
                    caller.answered(key.data.operation, body)
                    idle.append(key.data)
        for connection in everyone:
            connection.socket.close()
    return times


def engines(kind: str, stack: ExitStack) -> dict[str, Any]:
    if kind == "embedded":
        return {}
    postgres, redis = PostgresServer(), RedisServer()
    for server in (postgres, redis):
        server.start()
        stack.callback(server.remove)
        assert server.process is not None
        _stay_on_server_core(server.process.pid)
    return {"database_url": postgres.copy("mixed"), "state_url": redis.url()}


def _stay_on_server_core(pid: int) -> None:
    """A process, its threads and its children; those started later inherit it."""
    for task in Path(f"/proc/{pid}/task").iterdir():
        os.sched_setaffinity(int(task.name), {SERVER_CORE})
        for child in (task / "children").read_text().split():
            _stay_on_server_core(int(child))


def measure(kind: str, rate: float, seconds: float, folder: Path) -> list[dict[str, object]]:
    rates = {name: rate * share for name, share in SHARES.items()}
    with ExitStack() as stack:
        subject = stack.enter_context(Subject(folder / kind, **HIGH_LIMITS, **engines(kind, stack)))
        caller = Caller(subject)

        def times(of: dict[str, float], long: float = seconds) -> Times:
            caller.captchas = iter(subject.captcha_ids(round(rates["login"] * long)))
            return run(caller, of, long)

        times(rates, 2)
        mixed = times(rates)
        alone = {name: times({name: rates[name]})[name] for name in rates}
    return [
        {"engine": kind, "operation": name, "a_second": rates[name]}
        | {f"{label}_{part}": value for label, times in (("alone", alone[name]), ("mixed", mixed[name]))
           for part, value in (("p50", percentile(times, 50)), ("p99", percentile(times, 99)))}
        for name in rates
    ]  # fmt: skip


def percentile(times: list[float], which: int) -> float:
    return statistics.quantiles(times, n=100, method="inclusive")[which - 1] * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=float, default=600)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--engines", default="embedded,engines")
    parser.add_argument("--json", type=Path, default=Path(".bench/mixed.json"))
    given = parser.parse_args()
    given.json.parent.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory(dir=given.json.parent) as folder:
        for kind in given.engines.split(","):
            rows += measure(kind, given.rate, given.seconds, Path(folder).resolve())
    given.json.write_text(json.dumps(rows, indent=1))
    table = Table(title=f"{given.rate:g} requests a second in the mix, one core")
    headings = ("engine", "operation", "a second", "alone p50 ms", "alone p99", "mixed p50 ms", "mixed p99")
    for heading in headings:
        table.add_column(heading, justify="left" if heading in headings[:2] else "right")
    for row in rows:
        table.add_row(*(f"{value:.2f}" if isinstance(value, float) else str(value) for value in row.values()))
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
