"""The status of the service, for the administration page: settings, checks, lockouts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from gatehouse.api.actor import actor_of
from gatehouse.api.http.response import Response, success
from gatehouse.api.operation_declaration import Operation
from gatehouse.api.time_format import iso_time
from gatehouse.auth import refusals
from gatehouse.messages import in_language
from gatehouse.settings import effective_settings
from gatehouse.version import __version__

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.auth.principal import Principal
    from gatehouse.composition import Service


class SettingData(Struct):
    """`value` of a secret is always empty; `source` is where it was found, empty for a default."""

    name: str
    value: str
    default: str
    source: str
    meaning: str
    secret: bool


class SettingsData(Struct):
    version: str
    settings: list[SettingData]


class CheckData(Struct):
    """`check` names the check in every language; `found` and `advice` are in the language of the request."""

    level: Annotated[str, Meta(description="`ok`, `warn` or `fail`.")]
    check: str
    found: str
    advice: str


class ChecksData(Struct):
    checks: list[CheckData]


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


class ServiceStatusEndpoints:
    def __init__(self, service: Service) -> None:
        self._service = service
        self._lockouts = service.management.locked_names

    @Operation(
        "GET",
        "/api/v1/settings",
        "The settings in force and where each was found, without secrets",
        perm="sys:config:list",
        data=SettingsData,
    )
    async def settings(self, request: Request, _principal: Principal) -> Response:
        shown = [SettingData(*each) for each in effective_settings(self._service.settings, request.language)]
        return success(SettingsData(__version__, shown), request.language)

    @Operation(
        "GET",
        "/api/v1/settings/checks",
        "What `gatehouse doctor` says of this node",
        perm="sys:config:list",
        data=ChecksData,
    )
    async def checks(self, request: Request, _principal: Principal) -> Response:
        from gatehouse.doctor.diagnosis import diagnose  # noqa: PLC0415 - imports migrations, which only this needs

        language = request.language
        checks = [
            CheckData(each.level, each.check, in_language(each.found, language), in_language(each.advice, language))
            async for each in diagnose(self._service)
        ]
        return success(ChecksData(checks), language)

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
