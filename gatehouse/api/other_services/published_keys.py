"""For services that verify tokens themselves, and for applications: the public keys (JWKS), and what there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from gatehouse.api.http.response import Response, raw_response
from gatehouse.api.oauth.application_requests import ApplicationEndpoints, for_applications
from gatehouse.api.resource_declaration import Resource
from gatehouse.auth.keys.key_ring import JWKS_MAX_AGE
from gatehouse.auth.oauth.authorization_requests import PROMPTS, RESPONSE_MODES
from gatehouse.auth.oauth.client_authentication import ASSERTION_ALGORITHMS
from gatehouse.auth.oauth.definitions import ID_TOKEN_ALGORITHMS, Scope
from gatehouse.auth.oauth.id_tokens import ACR_VALUES
from gatehouse.auth.oauth.scope_claims import SCOPE_OF
from gatehouse.messages import languages

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.composition import Service
    from gatehouse.settings import Settings

# A new key is published for longer than this before it signs: `gatehouse.auth.keys.key_ring`.
JWKS_CACHE = f"public, max-age={JWKS_MAX_AGE}"
_METHODS = ("GET", "HEAD", "OPTIONS")


class PublishedKeyEndpoints(ApplicationEndpoints):
    def __init__(self, service: Service) -> None:
        super().__init__(service)
        self._ring = service.key_ring
        self._metadata = msgspec.json.encode(metadata(service.settings))

    @Resource("/.well-known/jwks.json", _METHODS)
    @for_applications
    async def jwks(self, _request: Request) -> Response:
        return raw_response(msgspec.json.encode(await self._ring.jwks()), "application/json", cache=JWKS_CACHE)

    # Most libraries look first where OpenID Connect has it.
    @Resource("/.well-known/oauth-authorization-server", _METHODS, also_at="/.well-known/openid-configuration")
    @for_applications
    async def metadata(self, _request: Request) -> Response:
        return raw_response(self._metadata, "application/json", cache=JWKS_CACHE)


def metadata(settings: Settings) -> dict[str, object]:
    """What is supported, and nothing else (RFC 8414, OpenID Connect Discovery 3)."""
    issuer = settings.public_url
    secrets = ["client_secret_basic", "client_secret_post", "private_key_jwt"]
    assertions = list(ASSERTION_ALGORITHMS)
    return {
        "issuer": issuer,
        "authorization_endpoint": f"{issuer}/oauth2/authorize",
        "token_endpoint": f"{issuer}/oauth2/token",
        "pushed_authorization_request_endpoint": f"{issuer}/oauth2/par",
        "userinfo_endpoint": f"{issuer}/oauth2/userinfo",
        "introspection_endpoint": f"{issuer}/oauth2/introspect",
        "revocation_endpoint": f"{issuer}/oauth2/revoke",
        "end_session_endpoint": f"{issuer}/oauth2/logout",
        "jwks_uri": f"{issuer}/.well-known/jwks.json",
        "response_types_supported": ["code"],
        "response_modes_supported": list(RESPONSE_MODES),
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
        "require_pushed_authorization_requests": False,
        "request_parameter_supported": False,
        "request_uri_parameter_supported": False,
        "claims_parameter_supported": True,
        "prompt_values_supported": list(PROMPTS),
        "acr_values_supported": list(ACR_VALUES),
        "ui_locales_supported": list(languages()),
        "scopes_supported": [scope.value for scope in Scope],
        "claims_supported": ["iss", "sub", "aud", "exp", "iat", "auth_time", "nonce", "acr", "amr", "sid", *SCOPE_OF],
        "claim_types_supported": ["normal"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": list(ID_TOKEN_ALGORITHMS),
        "token_endpoint_auth_methods_supported": [*secrets, "none"],
        "token_endpoint_auth_signing_alg_values_supported": assertions,
        "revocation_endpoint_auth_methods_supported": [*secrets, "none"],
        "revocation_endpoint_auth_signing_alg_values_supported": assertions,
        "introspection_endpoint_auth_methods_supported": secrets,
        "introspection_endpoint_auth_signing_alg_values_supported": assertions,
        "backchannel_logout_supported": True,
        "backchannel_logout_session_supported": True,
    }
