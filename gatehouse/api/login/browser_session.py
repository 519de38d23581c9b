"""The session of the browser for our pages with scripts: who logs in there is logged in for applications too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.api.http.browser_cookies import BrowserCookies
from gatehouse.api.http.response import Response, success
from gatehouse.api.operation_declaration import Operation
from gatehouse.auth.refusals import AccessTokenInvalid

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.auth.principal import Principal
    from gatehouse.composition import Service


class BrowserSessionEndpoint:
    def __init__(self, service: Service) -> None:
        self._sessions = service.sessions
        self._browser_sessions = service.oauth.browser_sessions
        self._entry = service.sign_in.console_entry
        self._cookies = BrowserCookies(service.settings.public_url)

    @Operation(
        "POST",
        "/api/v1/auth/browser-session",
        "Let this browser be logged in for applications, by a cookie of this session",
        description="For pages of this service: a cookie that another origin cannot use. If the browser has a session "
        "of the same user already, that one goes on with this login and the two end together; one of another user "
        "ends.",
    )
    async def browser_session(self, request: Request, principal: Principal) -> Response:
        session = await self._sessions.touch(principal.claims.session)
        if session is None:
            raise AccessTokenInvalid("the session has just ended")
        before = await self._browser_sessions.without_recheck(self._cookies.session(request))
        if before is not None and before.user == session.user and before.id != session.id:
            session = await self._entry.join(before, session, request.client)
        cookie = await self._browser_sessions.replace(before, session, request.client)
        answer = success(language=request.language)
        answer.headers = [*answer.headers, self._cookies.set_session(cookie)]
        return answer
