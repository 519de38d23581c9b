"""For services that verify tokens themselves: the public keys (JWKS), and where they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from gatehouse.api.http.response import Response, raw_response
from gatehouse.api.resource_declaration import Resource
from gatehouse.auth.keys.algorithms import ALGORITHMS
from gatehouse.auth.keys.key_ring import JWKS_MAX_AGE

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.composition import Service
    from gatehouse.settings import Settings

# A new key is published for longer than this before it signs: `gatehouse.auth.keys.key_ring`.
JWKS_CACHE = f"public, max-age={JWKS_MAX_AGE}"


class PublishedKeyEndpoints:
    def __init__(self, service: Service) -> None:
        self._ring = service.key_ring
        self._metadata = msgspec.json.encode(metadata(service.settings))

    @Resource("/.well-known/jwks.json")
    async def jwks(self, _request: Request) -> Response:
        return raw_response(msgspec.json.encode(self._ring.jwks()), "application/json", cache=JWKS_CACHE)

    # Most libraries look first where OpenID Connect has it.
    @Resource("/.well-known/oauth-authorization-server", also_at="/.well-known/openid-configuration")
    async def metadata(self, _request: Request) -> Response:
        return raw_response(self._metadata, "application/json", cache=JWKS_CACHE)


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
