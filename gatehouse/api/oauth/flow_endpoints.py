"""The endpoints that people meet on the way into an application, and what they share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.api.oauth.answers import Answers
from gatehouse.api.oauth.authorize import AuthorizeEndpoints
from gatehouse.api.oauth.browser_cookies import BrowserCookies
from gatehouse.api.oauth.flow_pages import FlowPages
from gatehouse.api.oauth.flows import Flows
from gatehouse.api.oauth.sign_in import SignInEndpoints
from gatehouse.api.oauth.sign_in_page import SignInPage

if TYPE_CHECKING:
    from gatehouse.api.login.captcha import CaptchaPictures
    from gatehouse.api.oauth.answers import PageEndpoints
    from gatehouse.api.pages import Pages
    from gatehouse.composition import Service


def flow_endpoints(service: Service, pages: Pages, pictures: CaptchaPictures) -> tuple[PageEndpoints, ...]:
    flow_pages = FlowPages(pages, service.identity.sources)
    cookies = BrowserCookies(service.settings.public_url)
    answers = Answers(flow_pages, service.settings.public_url)
    flows = Flows(service.oauth.requests, service.oauth.pushed_requests)
    sign_in = SignInPage(flow_pages, pictures, cookies, service.sign_in.form_tokens)
    return (
        AuthorizeEndpoints(service, pages=flow_pages, answers=answers, flows=flows, cookies=cookies, sign_in=sign_in),
        SignInEndpoints(service, pages=flow_pages, answers=answers, flows=flows, cookies=cookies, sign_in=sign_in),
    )
