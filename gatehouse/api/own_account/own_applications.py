"""The applications that the caller is logged in to with this account."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from gatehouse.api.http.response import Response, success
from gatehouse.api.operation_declaration import Operation
from gatehouse.api.time_format import iso_time
from gatehouse.stores.errors import Missing

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.auth.principal import Principal
    from gatehouse.composition import Service


class OwnApplicationData(Struct):
    clientId: str
    name: str
    url: Annotated[str, Meta(description="Where it is opened; may be empty.")]
    since: str
    scopes: list[str]
    session: Annotated[str, Meta(description="The session that it hangs on; the two end together.")]


class OwnApplicationEndpoints:
    def __init__(self, service: Service) -> None:
        self._own = service.sign_in.own_applications

    @Operation(
        "GET",
        "/api/v1/users/me/applications",
        "Applications that the caller is logged in to with this account",
        data=list[OwnApplicationData],
    )
    async def own_applications(self, request: Request, principal: Principal) -> Response:
        found = [
            OwnApplicationData(
                each.client.client_id,
                each.client.name,
                each.client.config.url,
                iso_time(each.since),
                list(each.scopes),
                each.session,
            )
            for each in await self._own.of(principal.claims.user)
        ]
        return success(found, request.language)

    @Operation(
        "DELETE",
        "/api/v1/users/me/applications/{id}",
        "Log out of an application: its tokens end, it is told, and what it was allowed is forgotten",
        refusals=(Missing,),
    )
    async def leave_application(self, request: Request, principal: Principal) -> Response:
        await self._own.leave(principal.claims.user, request.parameters["id"])
        return success(language=request.language)
