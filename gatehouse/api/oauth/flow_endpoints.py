"""The endpoints that people meet on the way into an application."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.api.oauth.authorize import AuthorizeEndpoints
from gatehouse.api.oauth.company import CompanyEndpoints
from gatehouse.api.oauth.console_entry import ConsoleEntryEndpoint
from gatehouse.api.oauth.logout import LogoutEndpoints
from gatehouse.api.oauth.page_endpoints import FlowParts
from gatehouse.api.oauth.sign_in import SignInEndpoints

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gatehouse.api.login.captcha import CaptchaPictures
    from gatehouse.api.oauth.page_endpoints import PageEndpoints
    from gatehouse.api.pages import Pages
    from gatehouse.composition import Service

ENDPOINTS = (AuthorizeEndpoints, SignInEndpoints, CompanyEndpoints, ConsoleEntryEndpoint, LogoutEndpoints)


def flow_endpoints(service: Service, pages: Pages, pictures: CaptchaPictures) -> Iterator[PageEndpoints]:
    parts = FlowParts(service, pages, pictures)
    for endpoints in ENDPOINTS:
        yield endpoints(service, parts)
