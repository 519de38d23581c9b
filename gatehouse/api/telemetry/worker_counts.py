"""The metrics: their names (`HELP`), what one worker has counted, and the files in which the workers share it."""

from __future__ import annotations

import time
from bisect import bisect_left
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

WRITE_SECONDS = 1.0
BOUNDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)

# `docs/observing.md` describes each of them; a test fails when one is missing there.
HELP = {
    "gatehouse_requests": "Requests answered, by operation and code",
    "gatehouse_request_seconds": "Time from the request to its answer, by operation",
    "gatehouse_captcha_draw_seconds": "Time to draw one captcha",
    "gatehouse_events": "Audit events, by event and reason",
    "gatehouse_logins": "Logins by outcome",
    "gatehouse_sessions_opened": "Sessions opened",
    "gatehouse_sessions_ended": "Sessions ended, by reason",
    "gatehouse_state_operations": "Operations of the state store, by kind; cached reads are not counted",
    "gatehouse_hash_pending": "Password hashes running or waiting",
    "gatehouse_audit_queued": "Audit events that wait for the database",
    "gatehouse_audit_lost": "Audit events that reached the log but not the database",
    "gatehouse_workers": "Workers that run",
    "gatehouse_memory_peak_bytes": "Largest resident memory of a worker so far",
    "gatehouse_build": "The version that runs",
}


class Histogram(msgspec.Struct):
    """A histogram: how many fell into each bucket, and their sum."""

    buckets: list[int]
    total: float = 0.0

    def add(self, seconds: float) -> None:
        self.buckets[bisect_left(BOUNDS, seconds)] += 1
        self.total += seconds


def new_histogram() -> Histogram:
    return Histogram([0] * (len(BOUNDS) + 1))


class WorkerCounts(msgspec.Struct):
    requests: dict[str, int] = {}  # by `operation code`
    request_seconds: dict[str, Histogram] = {}  # by operation
    captcha_seconds: Histogram = msgspec.field(default_factory=new_histogram)
    events: dict[str, int] = {}  # by `event_key`
    state_operations: dict[str, int] = {}  # by kind
    gauges: dict[str, float] = {}
    audit_lost: int = 0
    running: bool = True


def event_key(event: str, reason: str = "") -> str:
    return f"{event} {reason}"


def worker_files(folder: Path) -> Iterable[Path]:
    return sorted(folder.glob("*.json"))


def read(file: Path) -> WorkerCounts:
    """A worker that has not written for a while counts as dead."""
    counts = msgspec.json.decode(file.read_bytes(), type=WorkerCounts)
    counts.running = counts.running and time.time() < file.stat().st_mtime + 5 * WRITE_SECONDS
    return counts
