"""The status of the service, for the administration page: settings, checks, lockouts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse import __version__
from gatehouse.api.contract.console.service_status import (
    CheckData,
    ChecksData,
    LiftBody,
    LockoutData,
    LockoutsData,
    SettingData,
    SettingsData,
)
from gatehouse.api.endpoints.console.actor import actor_of
from gatehouse.api.endpoints.console.chinese_checks import check_in_chinese
from gatehouse.api.endpoints.console.chinese_settings import MEANINGS, source_in_chinese
from gatehouse.api.endpoints.times import iso_time
from gatehouse.api.http.response import Response, success
from gatehouse.settings import effective_settings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from gatehouse.api.http.request import Request
    from gatehouse.auth.principal import Principal
    from gatehouse.composition import Service


class ServiceStatusEndpoints:
    def __init__(self, service: Service) -> None:
        self._service = service
        self._lockouts = service.lockouts

    def endpoints(self) -> dict[str, Callable[..., Awaitable[Response]]]:
        return {
            "settings": self.settings,
            "checks": self.checks,
            "lockouts": self.lockouts,
            "lift_lockout": self.lift,
        }

    async def settings(self, request: Request, _principal: Principal) -> Response:
        shown = [SettingData(*each) for each in effective_settings(self._service.settings)]
        if request.language == "zh":
            for each in shown:
                each.meaning, each.source = MEANINGS[each.name], source_in_chinese(each.source)
        return success(SettingsData(__version__, shown), request.language)

    async def checks(self, request: Request, _principal: Principal) -> Response:
        from gatehouse.doctor.diagnosis import diagnose  # noqa: PLC0415 - imports migrations, which only this needs

        found = [CheckData(*each) async for each in diagnose(self._service)]
        if request.language == "zh":
            for each in found:
                each.found, each.advice = check_in_chinese(each.found), check_in_chinese(each.advice)
        return success(ChecksData(found), request.language)

    async def lockouts(self, request: Request, _principal: Principal) -> Response:
        found = [
            LockoutData(each.name, each.source, each.failures, iso_time(each.until))
            for each in await self._lockouts.all()
        ]
        return success(LockoutsData(found), request.language)

    async def lift(self, request: Request, principal: Principal) -> Response:
        body = await request.fields(LiftBody)
        await self._lockouts.lift(actor_of(request, principal), body.name)
        return success(language=request.language)
