"""Token introspection (RFC 7662): tells another service whether an access token is valid right now."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING

import msgspec

from gatehouse.api.error_catalogue import BodyTooLarge, BodyUnreadable
from gatehouse.api.http.response import Response, raw_response
from gatehouse.api.resource_declaration import Resource
from gatehouse.auth.refusals import AccessTokenInvalid

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.auth.sessions.tokens import Claims
    from gatehouse.composition import Service

INACTIVE = b'{"active":false}'


class IntrospectionEndpoint:
    def __init__(self, service: Service) -> None:
        self._authenticator = service.authenticator
        self._service_keys = service.service_keys
        self._issuer = service.settings.public_url
        self._audience = service.settings.audience

    @Resource("/oauth2/introspect", ("POST",))
    async def introspect(self, request: Request) -> Response:
        if await self._service_keys.owner(service_key(request)) is None:
            return unknown_service("introspection")
        try:
            form = await request.form()
        except (BodyUnreadable, BodyTooLarge):
            form = {}
        if "token" not in form:
            return bad_request()
        return raw_response(await self._introspect(form["token"]), "application/json")

    async def _introspect(self, token: str) -> bytes:
        """A token that is not valid is inactive; the reason is not disclosed (RFC 7662, 2.2)."""
        try:
            principal = await self._authenticator.authenticate(token)
        except AccessTokenInvalid:
            return INACTIVE
        profile = principal.profile
        return msgspec.json.encode(
            {
                "active": True,
                "token_type": "Bearer",
                "sub": str(profile.user.id),
                "username": profile.user.username,
                "sid": principal.claims.session,
                "roles": profile.roles,
                "perms": profile.perms,
                "iss": self._issuer,
                "aud": self._audience,
                "iat": int(principal.claims.issued),
                "exp": int(principal.claims.expires),
                **_proof(principal.claims),
            }
        )


def _proof(claims: Claims) -> dict[str, object]:
    """How and when the session was proven; a token that 0.1.0 has issued does not say."""
    if claims.authenticated is None:
        return {}
    return {"auth_time": int(claims.authenticated), "amr": claims.methods}


def unknown_service(realm: str) -> Response:
    authenticate = ("www-authenticate", f'Bearer realm="{realm}"')
    return raw_response(b'{"error":"invalid_client"}', "application/json", status=401, extra=[authenticate])


def bad_request() -> Response:
    return raw_response(b'{"error":"invalid_request"}', "application/json", status=400)


def service_key(request: Request) -> str | None:
    """As a bearer token, or as the password of HTTP Basic, whose username may be anything."""
    scheme, _, value = (request.header("authorization") or "").partition(" ")
    if scheme.lower() == "bearer":
        return value.strip()
    if scheme.lower() == "basic":
        try:
            return base64.b64decode(value.strip(), validate=True).decode().partition(":")[2]
        except (binascii.Error, UnicodeDecodeError):
            return None
    return None
