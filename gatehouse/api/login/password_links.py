"""The calls of the page behind a link that sets a password."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from gatehouse.api.http.response import Response, success
from gatehouse.api.login.credential_types import Password
from gatehouse.api.operation_declaration import Limit, Operation
from gatehouse.auth import refusals

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.composition import Service

Ticket = Annotated[str, Meta(min_length=1, max_length=1024, description="What follows the # of the link.")]


class PasswordLinkBody(Struct):
    ticket: Ticket


class PasswordByLinkBody(Struct):
    ticket: Ticket
    newPassword: Password


class LinkOwnerData(Struct):
    username: str


class PasswordLinkEndpoints:
    def __init__(self, service: Service) -> None:
        self._links = service.management.password_links

    @Operation(
        "POST",
        "/api/v1/auth/password-link",
        "Whose password a link sets",
        public=True,
        body=PasswordLinkBody,
        data=LinkOwnerData,
        limits=(Limit.LOGIN_ADDRESS,),
        refusals=(refusals.TicketGone,),
    )
    async def password_link_owner(self, request: Request) -> Response:
        body = await request.fields(PasswordLinkBody)
        return success(LinkOwnerData(await self._links.owner(body.ticket, request.client)), request.language)

    @Operation(
        "PUT",
        "/api/v1/auth/password-link",
        "Set a password with a link; it works once, and all sessions of the user end",
        public=True,
        body=PasswordByLinkBody,
        limits=(Limit.LOGIN_ADDRESS,),
        refusals=(refusals.TicketGone, refusals.PasswordRefused, refusals.TooBusy),
    )
    async def set_password_by_link(self, request: Request) -> Response:
        body = await request.fields(PasswordByLinkBody)
        await self._links.use(body.ticket, body.newPassword, request.client)
        return success(language=request.language)
