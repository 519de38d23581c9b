"""Traces: what a collector receives."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.support.conversation import ME, REFRESH, bearer, login
from tests.support.local import Local

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


class Collector(BaseHTTPRequestHandler):
    received: list[bytes]

    def do_POST(self) -> None:
        type(self).received.append(self.rfile.read(int(self.headers["content-length"])))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def collector() -> Iterator[HTTPServer]:
    Collector.received = []
    server = HTTPServer(("127.0.0.1", 0), Collector)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def spans() -> list[Span]:
    return [
        span
        for body in Collector.received
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]


def test_each_request_is_a_span_and_holds_no_secret(tmp_path: Path, collector: HTTPServer) -> None:
    url = f"http://127.0.0.1:{collector.server_port}"
    with Local(tmp_path / "data", traces=url) as service, service.client() as client:
        tokens = login(client)
        asked = client.get(ME, headers={**bearer(tokens), "traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"})
        client.post(REFRESH, params={"refreshToken": tokens["refreshToken"] + "x"})
    found = {span.name: span for span in spans()}
    assert {"captcha", "login", "me", "refresh"} <= set(found)
    me = {each.key: each.value for each in found["me"].attributes}
    assert me["gatehouse.request"].string_value == asked.headers["x-request-id"]
    assert (me["http.response.status_code"].int_value, me["gatehouse.code"].string_value) == (200, "00000")
    assert found["me"].trace_id.hex() == TRACE
    everything = b"".join(Collector.received)
    for secret in (tokens["accessToken"], tokens["refreshToken"][-43:]):
        assert secret.encode() not in everything
