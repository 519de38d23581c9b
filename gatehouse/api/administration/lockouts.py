"""Names that are locked after failed logins: which, and unlocking one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from gatehouse.api.actor import actor_of
from gatehouse.api.http.response import Response, success
from gatehouse.api.operation_declaration import Operation
from gatehouse.api.time_format import iso_time
from gatehouse.auth import refusals

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.auth.principal import Principal
    from gatehouse.composition import Service


class LockoutData(Struct):
    """`place` is an address from which the name has logged in before, or `elsewhere`: all others.

    ` (code)` behind it: the failures had a code in place of the captcha's answer, and only such logins are locked.
    """

    name: str
    place: str
    failures: int
    until: str


class LockoutsData(Struct):
    lockouts: list[LockoutData]


class LiftBody(Struct):
    name: Annotated[str, Meta(min_length=1, max_length=64)]


class LockoutEndpoints:
    def __init__(self, service: Service) -> None:
        self._lockouts = service.management.lockouts

    @Operation(
        "GET",
        "/api/v1/lockouts",
        "Lockouts: names that are locked after failed logins",
        perm="sys:user:list",
        data=LockoutsData,
    )
    async def lockouts(self, request: Request, _principal: Principal) -> Response:
        found = [
            LockoutData(each.name, each.source, each.failures, iso_time(each.until))
            for each in await self._lockouts.all()
        ]
        return success(LockoutsData(found), request.language)

    @Operation(
        "DELETE",
        "/api/v1/lockouts",
        "Unlock a name",
        perm="sys:user:update",
        body=LiftBody,
        refusals=(refusals.CannotManage,),
    )
    async def lift_lockout(self, request: Request, principal: Principal) -> Response:
        body = await request.fields(LiftBody)
        await self._lockouts.lift(actor_of(request, principal), body.name)
        return success(language=request.language)
