"""The authorization endpoint: an application sends somebody's browser here, and gets it back with a code.

It decides anew each time: after the sign-in and after the consent the browser comes here again with the same request.
"""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from gatehouse.api.error_catalogue import BodyUnreadable, UnsupportedMediaType
from gatehouse.api.http.response import redirect
from gatehouse.api.oauth.flows import AUTHORIZE
from gatehouse.api.oauth.page_endpoints import PageEndpoints, for_people
from gatehouse.api.resource_declaration import Resource
from gatehouse.auth.oauth.authorization_decision import Refusal, Step, scopes_to_allow
from gatehouse.auth.oauth.errors import PageProblem, PageRefusal
from gatehouse.auth.refusals import FieldInvalid

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.api.http.response import Response
    from gatehouse.api.oauth.flows import Flow
    from gatehouse.api.oauth.page_endpoints import FlowParts
    from gatehouse.auth.oauth.authorization import LoggedIn
    from gatehouse.auth.oauth.authorization_requests import AuthorizationRequest
    from gatehouse.composition import Service


class AuthorizeEndpoints(PageEndpoints):
    def __init__(self, service: Service, parts: FlowParts) -> None:
        super().__init__(service, parts)
        self._requests = service.oauth.requests

    @Resource(AUTHORIZE, ("GET",))
    @for_people
    async def authorize(self, request: Request) -> Response:
        try:
            parameters = request.query_once()
        except FieldInvalid:
            raise PageRefusal(PageProblem.UNREADABLE) from None
        asked, client = await self._requests.read(parameters)
        who = await self._logged_in(request)
        step = await self._authorization.next_step(asked, client, who)
        if isinstance(step, Refusal):
            raise asked.refusal(*step)
        if who is not None and step is Step.CODE:
            return self.parts.answers.code(request, asked, await self._authorization.code(asked, who.session))
        flow = self.parts.flows.of(asked, client)
        if who is not None and step is Step.CONSENT:
            return self._ask_for_consent(request, flow, asked, who)
        name = flow.username or (who.profile.user.username if who else "")
        return await self.parts.sign_in.show(request, flow, {"username": name})

    @Resource(AUTHORIZE, ("POST",))
    @for_people
    async def authorize_by_form(self, request: Request) -> Response:
        """Our cookies do not come with a form of another site, so the browser is sent here again."""
        try:
            parameters = await request.form_once()
        except (BodyUnreadable, FieldInvalid, UnsupportedMediaType):
            raise PageRefusal(PageProblem.UNREADABLE) from None
        asked, client = await self._requests.read(parameters)
        return redirect(self._public_url + self.parts.flows.of(asked, client).next, status=303)

    @Resource("/oauth2/consent", ("POST",))
    @for_people
    async def consent(self, request: Request) -> Response:
        form = await request.form()
        asked, client = await self.parts.flows.request_of(form.get("next", ""))
        flow = self.parts.flows.of(asked, client)
        who = await self._logged_in(request)
        browser = self.parts.cookies.browser(request)
        if who is None or not self._form_tokens.fits(form.get("form", ""), browser, _consent_of(who)):
            return redirect(self._public_url + flow.next, status=303)  # to be asked again, or to sign in
        answer = form.get("answer", "")
        if answer == "switch":
            return await self.parts.sign_in.show(request, flow)
        if answer != "allow":
            raise asked.refusal("access_denied", "the person did not allow it")
        await self._authorization.consent(asked, client, who.session.user)
        return redirect(self._public_url + flow.next, status=303)

    def _ask_for_consent(self, request: Request, flow: Flow, asked: AuthorizationRequest, who: LoggedIn) -> Response:
        page = self.parts.pages.page(request, flow.locales)
        browser, cookies = self.parts.cookies.with_browser(request)
        scopes = "".join(
            f'<li data-t="flow.scope.{scope}">{html.escape(page.words(f"flow.scope.{scope}"))}</li>'
            for scope in scopes_to_allow(asked)
        )
        values = {
            "form": self._form_tokens.make(browser, _consent_of(who)),
            "next": flow.next,
            "app": flow.app,
            "username": who.profile.user.username,
        }
        return page.show("consent", values, target=flow.target, parts={"scopes": scopes}, headers=cookies)


def _consent_of(who: LoggedIn) -> str:
    """What its form token is good for: the consent of one person in one login."""
    return f"consent {who.session.id} {who.session.opened!r}"
