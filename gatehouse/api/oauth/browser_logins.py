"""A login at our pages becomes the session of the browser, and goes on with what it was for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.api.http.response import redirect

if TYPE_CHECKING:
    from gatehouse.api.http.browser_cookies import BrowserCookies
    from gatehouse.api.http.request import Request
    from gatehouse.api.http.response import Response
    from gatehouse.api.oauth.flows import Flow
    from gatehouse.composition import Service
    from gatehouse.stores.state.protocol import Session


class BrowserLogins:
    def __init__(self, service: Service, cookies: BrowserCookies) -> None:
        self._authenticator = service.authenticator
        self._browser_sessions = service.oauth.browser_sessions
        self._cookies = cookies
        self._public_url = service.settings.public_url

    async def current(self, request: Request) -> Session | None:
        """The session before the login, which goes on only for who proves to be its person."""
        return await self._browser_sessions.without_recheck(self._cookies.session(request))

    async def go_on(
        self, request: Request, flow: Flow, before: Session | None, session: Session, factor: str | None
    ) -> Response:
        await self._authenticator.admit(session, request.client, factor)
        cookie = await self._browser_sessions.replace(before, session, request.client)
        return redirect(self._public_url + flow.next, self._cookies.set_session(cookie), status=303)
