"""An HTTP server on the loopback that answers as a test tells it, and remembers what it was asked."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, NamedTuple, Self
from urllib.parse import parse_qs, urlsplit


class Asked(NamedTuple):
    method: str
    path: str
    query: dict[str, str]
    headers: Mapping[str, str]
    body: bytes

    @property
    def form(self) -> dict[str, str]:
        return {name: values[0] for name, values in parse_qs(self.body.decode()).items()}

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Reply(NamedTuple):
    body: bytes
    status: int = 200
    content_type: str = "application/json"
    headers: Mapping[str, str] = {}


def json_reply(value: Any, status: int = 200, **headers: str) -> Reply:
    return Reply(json.dumps(value).encode(), status, headers={k.replace("_", "-"): v for k, v in headers.items()})


Route = Callable[[Asked], Reply]


def _not_found(_: Asked) -> Reply:
    return json_reply({}, 404)


class LoopbackServer:
    """`routes` by path; what is not there is 404. `hold` keeps every answer back until it is set."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.routes: dict[str, Route] = {}
        self.asked: list[Asked] = []
        self.hold = threading.Event()
        self.hold.set()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        if tls:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def times(self, path: str) -> int:
        return sum(asked.path == path for asked in self.asked)

    def stop(self) -> None:
        self.hold.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def _answer(self) -> None:
                parts = urlsplit(self.path)
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                query = {name: values[0] for name, values in parse_qs(parts.query).items()}
                asked = Asked(self.command, parts.path, query, dict(self.headers), body)
                server.asked.append(asked)
                server.hold.wait()
                reply = server.routes.get(parts.path, _not_found)(asked)
                try:
                    self.send_response(reply.status)
                    for name, value in {"Content-Type": reply.content_type, **reply.headers}.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", str(len(reply.body)))
                    self.end_headers()
                    self.wfile.write(reply.body)
                except OSError:
                    pass  # whoever asked has left

            do_GET = do_POST = _answer  # noqa: N815 - as http.server calls them

            def log_message(self, *_: Any) -> None: ...

        return Handler
