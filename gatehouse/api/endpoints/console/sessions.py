"""Everybody's live sessions, for the administration page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.api.contract.console.sessions import LiveSessionData, LiveSessionQuery, LiveSessionsData
from gatehouse.api.contract.schemas import EndedData
from gatehouse.api.endpoints.console.actor import actor_of
from gatehouse.api.endpoints.session_fields import session_fields
from gatehouse.api.http.response import Response, success
from gatehouse.management.live_sessions import SessionPage

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from gatehouse.api.http.request import Request
    from gatehouse.auth.principal import Principal
    from gatehouse.composition import Service
    from gatehouse.management.live_sessions import LiveSession


class LiveSessionEndpoints:
    def __init__(self, service: Service) -> None:
        self._live = service.live_sessions

    def endpoints(self) -> dict[str, Callable[..., Awaitable[Response]]]:
        return {
            "live_sessions": self.list,
            "end_live_session": self.end,
            "end_user_sessions": self.end_all,
        }

    async def list(self, request: Request, principal: Principal) -> Response:
        query = request.query_as(LiveSessionQuery)
        page = await self._page(query)
        rows = [_row(each, principal) for each in page.sessions]
        return success(LiveSessionsData(rows, page.next), request.language)

    async def _page(self, query: LiveSessionQuery) -> SessionPage:
        if query.userId is not None:
            return SessionPage(await self._live.of_users([query.userId]), None)
        if keywords := query.keywords.strip():
            return await self._live.search(keywords)
        return await self._live.page(query.start, query.limit)

    async def end(self, request: Request, principal: Principal) -> Response:
        await self._live.end(actor_of(request, principal), request.parameters["id"])
        return success(language=request.language)

    async def end_all(self, request: Request, principal: Principal) -> Response:
        ended = await self._live.end_all(actor_of(request, principal), request.path_id())
        return success(EndedData(ended), request.language)


def _row(live: LiveSession, principal: Principal) -> LiveSessionData:
    fields = session_fields(live.session, principal)
    return LiveSessionData(**fields, userId=str(live.session.user), username=live.username)
