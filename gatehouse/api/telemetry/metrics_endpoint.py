"""The metrics of all workers, for Prometheus. `GATEHOUSE_METRICS=off` removes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.api.http.response import Response, raw_response
from gatehouse.api.resource_declaration import Resource

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.api.telemetry.metrics import Metrics


class MetricsEndpoint:
    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    @Resource("/metrics")
    async def metrics(self, _request: Request) -> Response:
        return raw_response(self._metrics.text(), "text/plain; version=0.0.4; charset=utf-8")
