"""The page on which somebody logs in for an application: a picture and a form token that are made for it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

from gatehouse.api.error_catalogue import entry_for
from gatehouse.auth import refusals
from gatehouse.auth.refusals import FieldInvalid, FieldMissing, RetryLater

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gatehouse.api.http.browser_cookies import BrowserCookies
    from gatehouse.api.http.request import Request
    from gatehouse.api.http.response import Response
    from gatehouse.api.login.captcha import CaptchaPictures
    from gatehouse.api.oauth.flow_pages import FlowPage, FlowPages
    from gatehouse.api.oauth.flows import Flow
    from gatehouse.auth.oauth.form_tokens import FormTokens

SIGN_IN = "sign in"  # what its form token is good for

# Where each refusal is said, as on the login page, and by which words. Any other goes above the button.
_BESIDE: dict[type[Exception], tuple[str, str]] = {
    refusals.CaptchaWrong: ("captcha_problem", "A0240"),
    refusals.CaptchaGone: ("captcha_problem", "A0242"),
    refusals.CredentialsWrong: ("password_problem", "A0210"),
    refusals.PasskeyRefused: ("form_problem", "login.passkey.refused"),
    refusals.TicketGone: ("notice", "login.problem.expired"),
    refusals.PasskeyRequired: ("elsewhere", "flow.passkey"),
    refusals.EnrolmentRequired: ("elsewhere", "flow.enrol"),
    refusals.StrongerLoginRequired: ("elsewhere", "flow.enrol"),
    refusals.CodeRequired: ("elsewhere", "flow.enrol"),
}
_NEEDED = {"username": "username", "password": "password"}


class SignInPage:
    def __init__(
        self, pages: FlowPages, pictures: CaptchaPictures, cookies: BrowserCookies, form_tokens: FormTokens
    ) -> None:
        self._pages = pages
        self._pictures = pictures
        self._cookies = cookies
        self._form_tokens = form_tokens

    def page(self, request: Request, flow: Flow) -> FlowPage:
        return self._pages.page(request, flow.locales)

    async def show(
        self, request: Request, flow: Flow, values: Mapping[str, str] | None = None, *, status: int = 200
    ) -> Response:
        picture = await self._pictures.draw(request)
        browser, cookies = self._cookies.with_browser(request)
        going_on = urlencode({"next": flow.next})
        given = {
            "form": self._form_tokens.make(browser, SIGN_IN),
            "next": flow.next,
            "app": flow.app,
            "console": "" if flow.app else "console",
            "username": flow.username,
            "captcha_id": picture.id,
            "captcha_image": picture.image,
            "elsewhere_url": f"../?{going_on}",
            **(values or {}),
        }
        return self.page(request, flow).show(
            "sign-in",
            given,
            status=status,
            target=flow.target,
            provider_url=lambda name: f"company?provider={name}&{going_on}",
            headers=cookies,
        )

    async def refuse(
        self, request: Request, flow: Flow, refusal: Exception, values: Mapping[str, str] | None = None
    ) -> Response:
        """The page again, with what was wrong beside the field where it was."""
        values = {**(values or {}), **_said(self.page(request, flow), refusal)}
        return await self.show(request, flow, values, status=_status(refusal))

    def ask_for_code(
        self, request: Request, flow: Flow, ticket: Mapping[str, str], refusal: Exception | None = None
    ) -> Response:
        """The page of the second factor. `ticket`: what shows the rest, by the name of its field."""
        page, browser = self.page(request, flow), self._cookies.browser(request)
        said: dict[str, str] = {}
        if isinstance(refusal, RetryLater):
            said = page.tell("code_problem", refusal)
        elif refusal is not None:
            said = page.say("code_problem", "login.code.again")
        form = self._form_tokens.make(browser, SIGN_IN)
        values = {"form": form, "next": flow.next, "app": flow.app, "again": f"..{flow.next}", **ticket, **said}
        return page.show("factor", values, status=_status(refusal) if refusal else 200, target=flow.target)


def _status(refusal: Exception) -> int:
    return entry_for(refusal).status


def _said(page: FlowPage, refusal: Exception) -> dict[str, str]:
    if isinstance(refusal, FieldMissing | FieldInvalid):
        field = _NEEDED.get(refusal.field, "captcha")
        return page.say(f"{field}_problem", f"needed.{field}")
    if type(refusal) in _BESIDE:
        return page.say(*_BESIDE[type(refusal)])
    return page.tell("username_problem" if isinstance(refusal, refusals.NameLocked) else "form_problem", refusal)
