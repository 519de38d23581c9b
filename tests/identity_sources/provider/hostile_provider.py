"""A provider that signs what it is told: right answers by default, and whatever a test wants to see refused."""

from __future__ import annotations

import json
import time
from base64 import b64decode
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qs, unquote_plus, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import get_default_algorithms

from gatehouse.common.base64url import base64url
from gatehouse.identity_sources.clients import AuthorizationRequest, ProviderLogin
from gatehouse.identity_sources.definitions import ProviderConfig
from gatehouse.identity_sources.provider.openid_provider import OpenIdProvider
from tests.identity_sources.provider.loopback_server import Asked, LoopbackServer, Reply, json_reply

CLIENT_ID, SECRET = "gate house:1", "s e:c/r+e%t"
CALLBACK = "https://gatehouse.example/callback"
DISCOVERY, KEYS, TOKEN, USERINFO = "/.well-known/openid-configuration", "/jwks", "/token", "/userinfo"
EVENT = "http://schemas.openid.net/event/backchannel-logout"

RSA_KEY = rsa.generate_private_key(65537, 2048)
OTHER_RSA_KEY = rsa.generate_private_key(65537, 2048)
PRIVATE: dict[str, Any] = {
    **dict.fromkeys(("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"), RSA_KEY),
    "ES256": ec.generate_private_key(ec.SECP256R1()),
    "ES384": ec.generate_private_key(ec.SECP384R1()),
    "ES512": ec.generate_private_key(ec.SECP521R1()),
    "EdDSA": ed25519.Ed25519PrivateKey.generate(),
}
ABSENT = object()


def jwk(private: Any, algorithm: str, **members: Any) -> dict[str, Any]:
    public: dict[str, Any] = get_default_algorithms()[algorithm].to_jwk(private.public_key(), as_dict=True)
    public.pop("key_ops", None)
    return {**public, "use": "sig", **members}


class Clock:
    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now


class ShiftedClock:
    """For providers with a clock of their own: the time of day, which a test moves on."""

    shift = 0.0

    def __call__(self) -> float:
        return time.time() + self.shift


class HostileProvider(LoopbackServer):
    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.clock = Clock()
        self.metadata: dict[str, Any] = {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize?tenant=1",
            "token_endpoint": self.url + TOKEN,
            "jwks_uri": self.url + KEYS,
            "userinfo_endpoint": self.url + USERINFO,
            "end_session_endpoint": f"{self.url}/logout",
            "id_token_signing_alg_values_supported": ["RS256", "HS256"],
        }
        self.keys: list[Any] = [jwk(RSA_KEY, "RS256", kid="first")]
        self.userinfo: dict[str, Any] = {"sub": "person-1"}
        self.id_token = ""
        self.callback = CALLBACK
        self.access_token: Any = "an-access-token"
        self.routes = {
            DISCOVERY: lambda _: json_reply(self.metadata),
            KEYS: lambda _: json_reply({"keys": self.keys}),
            TOKEN: self._token,
            USERINFO: lambda _: json_reply(self.userinfo),
        }

    def client(self, **values: Any) -> OpenIdProvider:
        given: dict[str, Any] = {"issuer": self.url, "client_id": CLIENT_ID, **values}
        return OpenIdProvider(ProviderConfig(**given), SECRET, self.clock)

    def claims(self, **changes: Any) -> dict[str, Any]:
        """Of a right ID token, with these changes; `ABSENT` leaves a claim out."""
        claims = {
            "iss": self.url,
            "sub": "person-1",
            "aud": CLIENT_ID,
            "iat": int(self.clock.now),
            "exp": int(self.clock.now) + 300,
            **changes,
        }
        return {name: value for name, value in claims.items() if value is not ABSENT}

    def logout_claims(self, **changes: Any) -> dict[str, Any]:
        return self.claims(**{"jti": "token-1", "sid": "session-1", "events": {EVENT: {}}, **changes})

    async def login(
        self, client: OpenIdProvider, query: dict[str, Any] | None = None, *, token: str = "", **changes: Any
    ) -> ProviderLogin:
        """A login through it, with an ID token that has these changes, or with this one."""
        request = await client.begin(CALLBACK)
        self.id_token = token or sign(self.claims(**{"nonce": request.nonce, **changes}))
        return await client.complete(self.answer(request, **(query or {})), request, CALLBACK)

    def answer(self, request: AuthorizationRequest, **changes: Any) -> dict[str, str]:
        """The query of the callback. The code holds what the token endpoint must know of the request."""
        asked = parse_qs(urlsplit(request.url).query)
        query = {"code": asked["code_challenge"][0], "state": asked["state"][0], **changes}
        return {name: value for name, value in query.items() if value is not ABSENT}

    def _token(self, asked: Asked) -> Reply:
        form = asked.form
        if asked.headers.get("Authorization", "").startswith("Basic "):
            pair = b64decode(asked.headers["Authorization"].removeprefix("Basic ")).decode().split(":")
            known = [unquote_plus(part) for part in pair] == [CLIENT_ID, SECRET]
        else:
            known = form.get("client_id") == CLIENT_ID and form.get("client_secret", SECRET) == SECRET
        if not known:
            return json_reply({"error": "invalid_client"}, 401)
        challenge = base64url(sha256(form["code_verifier"].encode()).digest())
        if form["code"] != challenge or form["redirect_uri"] != self.callback:
            return json_reply({"error": "invalid_grant", "error_description": "no such\ncode"}, 400)
        return json_reply({"access_token": self.access_token, "token_type": "Bearer", "id_token": self.id_token})


def sign(claims: Any, algorithm: str = "RS256", key: Any = None, **header: Any) -> str:
    headers = {"kid": "first", **header}
    return jwt.PyJWS().encode(
        claims if isinstance(claims, bytes) else json.dumps(claims).encode(),
        key or PRIVATE[algorithm],
        algorithm=algorithm,
        headers={name: value for name, value in headers.items() if value is not ABSENT},
    )
