"""Userinfo (OpenID Connect Core, 5.3): the claims of the scopes that an application was granted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.api.error_catalogue import entry_for
from gatehouse.api.oauth.application_requests import (
    ApplicationEndpoints,
    for_applications,
    json_answer,
    json_error,
)
from gatehouse.api.resource_declaration import Resource
from gatehouse.auth.oauth.definitions import Scope
from gatehouse.auth.oauth.errors import OAuthRefusal
from gatehouse.auth.oauth.scope_claims import user_claims
from gatehouse.auth.refusals import AccessTokenInvalid

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.api.http.response import Response
    from gatehouse.composition import Service


class UserinfoEndpoint(ApplicationEndpoints):
    def __init__(self, service: Service) -> None:
        super().__init__(service)
        self._access = service.applications.access
        self._default_picture = service.settings.avatar_url

    @Resource("/oauth2/userinfo", ("GET", "POST", "OPTIONS"))
    @for_applications
    async def userinfo(self, request: Request) -> Response:
        token = await _token(request)
        if token is None:
            return json_error(401, "invalid_token", "an access token is missing", _challenge())
        try:
            access = await self._access.check(token)
        except AccessTokenInvalid as refusal:
            description = "the access token is not valid any more"
            response = json_error(401, "invalid_token", description, _challenge("invalid_token", description))
            response.code = entry_for(refusal).code
            return response
        if Scope.OPENID not in access.claims.scopes:
            description = "the access token lacks the scope openid"
            return json_error(403, "insufficient_scope", description, _challenge("insufficient_scope", description))
        claims = user_claims(
            access.profile,
            access.claims.scopes,
            access.grant.claims.split(),
            access.client.config,
            self._default_picture,
        )
        return json_answer({"sub": str(access.grant.user), **claims})


async def _token(request: Request) -> str | None:
    """From the header or a form, never from the query, where logs would keep it (RFC 6750, 2)."""
    bearer = request.bearer()
    form = await request.form_once() if request.method == "POST" and request.is_form else {}
    token = form.get("access_token")
    if bearer is not None and token is not None:
        raise OAuthRefusal("invalid_request", "the access token comes twice")
    return bearer if bearer is not None else token


def _challenge(error: str = "", description: str = "") -> tuple[str, str]:
    """Who brings no token is told no error (RFC 6750, 3.1)."""
    detail = f', error="{error}", error_description="{description}"' if error else ""
    return "www-authenticate", f'Bearer realm="gatehouse"{detail}'
