"""The calls of the page behind a link that sets a password."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.api.contract.password_links import LinkOwnerData, PasswordByLinkBody, PasswordLinkBody
from gatehouse.api.http.response import Response, success

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from gatehouse.api.http.request import Request
    from gatehouse.composition import Service


class PasswordLinkEndpoints:
    def __init__(self, service: Service) -> None:
        self._links = service.password_links

    def endpoints(self) -> dict[str, Callable[..., Awaitable[Response]]]:
        return {"password_link_owner": self.owner, "set_password_by_link": self.use}

    async def owner(self, request: Request) -> Response:
        body = await request.fields(PasswordLinkBody)
        return success(LinkOwnerData(await self._links.owner(body.ticket, request.client)), request.language)

    async def use(self, request: Request) -> Response:
        body = await request.fields(PasswordByLinkBody)
        await self._links.use(body.ticket, body.newPassword, request.client)
        return success(language=request.language)
