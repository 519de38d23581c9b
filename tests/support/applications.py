"""Applications that log their people in here, as far as a logout goes: what they were granted, what they hear."""

from __future__ import annotations

import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

import jwt
import msgspec
from sqlalchemy import insert

from gatehouse.auth.oauth.definitions import ClientConfig
from gatehouse.auth.oauth.grants import new_grant_id
from gatehouse.auth.sessions.tokens import user_of_session
from gatehouse.stores.database.grants import GrantStore, StoredGrant
from gatehouse.stores.database.schema import oauth_clients
from gatehouse.stores.database.sql_engine import Database, new_id
from tests.support.running import free_port
from tests.support.waiting import PATIENCE

FAR_AHEAD = 4_000_000_000.0  # a grant that no clock of a test finds old


class LogoutReceiver:
    """The back-channel of applications: a small HTTP server that can be away, refuse, and take its time.

    The path says which application is told.
    """

    def __init__(self) -> None:
        self.port = free_port()
        self.posts: list[tuple[str, str]] = []  # path and token of every request, whatever it was answered with
        self.answers: dict[str, int] = {}  # by path; 200 else
        self.go_on: dict[str, threading.Event] = {}  # by path: a request waits for it
        self._server: ThreadingHTTPServer | None = None

    def uri(self, client_id: str) -> str:
        return f"http://127.0.0.1:{self.port}/{client_id}"

    def start(self) -> LogoutReceiver:
        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), self._handler())
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def stop(self) -> None:
        for event in self.go_on.values():
            event.set()
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def __enter__(self) -> LogoutReceiver:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def tokens(self, client_id: str) -> list[dict[str, Any]]:
        """The claims of what it was told, not verified."""
        sent = [token for path, token in self.posts if path == f"/{client_id}"]
        return [jwt.decode(token, options={"verify_signature": False}) for token in sent]

    def heard(self, client_id: str) -> Counter[str]:
        """How often it was told of each session."""
        return Counter(claims["sid"] for claims in self.tokens(client_id))

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                form = parse_qs(self.rfile.read(int(self.headers["content-length"])).decode())
                receiver.posts.append((self.path, form["logout_token"][0]))
                if self.path in receiver.go_on:
                    receiver.go_on[self.path].wait(PATIENCE)
                self.send_response(receiver.answers.get(self.path, 200))
                self.send_header("Location", receiver.uri("elsewhere"))
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        return Handler


class Applications:
    """Written into the accounts directly: who they are and what they were granted, as a code flow leaves it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._grants = GrantStore(database)

    async def add(self, client_id: str, *, logout: str = "", **config: Any) -> int:
        packed = msgspec.json.encode(ClientConfig(backchannel_logout_uri=logout, **config)).decode()
        values = {"name": client_id, "enabled": True, "config": packed, "created": 0.0, "changed": 0.0}
        async with self._database.writing() as db:
            return new_id(await db.execute(insert(oauth_clients).values(client_id=client_id, **values)))

    async def grant(self, session: str, client: int) -> str:
        grant = new_grant_id(user_of_session(session))
        await self._grants.add(StoredGrant(grant, session, user_of_session(session), client, "openid", FAR_AHEAD))
        return grant

    async def console(self, session: str, own_session: str) -> None:
        """A console that the browser of this session has opened without a form."""
        await self._grants.add(StoredGrant(own_session, session, user_of_session(session), None, "", FAR_AHEAD))
