"""Adds up the counts of all workers and formats them for Prometheus."""

from __future__ import annotations

from collections import Counter
from itertools import accumulate
from typing import TYPE_CHECKING

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.exposition import generate_latest, start_http_server
from prometheus_client.registry import Collector, CollectorRegistry

from gatehouse.api.telemetry.metric_names import HELP
from gatehouse.api.telemetry.worker_counts import BOUNDS, Histogram, WorkerCounts, event_key, read, worker_files
from gatehouse.auth.audit import Event
from gatehouse.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from prometheus_client.metrics_core import Metric


class _WorkersCollector(Collector):
    """What the Prometheus library collects from; the counts are read again each time."""

    def __init__(self, read_all: Callable[[], list[WorkerCounts]]) -> None:
        self._read = read_all

    def collect(self) -> Iterator[Metric]:
        return _metrics(self._read())


def in_prometheus_format(workers: list[WorkerCounts]) -> bytes:
    return generate_latest(_WorkersCollector(lambda: workers))


def serve(host: str, port: int, folder: Path) -> bool:
    """Serve /metrics from the files of all workers; False if the address is taken, as by another worker."""
    registry = CollectorRegistry()
    registry.register(_WorkersCollector(lambda: [read(file) for file in worker_files(folder)]))
    try:
        start_http_server(port, host, registry)
    except OSError:
        return False
    return True


def _metrics(workers: list[WorkerCounts]) -> Iterator[Metric]:
    running = [worker for worker in workers if worker.running]
    requests = _sum(worker.requests for worker in workers)
    events = _sum(worker.events for worker in workers)
    yield _counter("gatehouse_requests", ("operation", "code"), requests)
    yield _histogram("gatehouse_request_seconds", "operation", _times(worker.request_seconds for worker in workers))
    yield _histogram("gatehouse_captcha_draw_seconds", "", _times({"": worker.captcha_seconds} for worker in workers))
    yield _counter("gatehouse_events", ("event", "reason"), events)
    yield _counter("gatehouse_logins", ("outcome",), _logins(events))
    source_logins = _sum(worker.source_logins for worker in workers)
    yield _counter("gatehouse_source_logins", ("source", "outcome"), source_logins)
    yield _counter("gatehouse_sessions_opened", (), {"": events[event_key(Event.LOGIN)]})
    yield _counter("gatehouse_sessions_ended", ("reason",), _reasons(events, Event.SESSION_ENDED))
    yield _counter("gatehouse_state_operations", ("kind",), _sum(worker.state_operations for worker in workers))
    yield _counter("gatehouse_audit_lost", (), {"": sum(worker.audit_lost for worker in workers)})
    for name in ("gatehouse_hash_pending", "gatehouse_audit_queued"):
        yield GaugeMetricFamily(name, HELP[name], value=sum(worker.gauges.get(name, 0) for worker in running))
    peak = "gatehouse_memory_peak_bytes"
    yield GaugeMetricFamily(peak, HELP[peak], value=max(worker.gauges.get(peak, 0) for worker in running))
    yield GaugeMetricFamily("gatehouse_workers", HELP["gatehouse_workers"], value=len(running))
    build = GaugeMetricFamily("gatehouse_build", HELP["gatehouse_build"], labels=["version"])
    build.add_metric([__version__], 1)
    yield build


def _sum(counts: Iterable[dict[str, int]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for each in counts:
        total.update(each)
    return total


def _times(workers: Iterable[dict[str, Histogram]]) -> dict[str, Histogram]:
    total: dict[str, Histogram] = {}
    for worker in workers:
        for label, times in worker.items():
            known = total.setdefault(label, Histogram([0] * len(times.buckets)))
            known.buckets = [a + b for a, b in zip(known.buckets, times.buckets, strict=True)]
            known.total += times.total
    return total


def _logins(events: Counter[str]) -> dict[str, int]:
    return {"success": events[event_key(Event.LOGIN)], **_reasons(events, Event.LOGIN_FAILED)}


def _reasons(events: Counter[str], event: Event) -> dict[str, int]:
    return {name.partition(" ")[2]: count for name, count in events.items() if name.partition(" ")[0] == event}


def _counter(name: str, labels: tuple[str, ...], counts: dict[str, int]) -> Metric:
    family = CounterMetricFamily(name, HELP[name], labels=labels)
    for key, count in sorted(counts.items()):
        family.add_metric(key.split(" ", len(labels) - 1) if labels else [], count)
    return family


def _histogram(name: str, label: str, times: dict[str, Histogram]) -> Metric:
    family = HistogramMetricFamily(name, HELP[name], labels=[label] if label else [])
    edges = [*(str(bound) for bound in BOUNDS), "+Inf"]
    for key, each in sorted(times.items()):
        buckets = list(zip(edges, accumulate(each.buckets), strict=True))
        family.add_metric([key] if label else [], buckets, each.total)
    return family
