"""Metrics for Prometheus, counted in each worker and served at an address of their own.

A request costs two readings of a clock and two additions. Once a second every worker writes its counts to a file in a
folder that the workers share; the worker that is asked adds up its own counts and the files of the others. The file of
a dead worker stays, so that sums never go down while the service runs. Names: `metric_names.py`.
"""

from __future__ import annotations

import asyncio
import resource
import secrets
from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from gatehouse.api.telemetry.worker_counts import (
    WRITE_SECONDS,
    WorkerCounts,
    event_key,
    new_histogram,
    read,
    worker_files,
)
from gatehouse.auth.audit import Event, LoginFailure

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from gatehouse.composition import Service

# Reasons of a failed login that depend on whether the name exists; they are one label.
CREDENTIALS = "credentials"
_ABOUT_THE_NAME = {
    LoginFailure.PASSWORD,
    LoginFailure.UNKNOWN_NAME,
    LoginFailure.DISABLED,
    LoginFailure.PASSWORD_LOGIN_OFF,
    LoginFailure.DIRECTORY,
    LoginFailure.DIRECTORY_EXPIRED,
    LoginFailure.NOT_ADMITTED,
    LoginFailure.NAME_TAKEN,
}


class OperationMetrics:
    """What one operation has answered: how often which code, and in what time."""

    __slots__ = ("codes", "times")

    def __init__(self) -> None:
        self.codes: Counter[str] = Counter()
        self.times = new_histogram()

    def record_response(self, code: str, seconds: float) -> None:
        self.codes[code] += 1
        self.times.add(seconds)


class Metrics:
    def __init__(self, service: Service, folder: Path | None) -> None:
        self._service = service
        self._file = folder / f"{secrets.token_hex(8)}.json" if folder else None
        self._counts = WorkerCounts()
        self._serving = False
        self._operations: dict[str, OperationMetrics] = {}

    def operation_metrics(self, operation: str) -> OperationMetrics:
        """The counters of one operation; the caller keeps a reference to them."""
        if operation not in self._operations:
            self._operations[operation] = OperationMetrics()
        return self._operations[operation]

    def record_captcha(self, seconds: float) -> None:
        self._counts.captcha_seconds.add(seconds)

    def counts(self) -> WorkerCounts:
        """What this worker has counted so far."""
        service, counts = self._service, self._counts
        asked = {
            operation: operation_metrics
            for operation, operation_metrics in self._operations.items()
            if operation_metrics.codes
        }
        counts.requests = {
            f"{name} {code}": count
            for name, operation_metrics in asked.items()
            for code, count in operation_metrics.codes.items()
        }
        counts.request_seconds = {name: counted.times for name, counted in asked.items()}
        counts.events = dict(_events(service.audit.counts))
        counts.source_logins = {
            f"{source} {outcome}": count for (source, outcome), count in service.identity.sources.counts.items()
        }
        counts.state_operations = dict(service.stores.state.counts())
        counts.audit_lost = service.audit.lost
        counts.gauges = {
            "gatehouse_hash_pending": service.hash_pool.pending,
            "gatehouse_audit_queued": service.audit.queued,
            "gatehouse_memory_peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        }
        return counts

    def write(self) -> None:
        if self._file is not None:
            temporary = self._file.with_suffix(".new")
            temporary.write_bytes(msgspec.json.encode(self.counts()))
            temporary.replace(self._file)

    async def write_forever(self) -> None:
        """Write the file every second, and serve the metrics if no other worker does."""
        while True:
            self.write()
            self._serve_if_free()
            await asyncio.sleep(WRITE_SECONDS)

    def close(self) -> None:
        self._counts.running = False
        self.write()

    def text(self) -> bytes:
        """Everything in the format that Prometheus reads."""
        from gatehouse.api.telemetry.prometheus_format import in_prometheus_format  # noqa: PLC0415 - saves memory in workers that are not asked

        others = [read(file) for file in worker_files(self._file.parent) if file != self._file] if self._file else []
        return in_prometheus_format([self.counts(), *others])

    def _serve_if_free(self) -> None:
        """The first worker to bind the address serves the metrics; if it dies, another takes over."""
        address = self._service.settings.metrics
        if self._serving or self._file is None or address in {"on", "off"}:
            return
        from gatehouse.api.telemetry.prometheus_format import serve  # noqa: PLC0415 - as above

        host, _, port = address.rpartition(":")
        self._serving = serve(host.strip("[]"), int(port), self._file.parent)


def _events(counts: Mapping[tuple[str, str], int]) -> Counter[str]:
    """By `event reason`. Only the audit trail tells whether a name exists, since metrics have more readers."""
    events: Counter[str] = Counter()
    for (event, reason), count in counts.items():
        shown = CREDENTIALS if event == Event.LOGIN_FAILED and reason in _ABOUT_THE_NAME else reason
        events[event_key(event, shown)] += count
    return events
