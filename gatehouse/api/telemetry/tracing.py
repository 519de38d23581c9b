"""Traces for OpenTelemetry: one span a request, sent to a collector. For those who set `TRACES`; others pay nothing.

A span carries what the metrics carry (operation, code, status) and the request id; no path, no query, no token.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from gatehouse.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

    from opentelemetry.trace import Span

    from gatehouse.api.http.request import Request
    from gatehouse.api.http.response import Response

# A method is any word of the caller; OpenTelemetry names the others so.
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}


class Tracer:
    def __init__(self, collector: str) -> None:
        resource = Resource.create({"service.name": "gatehouse", "service.version": __version__})
        self._provider = TracerProvider(resource=resource)
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=f"{collector}/v1/traces")))
        self._tracer = self._provider.get_tracer("gatehouse", __version__)
        self._propagator = TraceContextTextMapPropagator()

    @contextmanager
    def span(self, request: Request, operation: str) -> Iterator[Span]:
        """Below the caller's own span, if the request says which."""
        parent = {name: value for name in ("traceparent", "tracestate") if (value := request.header(name))}
        context = self._propagator.extract(parent)
        method = request.method if request.method in METHODS else "_OTHER"
        attributes = {"http.request.method": method, "gatehouse.request": request.id}
        with self._tracer.start_as_current_span(
            operation, context=context, kind=SpanKind.SERVER, attributes=attributes
        ) as span:
            yield span

    @staticmethod
    def record_response(span: Span, response: Response) -> None:
        span.set_attribute("http.response.status_code", response.status)
        span.set_attribute("gatehouse.code", response.code)
        if response.status >= 500:
            span.set_status(Status(StatusCode.ERROR))

    def close(self) -> None:
        """Send what is left."""
        self._provider.shutdown()
