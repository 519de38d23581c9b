"""Everybody's live sessions, for the administration page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from gatehouse.api.actor import actor_of
from gatehouse.api.console.shared_types import IdNumber
from gatehouse.api.http.response import Response, success
from gatehouse.api.operation_declaration import Operation
from gatehouse.api.own_account.session_data import EndedData, SessionData, session_fields
from gatehouse.auth import refusals
from gatehouse.management.live_sessions import SessionPage
from gatehouse.stores.errors import Missing

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.auth.principal import Principal
    from gatehouse.composition import Service
    from gatehouse.management.live_sessions import LiveSession


class LiveSessionQuery(Struct):
    keywords: Annotated[str, Meta(max_length=128, description="Looked for in the names of users.")] = ""
    userId: IdNumber | None = None
    start: Annotated[int, Meta(ge=0, le=10_000_000, description="`next` of the page before.")] = 0
    limit: Annotated[int, Meta(ge=1, le=100)] = 50


class LiveSessionData(SessionData, kw_only=True):
    userId: str
    username: str


class LiveSessionsData(Struct):
    sessions: list[LiveSessionData]
    next: Annotated[int | None, Meta(description="`start` of the next page; null after the last.")]


class LiveSessionEndpoints:
    """The perms of the user page are enough too: who may disable a user ends the sessions by it."""

    def __init__(self, service: Service) -> None:
        self._live = service.management.live_sessions

    @Operation(
        "GET",
        "/api/v1/sessions",
        "Live sessions: of all users, of one user, or of the users that a search finds",
        perm="sys:session:list",
        or_perms=("sys:user:list",),
        query=LiveSessionQuery,
        data=LiveSessionsData,
    )
    async def live_sessions(self, request: Request, principal: Principal) -> Response:
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

    @Operation(
        "DELETE",
        "/api/v1/sessions/{id}",
        "End a session of any user",
        perm="sys:session:delete",
        or_perms=("sys:user:update",),
        refusals=(refusals.CannotManage, refusals.NoSuchSession, Missing),
    )
    async def end_live_session(self, request: Request, principal: Principal) -> Response:
        await self._live.end(actor_of(request, principal), request.parameters["id"])
        return success(language=request.language)

    @Operation(
        "DELETE",
        "/api/v1/users/{id}/sessions",
        "End all sessions of a user",
        perm="sys:session:delete",
        or_perms=("sys:user:update",),
        data=EndedData,
        refusals=(refusals.FieldInvalid, refusals.CannotManage, Missing),
    )
    async def end_user_sessions(self, request: Request, principal: Principal) -> Response:
        ended = await self._live.end_all(actor_of(request, principal), request.path_id())
        return success(EndedData(ended), request.language)


def _row(live: LiveSession, principal: Principal) -> LiveSessionData:
    fields = session_fields(live.session, principal)
    return LiveSessionData(**fields, userId=str(live.session.user), username=live.username)
