"""Where the plain login form is sent, and the form that asks for the code of a second factor.

A login here goes through the same rules as one of the API: captcha, limits, lockout, audit trail, history. It opens no
tokens: it gives the browser a session by cookie, and goes on with what it was for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from gatehouse.api.http.request import read_fields
from gatehouse.api.http.response import redirect
from gatehouse.api.login.passkey_login import Assertion
from gatehouse.api.login.password_login import LoginBody, login_form
from gatehouse.api.oauth.answers import PageEndpoints, for_people
from gatehouse.api.oauth.sign_in_page import SIGN_IN
from gatehouse.api.resource_declaration import Resource
from gatehouse.auth.login.login import OpenedLogin
from gatehouse.auth.refusals import CodeRequired, PasskeyRefused, Refused, RetryLater, TicketGone
from gatehouse.identity_sources.errors import SourceUnavailable

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.api.http.response import Response
    from gatehouse.api.oauth.answers import Answers
    from gatehouse.api.oauth.browser_cookies import BrowserCookies
    from gatehouse.api.oauth.flow_pages import FlowPages
    from gatehouse.api.oauth.flows import Flow, Flows
    from gatehouse.api.oauth.sign_in_page import SignInPage
    from gatehouse.composition import Service
    from gatehouse.stores.state.protocol import Session


class SignInEndpoints(PageEndpoints):
    def __init__(
        self,
        service: Service,
        *,
        pages: FlowPages,
        answers: Answers,
        flows: Flows,
        cookies: BrowserCookies,
        sign_in: SignInPage,
    ) -> None:
        self._pages = pages
        self._answers = answers
        self._flows = flows
        self._cookies = cookies
        self._sign_in = sign_in
        self._login = service.login
        self._authenticator = service.authenticator
        self._browser_sessions = service.oauth.browser_sessions
        self._form_tokens = service.sign_in.form_tokens
        self._public_url = service.settings.public_url

    @Resource("/oauth2/sign-in", ("POST",))
    @for_people
    async def sign_in(self, request: Request) -> Response:
        form = await request.form()
        flow = await self._flows.read(form.get("next", ""))
        username = form.get("username", "")[:64]
        if not self._is_ours(request, form):
            stale = self._sign_in.page(request, flow).say("notice", "flow.stale")
            return await self._sign_in.show(request, flow, {"username": username, **stale}, status=400)
        if "another" in form:
            return await self._sign_in.show(request, flow, {"username": username})
        before = await self._browser_sessions.of(self._cookies.session(request), request.client)
        try:
            session, factor = await self._log_in(form, request, before)
            return await self._go_on(request, flow, session, factor, before)
        except CodeRequired as refusal:
            if type(refusal) is CodeRequired and refusal.shown is not None:
                ticket = self._login.code_after_password.ticket(refusal.shown, self._cookies.browser(request))
                return self._ask_for_code(request, flow, ticket)
            return await self._sign_in.refuse(request, flow, refusal, username)
        except (Refused, SourceUnavailable) as refusal:
            return await self._sign_in.refuse(request, flow, refusal, username)

    @Resource("/oauth2/factor", ("POST",))
    @for_people
    async def factor(self, request: Request) -> Response:
        form = await request.form()
        flow = await self._flows.read(form.get("next", ""))
        ticket, browser = form.get("ticket", ""), self._cookies.browser(request)
        before = await self._browser_sessions.of(self._cookies.session(request), request.client)
        try:
            if not self._is_ours(request, form):
                raise TicketGone("not a form of this browser")
            session, factor = await self._login.code_after_password.log_in(
                ticket, form.get("otpCode", ""), browser, request.client, before
            )
            return await self._go_on(request, flow, session, factor, before)
        except (CodeRequired, RetryLater) as refusal:
            return self._ask_for_code(request, flow, ticket, refusal)
        except Refused as refusal:
            return await self._sign_in.refuse(request, flow, refusal, flow.username)

    def _is_ours(self, request: Request, form: dict[str, str]) -> bool:
        return self._form_tokens.fits(form.get("form", ""), self._cookies.browser(request), SIGN_IN)

    async def _log_in(self, form: dict[str, str], request: Request, before: Session | None) -> OpenedLogin:
        if "credential" not in form:
            return await self._login.password.log_in(login_form(read_fields(form, LoginBody)), request.client, before)
        try:
            credential = msgspec.json.decode(form["credential"], type=Assertion)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise PasskeyRefused("not what a passkey answers") from None
        session = await self._login.passkey.log_in(msgspec.to_builtins(credential), request.client, before)
        return OpenedLogin(session, "passkey")

    def _ask_for_code(
        self, request: Request, flow: Flow, ticket: str, refusal: CodeRequired | RetryLater | None = None
    ) -> Response:
        page = self._pages.page(request, flow.locales)
        said: dict[str, str] = {}
        if isinstance(refusal, RetryLater):
            said = page.tell("code_problem", refusal)
        elif refusal is not None:
            said = page.say("code_problem", "login.code.again")
        values = {
            "form": self._form_tokens.make(self._cookies.browser(request), SIGN_IN),
            "next": flow.next,
            "app": flow.app,
            "ticket": ticket,
            "again": self._public_url + flow.next,
            **said,
        }
        status = 200 if refusal is None else 429 if isinstance(refusal, RetryLater) else 400
        return page.show("factor", values, status=status, target=flow.target)

    async def _go_on(
        self, request: Request, flow: Flow, session: Session, factor: str | None, before: Session | None
    ) -> Response:
        await self._authenticator.admit(session, request.client, factor)
        cookie = await self._browser_sessions.replace(before, session, request.client)
        return redirect(self._public_url + flow.next, self._cookies.set_session(cookie), status=303)
