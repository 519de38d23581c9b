"""Login with a provider, as far as front ends call it: which there are, and the code of our own second factor.

The ticket that a browser brings back is exchanged by `auth/qr-code/login`, which consoles already have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from gatehouse.api.http.response import Response, success
from gatehouse.api.login.credential_types import OtpCode
from gatehouse.api.operation_declaration import Limit, Operation
from gatehouse.auth import refusals

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.composition import Service


class ProviderData(Struct):
    """A button of the login page."""

    name: str
    title: str
    icon: Annotated[str, Meta(description="The name of one of ours, or a URL; may be empty.")]
    url: Annotated[str, Meta(description="To open; `?to=` says where the browser comes back to with a ticket.")]


class CompanyCodeBody(Struct):
    ticket: Annotated[str, Meta(min_length=1, max_length=1024, description="From `?pending=` of the login page.")]
    otpCode: OtpCode | None = None


class OnwardData(Struct):
    url: Annotated[str, Meta(description="Where the browser goes on, with a ticket for `auth/qr-code/login`.")]


class ProviderLoginEndpoints:
    def __init__(self, service: Service) -> None:
        self._sources = service.identity.sources
        self._company = service.login.company
        self._public_url = service.settings.public_url

    @Operation(
        "GET",
        "/api/v1/auth/providers",
        "Providers that one can log in with, in the order of the buttons",
        public=True,
        data=list[ProviderData],
        without_stores=True,
    )
    async def providers(self, request: Request) -> Response:
        found = [
            ProviderData(each.name, each.title, each.provider_config.icon, f"{self._public_url}/login/{each.name}")
            for each in self._sources.providers
        ]
        return success(found, request.language)

    @Operation(
        "POST",
        "/api/v1/auth/company-login/code",
        "The second factor of a login with a provider that does not vouch for one",
        public=True,
        body=CompanyCodeBody,
        data=OnwardData,
        limits=(Limit.LOGIN_ADDRESS, Limit.LOGIN_NAME),
        refusals=(
            refusals.TicketGone,
            refusals.CodeRequired,
            refusals.EnrolmentRequired,
            refusals.PasskeyRequired,
        ),
        description="Without a code, or with a wrong one, `A0220`. Who must enrol an app first gets the header "
        "`Enrolment-Ticket`, as at a login with a password, and calls this again with the first code.",
    )
    async def company_login_code(self, request: Request) -> Response:
        body = await request.fields(CompanyCodeBody)
        url = await self._company.show_code(body.ticket, body.otpCode, request.client)
        return success(OnwardData(url), request.language)
