"""A small test issuer on the loopback: JWKS, the feed of ended sessions, introspection and the table of tokens.

It is no login service. Its introspection knows only which sessions have ended and calls every other token active, so
that an adapter which forgets a check of its own is found out.
"""

from __future__ import annotations

import base64
import binascii
import json
import time
from contextlib import suppress
from dataclasses import asdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from tokens import (
    EARLIER_AGE,
    EARLIER_SESSION,
    ENDED_SESSION,
    GAP_AGE,
    MISSED_SESSION,
    Signers,
    Table,
    header,
    make,
    token,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

KEEP = 7260
LOWER_KEEP = 60
# The node that sends the feed has a clock that is ahead: what is forgotten goes by the clock that checks `exp`.
CLOCK_AHEAD = KEEP
# By so much each event is later than the one before, once the feed is held back.
HELD_BACK_SECONDS = 3


class Issuer:
    def __init__(self, port: int) -> None:
        self.signers = Signers()
        self.url = f"http://127.0.0.1:{port}"
        self.fetched_from_attacker: list[str] = []
        self.held_back = 0  # how often
        self._server = ThreadingHTTPServer(("127.0.0.1", port), type("OwnHandler", (Handler,), {"issuer": self}))
        self._server.daemon_threads = True

    def serve(self) -> None:
        self._server.serve_forever()

    def page(self, path: str) -> Any:
        if path.startswith("/attacker/"):
            self.fetched_from_attacker.append(path)
            return self.signers.attackers_jwks()
        pages = {
            "/.well-known/jwks.json": self.signers.jwks,
            "/tokens": lambda: [asdict(row) for row in make(self.signers, self.url)],
            "/late-token": self._late_token,
            "/fetched-from-attacker": lambda: self.fetched_from_attacker,
        }
        return pages[path]() if path in pages else None

    def feed(self) -> Iterator[bytes]:
        """Two sessions have ended, what happened before a while ago is not known; then a position every second.

        Once it is held back, each position is later than the one before, and only a new connection has the news.
        """
        now, connected, late = time.time(), self.held_back, 0
        yield event("gap", {"missing_before": now - GAP_AGE})
        yield event("ended", {"sid": EARLIER_SESSION, "sub": "7", "at": now - EARLIER_AGE, "reason": "logout"})
        yield event("ended", {"sid": ENDED_SESSION, "sub": "7", "at": now, "reason": "logout"})
        for number in range(connected):
            yield event("ended", {"sid": late_session(number), "sub": "7", "at": now, "reason": "logout"})
        yield position(KEEP)
        while True:
            if self.held_back > connected:
                late += HELD_BACK_SECONDS
            yield position(LOWER_KEEP, late)
            time.sleep(1)

    def inactive_sessions(self) -> set[str]:
        return {ENDED_SESSION, MISSED_SESSION, EARLIER_SESSION, *map(late_session, range(self.held_back))}

    def _late_token(self) -> str:
        """Good until the feed is held back the next time."""
        key = self.signers.ec
        return token(header(key), Table(self.url).claims(sid=late_session(self.held_back)), key.sign)

    def __enter__(self) -> Issuer:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.server_close()


def late_session(number: int) -> str:
    return f"7-late-{number}"


def unchecked_claims(given: str) -> dict[str, Any]:
    """Read without any check: this issuer is asked about sessions only."""
    try:
        body = given.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    except (IndexError, ValueError, binascii.Error):
        return {}
    return claims if isinstance(claims, dict) else {}


def introspection(given: str, inactive_sessions: set[str]) -> dict[str, Any]:
    claims = unchecked_claims(given)
    if claims.get("sid") in inactive_sessions:
        return {"active": False}
    username = claims.get("preferred_username", "")
    return {"perms": [], **claims, "active": True, "token_type": "Bearer", "username": username}


def position(keep: int, late: int = 0) -> bytes:
    return event("position", {"at": time.time() + CLOCK_AHEAD - late, "keep": keep})


def event(name: str, data: object) -> bytes:
    return f"event: {name}\nid: 1:1\ndata: {json.dumps(data)}\n\n".encode()


class Handler(BaseHTTPRequestHandler):
    issuer: Issuer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path.startswith("/events/ended-sessions/stream"):
            return self._stream() if self._has_service_key() else self._answer(401, None)
        page = self.issuer.page(self.path)
        return self._answer(404 if page is None else 200, page)

    def do_POST(self) -> None:
        form = parse_qs(self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode())
        if self.path == "/hold-back":
            self.issuer.held_back += 1
            return self._answer(200, None)
        if self.path != "/oauth2/introspect":
            return self._answer(404, None)
        if not self._has_service_key():
            return self._answer(401, {"error": "invalid_client"})
        return self._answer(200, introspection(form.get("token", [""])[0], self.issuer.inactive_sessions()))

    def _has_service_key(self) -> bool:
        return self.headers.get("Authorization", "").startswith("Bearer ghs_")

    def _stream(self) -> None:
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        with suppress(OSError):
            for told in self.issuer.feed():
                self.wfile.write(told)

    def _answer(self, status: int, page: object) -> None:
        body = json.dumps(page).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Silent: what it is asked is of no interest."""
