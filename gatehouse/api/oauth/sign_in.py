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
from gatehouse.api.oauth.page_endpoints import PageEndpoints, for_people
from gatehouse.api.oauth.sign_in_page import SIGN_IN
from gatehouse.api.resource_declaration import Resource
from gatehouse.auth.login.login import OpenedLogin
from gatehouse.auth.refusals import CodeRequired, PasskeyRefused, Refused, RetryLater, TicketGone
from gatehouse.identity_sources.errors import SourceUnavailable

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.api.http.response import Response
    from gatehouse.api.oauth.flows import Flow
    from gatehouse.api.oauth.page_endpoints import FlowParts
    from gatehouse.composition import Service
    from gatehouse.stores.state.protocol import Session

MAX_USERNAME_LENGTH = 64


class SignInEndpoints(PageEndpoints):
    def __init__(self, service: Service, parts: FlowParts) -> None:
        super().__init__(service, parts)
        self._login = service.login

    @Resource("/oauth2/sign-in", ("POST",))
    @for_people
    async def sign_in(self, request: Request) -> Response:
        form = await request.form()
        flow = await self.parts.flows.read(form.get("next", ""))
        typed = {"username": form.get("username", "")[:MAX_USERNAME_LENGTH]}
        if not self._is_ours(request, form):
            stale = self.parts.sign_in.page(request, flow).say("notice", "flow.stale")
            return await self.parts.sign_in.show(request, flow, typed | stale, status=400)
        if "another" in form:
            return await self.parts.sign_in.show(request, flow, typed)
        before = await self.parts.logins.current(request)
        try:
            session, factor = await self._log_in(form, request, before)
            return await self.parts.logins.go_on(request, flow, before, session, factor)
        except CodeRequired as refusal:
            if type(refusal) is not CodeRequired or refusal.shown is None:
                return await self.parts.sign_in.refuse(request, flow, refusal, typed)
            ticket = self._login.code_after_password.ticket(refusal.shown, self.parts.cookies.browser(request))
            return self.parts.sign_in.ask_for_code(request, flow, {"ticket": ticket})
        except (Refused, SourceUnavailable) as refusal:
            return await self.parts.sign_in.refuse(request, flow, refusal, typed)

    @Resource("/oauth2/sign-in", ("GET",), also_at="/oauth2/factor")
    async def sign_in_alone(self, _request: Request) -> Response:
        """Somebody has kept the address of the page that came after a form: there is nothing to go on with."""
        return redirect(f"{self._public_url}/", status=303)

    @Resource("/oauth2/factor", ("POST",))
    @for_people
    async def factor(self, request: Request) -> Response:
        form = await request.form()
        flow = await self.parts.flows.read(form.get("next", ""))
        tickets = {name: form.get(name, "") for name in ("ticket", "pending")}
        code = "".join(form.get("otpCode", "").split())
        try:
            if not self._is_ours(request, form):
                raise TicketGone("not a form of this browser")
            if tickets["pending"]:
                return redirect(
                    await self._login.company.show_code(tickets["pending"], code, request.client), status=303
                )
            return await self._with_code(request, flow, tickets["ticket"], code)
        except (CodeRequired, RetryLater) as refusal:
            return self.parts.sign_in.ask_for_code(request, flow, tickets, refusal)
        except Refused as refusal:
            return await self.parts.sign_in.refuse(request, flow, refusal)

    def _is_ours(self, request: Request, form: dict[str, str]) -> bool:
        return self._form_tokens.fits(form.get("form", ""), self.parts.cookies.browser(request), SIGN_IN)

    async def _log_in(self, form: dict[str, str], request: Request, before: Session | None) -> OpenedLogin:
        if "credential" not in form:
            body = read_fields(form, LoginBody)
            return await self._login.password.log_in(login_form(body), request.client, before)
        try:
            credential = msgspec.json.decode(form["credential"], type=Assertion)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise PasskeyRefused("not what a passkey answers") from None
        session = await self._login.passkey.log_in(msgspec.to_builtins(credential), request.client, before)
        return OpenedLogin(session, "passkey")

    async def _with_code(self, request: Request, flow: Flow, ticket: str, code: str) -> Response:
        before = await self.parts.logins.current(request)
        session, factor = await self._login.code_after_password.log_in(
            ticket, code, self.parts.cookies.browser(request), request.client, before
        )
        return await self.parts.logins.go_on(request, flow, before, session, factor)
