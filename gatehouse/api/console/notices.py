"""The notices of the caller: none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from gatehouse.api.console.shared_types import Page, PageQuery
from gatehouse.api.http.response import Response, success
from gatehouse.api.operation_declaration import Operation
from gatehouse.auth.sessions.console_versions import ConsoleVersion

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.auth.principal import Principal
    from gatehouse.composition import Service


class NoticeRow(Struct):
    """Notices belong to a business backend: the list is always empty."""

    id: str
    title: str


class NoticeEndpoint:
    def __init__(self, service: Service) -> None:
        self._console_versions = service.console_versions

    @Operation(
        "GET",
        "/api/v1/notices/my",
        "No notices: they belong to a business backend",
        query=PageQuery,
        data=Page[NoticeRow],
        older_paths=("/api/v1/notices/my-page",),
    )
    async def own_notices(self, request: Request, principal: Principal) -> Response:
        request.query_as(PageQuery)
        session = principal.claims.session
        if (
            await self._console_versions.of_session(session) is ConsoleVersion.FORM
        ):  # those before 2.25 have asked for dictionaries by now
            await self._console_versions.remember(session, ConsoleVersion.NUMBERS)
        return success(Page[NoticeRow](rows=[], total=0), request.language)
