"""The caller's sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from gatehouse.api.http.response import Response, success
from gatehouse.api.operation_declaration import Operation
from gatehouse.api.own_account.session_data import EndedData, SessionData, session_fields
from gatehouse.auth.refusals import NoSuchSession

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.auth.principal import Principal
    from gatehouse.composition import Service


class SessionsData(Struct):
    sessions: list[SessionData]


class OwnSessionEndpoints:
    def __init__(self, service: Service) -> None:
        self._own = service.management.self_service

    @Operation("GET", "/api/v1/users/me/sessions", "The caller's sessions, newest first", data=SessionsData)
    async def sessions(self, request: Request, principal: Principal) -> Response:
        own = await self._own.sessions(principal)
        data = SessionsData([SessionData(**session_fields(each, principal)) for each in own])
        return success(data, request.language)

    @Operation("DELETE", "/api/v1/users/me/sessions", "End all sessions of the caller but this one", data=EndedData)
    async def end_other_sessions(self, request: Request, principal: Principal) -> Response:
        ended = await self._own.end_other_sessions(principal, request.client)
        return success(EndedData(ended), request.language)

    @Operation("DELETE", "/api/v1/users/me/sessions/{id}", "End one session of the caller", refusals=(NoSuchSession,))
    async def end_session(self, request: Request, principal: Principal) -> Response:
        await self._own.end_session(principal, request.parameters["id"], request.client)
        return success(language=request.language)
