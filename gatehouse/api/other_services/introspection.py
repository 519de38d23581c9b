"""Token introspection (RFC 7662): whether an access token is valid right now."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING

import msgspec

from gatehouse.api.error_catalogue import BodyTooLarge, BodyUnreadable
from gatehouse.api.http.response import Response, raw_response
from gatehouse.api.oauth.application_requests import ApplicationEndpoints, for_applications, json_answer
from gatehouse.api.resource_declaration import Resource
from gatehouse.auth.audit import ClientRefusal
from gatehouse.auth.keys.service_keys import PREFIX
from gatehouse.auth.oauth.client_authentication import uses_basic
from gatehouse.auth.oauth.definitions import ClientAuth, Scope
from gatehouse.auth.oauth.errors import InvalidClient, OAuthRefusal
from gatehouse.auth.oauth.id_tokens import acr_of
from gatehouse.auth.refusals import AccessTokenInvalid

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.auth.oauth.application_access import Access
    from gatehouse.auth.sessions.tokens import Claims
    from gatehouse.composition import Service

INACTIVE = b'{"active":false}'


class IntrospectionEndpoint(ApplicationEndpoints):
    """Asked by services that have a key, about our own access tokens; and by applications, about theirs.

    A service does not learn of applications' tokens: what somebody has allowed one of them is no login at another.
    """

    def __init__(self, service: Service) -> None:
        super().__init__(service)
        self._authenticator = service.authenticator
        self._access = service.applications.access
        self._service_keys = service.service_keys
        self._issuer = service.settings.public_url
        self._audience = service.settings.audience

    @Resource("/oauth2/introspect", ("POST",))
    async def introspect(self, request: Request) -> Response:
        key = service_key(request)
        if await self._service_keys.owner(key) is None:
            is_service = request.bearer() is not None or (key or "").startswith(PREFIX)
            return unknown_service("introspection") if is_service else await self._introspect_for_application(request)
        try:
            form = await request.form()
        except (BodyUnreadable, BodyTooLarge):
            form = {}
        if "token" not in form:
            return bad_request()
        return raw_response(await self._introspect(form["token"]), "application/json")

    @for_applications
    async def _introspect_for_application(self, request: Request) -> Response:
        if not uses_basic(request.headers("authorization")) and not request.is_form:
            return unknown_service("introspection")
        form, client = await self._authenticated(request)
        if client.config.auth is ClientAuth.NONE:
            raise InvalidClient(ClientRefusal.METHOD, "a public client cannot introspect tokens")
        if not form.get("token"):
            raise OAuthRefusal("invalid_request", "token is missing")
        try:
            access = await self._access.check(form["token"])
        except AccessTokenInvalid:
            return json_answer({"active": False})
        if access.client.id != client.id:
            return json_answer({"active": False})
        return json_answer(self._of_application(access))

    def _of_application(self, access: Access) -> dict[str, object]:
        claims = access.claims
        return {
            "active": True,
            "token_type": "Bearer",
            "client_id": claims.client_id,
            "scope": " ".join(claims.scopes),
            "sub": str(claims.user),
            **({"username": access.profile.user.username} if Scope.PROFILE in claims.scopes else {}),
            "sid": claims.session,
            **({"roles": access.profile.roles} if Scope.ROLES in claims.scopes else {}),
            "iss": self._issuer,
            "aud": claims.audience,
            "iat": claims.issued,
            "exp": claims.expires,
            "auth_time": claims.authenticated,
            "acr": acr_of(claims.methods),
            "amr": claims.methods,
        }

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
