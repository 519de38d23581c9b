"""An application that shows with what somebody comes back to it, on an origin of its own."""

from __future__ import annotations

import asyncio
import html
import threading
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlencode

from gatehouse.auth.oauth.definitions import ClientConfig
from gatehouse.composition import Service
from gatehouse.management.authority import OPERATOR
from gatehouse.management.oauth_clients import ClientDraft
from gatehouse.settings import load
from tests.support.running import Running

PAGE = (
    '<!doctype html><html lang="en"><title>An application</title><link rel="icon" href="data:,">'
    '<h1>Welcome</h1><p id="got">{}'
)


class RelyingParty:
    def __init__(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self.elsewhere = ""  # where its callback sends the browser on to, if anywhere

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
        party = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if party.elsewhere and self.path.startswith("/callback"):
                    self.send_response(302)
                    self.send_header("Location", f"{party.elsewhere}/home")
                    self.end_headers()
                else:
                    self._show(self.path.partition("?")[2])

            def do_POST(self) -> None:
                self._show(self.rfile.read(int(self.headers["Content-Length"])).decode())

            def _show(self, got: str) -> None:
                body = PAGE.format(html.escape(f"{self.command} {got}")).encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None: ...

        return Handler

    def register(self, running: Running, client_id: str = "app", name: str = "Grafana", **config: Any) -> str:
        """Its secret."""
        given = {"redirect_uris": (f"{self.url}/callback",), "post_logout_redirect_uris": (f"{self.url}/bye",)}
        draft = ClientDraft(name=name, config=ClientConfig(**{**given, **config}))

        async def add() -> str:
            service = Service(load(environ=running.env))
            try:
                return await service.management.client_changes.add(OPERATOR, client_id, draft) or ""
            finally:
                await service.stop()

        with ThreadPoolExecutor(1) as thread:  # Playwright's loop has this one
            return thread.submit(asyncio.run, add()).result()

    def exchange(self, running: Running, got: str, client_id: str, secret: str) -> None:
        """Its server gets tokens for the code that somebody has brought."""
        [code] = parse_qs(got.partition(" ")[2])["code"]
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": f"{self.url}/callback"}
        with running.client(auth=(client_id, secret)) as client:
            assert client.post("/oauth2/token", data=form).status_code == 200

    def asks(self, **changes: str) -> str:
        """The path and query that it sends a browser to."""
        asked = {
            "client_id": "app",
            "redirect_uri": f"{self.url}/callback",
            "response_type": "code",
            "scope": "openid",
            "state": "a-state",
            "nonce": "a-nonce",
            **changes,
        }
        return f"/oauth2/authorize?{urlencode(asked)}"
