"""A stand-in for the service's key page that counts who asks, and tokens of every kind, good and bad."""

from __future__ import annotations

import base64
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.support.waiting import PATIENCE

ISSUER = "https://login.example.com"


class Key:
    def __init__(self, kid: str) -> None:
        self.kid = kid
        self.private = Ed25519PrivateKey.generate()
        self.raw = self.private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)

    @property
    def jwk(self) -> dict[str, str]:
        x = base64.urlsafe_b64encode(self.raw).rstrip(b"=").decode()
        return {"kty": "OKP", "crv": "Ed25519", "kid": self.kid, "x": x, "alg": "EdDSA", "use": "sig"}


class Issuer:
    """Serves a JWKS on the loopback. `hold` lets the fetch that is under way wait, to crowd others behind it."""

    def __init__(self) -> None:
        self.keys = [Key("first")]
        self.fetches = 0
        self.hold = threading.Event()
        self.hold.set()
        self.broken = False
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                issuer.fetches += 1
                issuer.hold.wait(PATIENCE)
                body = b"out of order" if issuer.broken else json.dumps({"keys": [k.jwk for k in issuer.keys]}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/jwks"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    def token(self, key: Key | None = None, *, headers: dict[str, Any] | None = None, **changes: Any) -> str:
        key = key or self.keys[0]
        now = int(time.time())
        claims = {
            "iss": ISSUER, "aud": "gatehouse", "sub": "7", "sid": "7-abc", "jti": "x", "iat": now,
            "exp": now + 600, "roles": ["EDITOR"], **changes,
        }  # fmt: skip
        claims = {name: value for name, value in claims.items() if value is not None}
        return jwt.encode(claims, key.private, "EdDSA", headers={"kid": key.kid, "typ": "at+jwt", **(headers or {})})

    def away(self) -> None:
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()

    def __enter__(self) -> Issuer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.hold.set()
        self.away()
