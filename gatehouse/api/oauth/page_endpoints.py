"""Endpoints that a person meets: whatever is refused, they see a page of ours or come back to the application."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import TYPE_CHECKING, TypeVar, cast

from gatehouse.api.http.browser_cookies import BrowserCookies
from gatehouse.api.oauth.answers import Answers
from gatehouse.api.oauth.browser_logins import BrowserLogins
from gatehouse.api.oauth.flow_pages import FlowPages
from gatehouse.api.oauth.flows import Flows
from gatehouse.api.oauth.sign_in_page import SignInPage
from gatehouse.auth.oauth.errors import PageRefusal, RedirectRefusal
from gatehouse.auth.refusals import Refused
from gatehouse.common.logs import log
from gatehouse.identity_sources.errors import SourceUnavailable
from gatehouse.stores.errors import StoreUnavailable

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.api.http.response import Response
    from gatehouse.api.login.captcha import CaptchaPictures
    from gatehouse.api.pages import Pages
    from gatehouse.auth.oauth.authorization import LoggedIn
    from gatehouse.composition import Service

Serve = TypeVar("Serve", bound=Callable[..., Awaitable["Response"]])


class FlowParts:
    """What these endpoints share."""

    def __init__(self, service: Service, pages: Pages, pictures: CaptchaPictures) -> None:
        self.pages = FlowPages(pages, service.identity.sources)
        self.answers = Answers(self.pages, service.settings.public_url)
        self.cookies = BrowserCookies(service.settings.public_url)
        self.flows = Flows(service.oauth.requests, service.oauth.pushed_requests, service.login.return_addresses)
        self.sign_in = SignInPage(self.pages, pictures, self.cookies, service.sign_in.form_tokens)
        self.logins = BrowserLogins(service, self.cookies)


class PageEndpoints:
    def __init__(self, service: Service, parts: FlowParts) -> None:
        self.parts = parts
        self._form_tokens = service.sign_in.form_tokens
        self._authorization = service.sign_in.authorization
        self._public_url = service.settings.public_url

    async def _logged_in(self, request: Request) -> LoggedIn | None:
        return await self._authorization.logged_in(self.parts.cookies.session(request), request.client)


def for_people(serve: Serve) -> Serve:
    @wraps(serve)
    async def answered(self: PageEndpoints, request: Request) -> Response:
        pages = self.parts.pages
        try:
            return await serve(self, request)
        except RedirectRefusal as refusal:
            return self.parts.answers.refusal(request, refusal)
        except PageRefusal as refusal:
            return pages.page(request).problem(f"flow.problem.{refusal.problem}", refusal.back)
        except (Refused, SourceUnavailable) as refusal:
            return pages.page(request).failure(refusal)
        except StoreUnavailable as outage:
            log.warning("store unavailable", request=request.id, path=request.path, problem=str(outage))
            return pages.page(request).failure(outage)

    return cast("Serve", answered)
