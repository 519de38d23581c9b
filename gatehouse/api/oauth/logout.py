"""The end-session endpoint: an application, or a person, ends the session of a browser, and so all that hangs on it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

from gatehouse.api.error_catalogue import BodyUnreadable, UnsupportedMediaType
from gatehouse.api.http.response import redirect
from gatehouse.api.oauth.page_endpoints import PageEndpoints, for_people
from gatehouse.api.resource_declaration import Resource
from gatehouse.auth.oauth.errors import PageProblem, PageRefusal
from gatehouse.auth.refusals import FieldInvalid

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gatehouse.api.http.request import Request
    from gatehouse.api.http.response import Response
    from gatehouse.api.oauth.page_endpoints import FlowParts
    from gatehouse.auth.oauth.authorization import LoggedIn
    from gatehouse.auth.oauth.logout_requests import LogoutRequest
    from gatehouse.composition import Service

LOGOUT = "/oauth2/logout"


class LogoutEndpoints(PageEndpoints):
    def __init__(self, service: Service, parts: FlowParts) -> None:
        super().__init__(service, parts)
        self._requests = service.sign_in.logout_requests
        self._authenticator = service.authenticator

    @Resource(LOGOUT, ("GET",))
    @for_people
    async def oauth_logout(self, request: Request) -> Response:
        try:
            parameters = request.query_once()
        except FieldInvalid:
            raise PageRefusal(PageProblem.UNREADABLE) from None
        return await self._end(request, await self._requests.read(parameters))

    @Resource(LOGOUT, ("POST",))
    @for_people
    async def oauth_logout_by_form(self, request: Request) -> Response:
        """Our own form with an answer; or an application's, without our cookies, so that a question comes by GET."""
        try:
            form = await request.form_once()
        except (BodyUnreadable, FieldInvalid, UnsupportedMediaType):
            raise PageRefusal(PageProblem.UNREADABLE) from None
        if "confirmed" in form:
            return await self._confirmed(request, form)
        asked = await self._requests.read(form)
        if asked.session:
            return await self._end(request, asked)
        query = {
            "client_id": form.get("client_id", "") if asked.redirect_uri else "",
            "post_logout_redirect_uri": asked.redirect_uri,
            "state": asked.state,
            "ui_locales": asked.ui_locales,
        }
        going_on = urlencode({name: value for name, value in query.items() if value})
        return redirect(f"{self._public_url}{LOGOUT}?{going_on}", status=303)

    async def _end(self, request: Request, asked: LogoutRequest) -> Response:
        who = await self._logging_out(request)
        if who is None or who.session.id == asked.session:
            await self._authenticator.end(asked.session, request.client)
            return self._done(request, asked)
        return self._ask(request, asked, who)

    async def _confirmed(self, request: Request, form: Mapping[str, str]) -> Response:
        asked = self._requests.unseal(form.get("then", ""))
        who = await self._logging_out(request)
        if who is None:  # or it is a form of another site, which must not log anybody out
            return redirect(f"{self._public_url}{LOGOUT}", status=303)
        if not self._form_tokens.fits(form.get("form", ""), self.parts.cookies.browser(request), _logout_of(who)):
            return self._ask(request, asked, who)
        await self._authenticator.end(who.session.id, request.client)
        return self._done(request, asked)

    async def _logging_out(self, request: Request) -> LoggedIn | None:
        return await self._authorization.logging_out(self.parts.cookies.session(request), request.client)

    def _ask(self, request: Request, asked: LogoutRequest, who: LoggedIn) -> Response:
        browser, cookies = self.parts.cookies.with_browser(request)
        values = {
            "form": self._form_tokens.make(browser, _logout_of(who)),
            "then": self._requests.seal(asked),
            "username": who.profile.user.username,
            "home": quote(f"{self._public_url}/", safe=""),
        }
        page = self.parts.pages.page(request, asked.ui_locales)
        return page.show("logout", values, target=asked.redirect_uri, headers=cookies)

    def _done(self, request: Request, asked: LogoutRequest) -> Response:
        ended = [self.parts.cookies.end_session()] if self.parts.cookies.session(request) else []
        if not asked.redirect_uri:
            return self.parts.pages.page(request, asked.ui_locales).show("logged-out", {}, headers=ended)
        mark = "&" if "?" in asked.redirect_uri else "?"
        state = f"{mark}{urlencode({'state': asked.state})}" if asked.state else ""
        return redirect(asked.redirect_uri + state, *ended, status=303)


def _logout_of(who: LoggedIn) -> str:
    """What its form token is good for."""
    return f"logout {who.session.id}"
