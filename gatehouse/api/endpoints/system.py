"""For operators and other services: health, metrics, keys, the description of the API, the neutral avatar."""

from __future__ import annotations

import asyncio
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from gatehouse.api.contract.openapi import document
from gatehouse.api.http.response import Response, raw_response
from gatehouse.api.pages.files import StaticFile
from gatehouse.auth.keys.algorithms import ALGORITHMS
from gatehouse.auth.keys.key_ring import JWKS_MAX_AGE
from gatehouse.stores.errors import StoreUnavailable

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.api.telemetry.collector import Metrics
    from gatehouse.composition import Service
    from gatehouse.settings import Settings

# A new key is published for longer than this before it signs: `gatehouse.auth.keys.key_ring`.
JWKS_CACHE = f"public, max-age={JWKS_MAX_AGE}"
READY_SECONDS = 2.0

AVATAR = b"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" role="img" aria-label="avatar">
<rect width="64" height="64" fill="#c3cfdd"/><circle cx="32" cy="25" r="12" fill="#fff"/>
<path d="M10 60c2-14 11-21 22-21s20 7 22 21z" fill="#fff"/></svg>
"""


class SystemEndpoints:
    def __init__(self, service: Service, metrics: Metrics) -> None:
        self._database = service.database
        self._state = service.state
        self._ring = service.key_ring
        self._metrics = metrics
        self._settings = service.settings
        self._metadata = msgspec.json.encode(metadata(service.settings))

    @cached_property
    def _openapi(self) -> StaticFile:
        """Half a megabyte, and a twentieth compressed: made when it is first asked for, which few workers ever are."""
        described = msgspec.json.format(msgspec.json.encode(document(self._settings)), indent=1)
        return StaticFile(described, ".json", cache="no-cache")

    async def live(self, _request: Request) -> Response:
        return raw_response(b'{"status":"live"}', "application/json")

    async def ready(self, _request: Request) -> Response:
        checks = {"accounts": self._database.ping(), "state": self._state.ping()}
        results = await asyncio.gather(*(_answers(check) for check in checks.values()))
        state = dict(zip(checks, ("up" if up else "down" for up in results), strict=True))
        return raw_response(
            msgspec.json.encode({"status": "ready" if all(results) else "not ready", **state}),
            "application/json",
            status=200 if all(results) else 503,
        )

    async def jwks(self, _request: Request) -> Response:
        return raw_response(msgspec.json.encode(self._ring.jwks()), "application/json", cache=JWKS_CACHE)

    async def metadata(self, _request: Request) -> Response:
        return raw_response(self._metadata, "application/json", cache=JWKS_CACHE)

    async def metrics(self, _request: Request) -> Response:
        return raw_response(self._metrics.text(), "text/plain; version=0.0.4; charset=utf-8")

    async def openapi(self, request: Request) -> Response:
        return self._openapi.response_to(request)

    async def avatar(self, _request: Request) -> Response:
        return raw_response(AVATAR, "image/svg+xml", cache="public, max-age=86400")


def metadata(settings: Settings) -> dict[str, object]:
    """What a verifying service needs to find the keys, by RFC 8414. There are no OAuth grants, and the lists say so."""
    issuer = settings.public_url
    return {
        "issuer": issuer,
        "jwks_uri": f"{issuer}/.well-known/jwks.json",
        "introspection_endpoint": f"{issuer}/oauth2/introspect",
        "introspection_endpoint_auth_methods_supported": ["client_secret_basic"],
        "response_types_supported": [],
        "grant_types_supported": [],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": list(ALGORITHMS),
    }


async def _answers(check: object) -> bool:
    try:
        await asyncio.wait_for(check, READY_SECONDS)  # type: ignore[arg-type]
    except (StoreUnavailable, TimeoutError):
        return False
    return True
