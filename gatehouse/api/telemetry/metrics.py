"""Metrics for Prometheus, at an address of their own.

On the way of a request they are plain numbers in plain dictionaries: two readings of a clock, one addition, one
bucket. Every worker writes its numbers to a file in a folder that all workers of this service share, once a second;
whichever worker is asked adds up its own numbers and the files of the others. A file outlives its worker, so that
sums never go down while the service runs.
"""

from __future__ import annotations

import asyncio
import resource
import secrets
import time
from bisect import bisect_left
from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from gatehouse.auth.audit import Event

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from gatehouse.service import Service

WRITE_SECONDS = 1.0
# Reasons of a failed login that depend on whether the name exists; they are one label.
CREDENTIALS = "credentials"
_ABOUT_THE_NAME = {"password", "unknown_name", "disabled"}
BOUNDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)

# What the metrics say, by name. `docs/observing.md` lists the same; a test holds the two together.
HELP = {
    "gatehouse_requests": "Requests answered, by operation and code",
    "gatehouse_request_seconds": "Time from the request to its answer, by operation",
    "gatehouse_captcha_draw_seconds": "Time to draw one captcha",
    "gatehouse_events": "Audit events, by event and reason",
    "gatehouse_logins": "Logins by outcome",
    "gatehouse_sessions_opened": "Sessions opened",
    "gatehouse_sessions_ended": "Sessions ended, by reason",
    "gatehouse_state_operations": "What the state store was asked, by kind; what is remembered is not asked",
    "gatehouse_hash_pending": "Password hashes running or waiting",
    "gatehouse_audit_queued": "Audit events that wait for the database",
    "gatehouse_audit_lost": "Audit events that reached the log but not the database",
    "gatehouse_workers": "Workers that run",
    "gatehouse_memory_peak_bytes": "Largest resident memory of a worker so far",
    "gatehouse_build": "The version that runs",
}


class Times(msgspec.Struct):
    """A histogram: how many fell into each bucket, and their sum."""

    buckets: list[int]
    total: float = 0.0

    def add(self, seconds: float) -> None:
        self.buckets[bisect_left(BOUNDS, seconds)] += 1
        self.total += seconds


def _times() -> Times:
    return Times([0] * (len(BOUNDS) + 1))


class OperationMetrics:
    """What one operation has answered: how often which code, and in what time."""

    __slots__ = ("codes", "times")

    def __init__(self) -> None:
        self.codes: Counter[str] = Counter()
        self.times = _times()

    def answered(self, code: str, seconds: float) -> None:
        self.codes[code] += 1
        self.times.add(seconds)


class Numbers(msgspec.Struct):
    """All that one worker has counted."""

    requests: dict[str, int] = {}  # by `operation code`
    seconds: dict[str, Times] = {}
    drawing: Times = msgspec.field(default_factory=_times)
    events: dict[str, int] = {}  # by `event reason`
    state: dict[str, int] = {}
    gauges: dict[str, float] = {}
    lost: int = 0
    running: bool = True


class Metrics:
    def __init__(self, service: Service, folder: Path | None) -> None:
        self._service = service
        self._file = folder / f"{secrets.token_hex(8)}.json" if folder else None
        self._numbers = Numbers()
        self._serving = False
        self._operations: dict[str, OperationMetrics] = {}

    def operation_metrics(self, operation: str) -> OperationMetrics:
        """The one of this operation, to be kept where its requests come by."""
        return self._operations.setdefault(operation, OperationMetrics())

    def drawn(self, seconds: float) -> None:
        self._numbers.drawing.add(seconds)

    def numbers(self) -> Numbers:
        """What this worker has counted up to now."""
        service, numbers = self._service, self._numbers
        asked = {
            operation: operation_metrics
            for operation, operation_metrics in self._operations.items()
            if operation_metrics.codes
        }
        numbers.requests = {
            f"{name} {code}": count
            for name, operation_metrics in asked.items()
            for code, count in operation_metrics.codes.items()
        }
        numbers.seconds = {name: counted.times for name, counted in asked.items()}
        numbers.events = dict(_events(service.audit.counts))
        numbers.state = dict(service.state.counts())
        numbers.lost = service.audit.lost
        numbers.gauges = {
            "gatehouse_hash_pending": service.hashes.pending,
            "gatehouse_audit_queued": service.audit.queued,
            "gatehouse_memory_peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        }
        return numbers

    def write(self) -> None:
        if self._file is not None:
            aside = self._file.with_suffix(".new")
            aside.write_bytes(msgspec.json.encode(self.numbers()))
            aside.replace(self._file)

    async def write_forever(self) -> None:
        """Keep the file fresh, and the address of the metrics served by one worker or another."""
        while True:
            self.write()
            self._serve_elsewhere()
            await asyncio.sleep(WRITE_SECONDS)

    def close(self) -> None:
        self._numbers.running = False
        self.write()

    def text(self) -> bytes:
        """Everything in the format that Prometheus reads."""
        from gatehouse.api.telemetry.exposition import exposition  # noqa: PLC0415 - only who is asked for metrics carries it

        others = [read(file) for file in files(self._file.parent) if file != self._file] if self._file else []
        return exposition([self.numbers(), *others])

    def _serve_elsewhere(self) -> None:
        """With an address of their own: the first worker to take it serves them, another if that one dies."""
        address = self._service.settings.metrics
        if self._serving or self._file is None or address in {"on", "off"}:
            return
        from gatehouse.api.telemetry.exposition import serve  # noqa: PLC0415 - as above

        host, _, port = address.rpartition(":")
        self._serving = serve(host.strip("[]"), int(port), self._file.parent)


def _events(counts: Mapping[tuple[str, str], int]) -> Counter[str]:
    """By `event reason`. Whether a name exists is told to the audit trail alone: metrics have more readers."""
    events: Counter[str] = Counter()
    for (event, reason), count in counts.items():
        shown = CREDENTIALS if event == Event.LOGIN_FAILED and reason in _ABOUT_THE_NAME else reason
        events[f"{event} {shown}"] += count
    return events


def files(folder: Path) -> Iterable[Path]:
    return sorted(folder.glob("*.json"))


def read(file: Path) -> Numbers:
    """The numbers of a worker, dead or alive: one that has not written for a while was killed."""
    numbers = msgspec.json.decode(file.read_bytes(), type=Numbers)
    numbers.running = numbers.running and time.time() < file.stat().st_mtime + 5 * WRITE_SECONDS
    return numbers
