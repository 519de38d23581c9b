"""What an application's server calls: tokens for codes and refresh tokens, pushed requests (RFC 9126), revocation
(RFC 7009).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.api.http.response import JSON, Response
from gatehouse.api.oauth.application_requests import ApplicationEndpoints, for_applications, json_answer
from gatehouse.api.resource_declaration import Resource
from gatehouse.auth.oauth.authorization_requests import PUSHED_SECONDS
from gatehouse.auth.oauth.errors import OAuthRefusal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gatehouse.api.http.request import Request
    from gatehouse.auth.oauth.token_exchange import TokenAnswer
    from gatehouse.composition import Service


class TokenEndpoints(ApplicationEndpoints):
    def __init__(self, service: Service) -> None:
        super().__init__(service)
        self._exchange = service.applications.exchange
        self._requests = service.oauth.requests
        self._pushed = service.oauth.pushed_requests

    @Resource("/oauth2/token", ("POST", "OPTIONS"))
    @for_applications
    async def oauth_token(self, request: Request) -> Response:
        form, client = await self._authenticated(request)
        match _required(form, "grant_type"):
            case "authorization_code":
                _required(form, "code")
                return _tokens(await self._exchange.code(form, client, request.client))
            case "refresh_token":
                _required(form, "refresh_token")
                return _tokens(await self._exchange.refresh(form, client, request.client))
        raise OAuthRefusal("unsupported_grant_type", "grant_type is authorization_code or refresh_token")

    @Resource("/oauth2/par", ("POST", "OPTIONS"))
    @for_applications
    async def oauth_par(self, request: Request) -> Response:
        form, client = await self._authenticated(request)
        if form.get("request_uri"):
            raise OAuthRefusal("invalid_request", "request_uri cannot be pushed")
        request_uri = self._pushed.push(await self._requests.new(form, client))
        return json_answer({"request_uri": request_uri, "expires_in": PUSHED_SECONDS}, status=201)

    @Resource("/oauth2/revoke", ("POST", "OPTIONS"))
    @for_applications
    async def oauth_revoke(self, request: Request) -> Response:
        """Also of what is not one of ours: the application has what it wants (RFC 7009, 2.2)."""
        form, client = await self._authenticated(request)
        await self._exchange.revoke(_required(form, "token"), client, request.client)
        return Response(200, b"", JSON[1:])


def _required(form: Mapping[str, str], name: str) -> str:
    value = form.get(name, "")
    if not value:
        raise OAuthRefusal("invalid_request", f"{name} is missing")
    return value


def _tokens(answer: TokenAnswer) -> Response:
    content = {
        "access_token": answer.access,
        "token_type": "Bearer",
        "expires_in": answer.expires_in,
        "scope": " ".join(answer.scopes),
        "refresh_token": answer.refresh,
        "id_token": answer.id_token,
    }
    return json_answer({name: value for name, value in content.items() if value != ""})
