"""What one worker has counted for the metrics, and the files in which the workers share it."""

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
    source_logins: dict[str, int] = {}  # by `source outcome`
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
