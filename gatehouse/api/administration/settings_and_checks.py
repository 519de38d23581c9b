"""The settings in force and what the doctor says of this node, for the administration page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from gatehouse.api.http.response import Response, success
from gatehouse.api.operation_declaration import Operation
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


class SettingsAndChecksEndpoints:
    def __init__(self, service: Service) -> None:
        self._service = service

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
