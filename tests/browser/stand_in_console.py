"""In place of a console: an origin of its own whose proxy has Gatehouse below `/dev-api`, as the consoles' has.

Its page shows what is kept in the two storages, and nothing else.
"""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self

import httpx

PREFIX = "/dev-api"
PAGE = b'<!doctype html><html lang="en"><title>A console</title><link rel="icon" href="data:,"><h1>A console</h1>'
# Of one connection, and not of the answer.
HOP_BY_HOP = {"transfer-encoding", "connection", "content-length"}


class StandInConsole:
    def __init__(self) -> None:
        self.target = ""  # the URL of Gatehouse
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        console = self

        class Handler(BaseHTTPRequestHandler):
            def _answer(self) -> None:
                if self.path.startswith(PREFIX):
                    self._pass_on()
                else:
                    self._send(200, [("Content-Type", "text/html")], PAGE)

            def _pass_on(self) -> None:
                url = console.target + self.path.removeprefix(PREFIX)
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                with httpx.Client() as client:
                    request = client.build_request(self.command, url, headers=dict(self.headers), content=body)
                    answer = client.send(request, stream=True)
                    headers = [each for each in answer.headers.multi_items() if each[0] not in HOP_BY_HOP]
                    self._send(answer.status_code, headers, b"".join(answer.iter_raw()))

            def _send(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
                self.send_response(status)
                for name, value in headers:
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = _answer  # noqa: N815 - as http.server calls them

            def log_message(self, *_: object) -> None: ...

        return Handler
