"""Refresh and logout. A proof of who calls is the token itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from gatehouse.api.http.browser_cookies import BrowserCookies
from gatehouse.api.http.request import Request, either
from gatehouse.api.http.response import Response, success
from gatehouse.api.login.token_data import TokenData, tokens_response
from gatehouse.api.operation_declaration import JSON, MULTIPART, URLENCODED, Alias, Limit, Operation
from gatehouse.auth.refusals import FieldMissing, RefreshTokenInvalid
from gatehouse.identity_sources.errors import SourceUnavailable

if TYPE_CHECKING:
    from gatehouse.auth.audit import ClientInfo
    from gatehouse.composition import Service

RefreshToken = Annotated[str, Meta(min_length=1, max_length=1024)]


class RefreshBody(Struct):
    """Variant A. In variant B the token comes as the query parameter of the same name."""

    refreshToken: RefreshToken | None = None


class RefreshQuery(Struct):
    refreshToken: RefreshToken | None = None


class RefreshAndLogoutEndpoints:
    def __init__(self, service: Service) -> None:
        self._authenticator = service.authenticator
        self._provider_logout = service.login.provider_logout
        self._browser_sessions = service.oauth.browser_sessions
        self._entry = service.sign_in.console_entry
        self._cookies = BrowserCookies(service.settings.public_url)

    @Operation(
        "POST",
        "/api/v1/auth/refresh-token",
        "Renew both tokens: the refresh token in the body (variant A) or in the query (variant B)",
        public=True,
        query=RefreshQuery,
        body=RefreshBody,
        takes=(JSON, URLENCODED, MULTIPART),
        data=TokenData,
        limits=(Limit.REFRESH_ADDRESS,),
        refusals=(RefreshTokenInvalid, SourceUnavailable),
        description="A sends the refresh token in a JSON body, B as the query parameter `refreshToken` without a body. "
        "Either way a whole new token set comes back and the old refresh token is replaced.",
        body_examples={"A": {"refreshToken": ""}},
        query_examples={"B": {"refreshToken": ""}},
    )
    async def refresh(self, request: Request) -> Response:
        body = await request.fields(RefreshBody, forms=True)
        token = either("refreshToken", body.refreshToken, *request.query("refreshToken"))
        if not token:
            raise FieldMissing("refreshToken")
        return tokens_response(await self._authenticator.refresh(token, request.client), request.language)

    @Operation(
        "POST",
        "/api/v1/auth/logout",
        "End the session (variant A)",
        aliases=(Alias("DELETE", "/api/v1/auth/logout", "End the session (variant B)"),),
        checks_token_itself=True,  # it needs the session alone, and works while the accounts are unavailable
        description="A sends `POST`, B sends `DELETE`. From the moment it is answered none of the session's tokens is "
        "accepted. After a login with a provider the answer may have a header `Logout-Location`: an address, good once "
        "and for a minute, where the browser can go on to log out at the provider as well.",
    )
    async def logout(self, request: Request) -> Response:
        claims = await self._authenticator.logout(request.bearer(), request.client)
        answer = success(language=request.language)
        cookie = self._cookies.session(request)
        if cookie and await self._leave_browser(cookie, claims.session, request.client):
            answer.headers = [*answer.headers, self._cookies.end_session()]
        onward = await self._provider_logout.onward(claims, request.client)
        if onward is not None:
            answer.headers = [*answer.headers, ("logout-location", onward)]
        return answer

    async def _leave_browser(self, cookie: str, session: str, client: ClientInfo) -> bool:
        """Whether the session of this browser is the one that has ended. One that it hangs on ends here as well: the
        follower would end it, but a moment later.
        """
        if self._browser_sessions.names(cookie, session):
            return True
        parent = await self._entry.parent_of(session)
        if parent is None or not self._browser_sessions.names(cookie, parent):
            return False
        await self._authenticator.end(parent, client)
        return True
