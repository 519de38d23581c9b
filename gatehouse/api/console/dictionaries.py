"""The dictionaries of the console, lists of values with their labels: the genders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from gatehouse.api.http.response import Response, success
from gatehouse.api.operation_declaration import Operation
from gatehouse.auth.sessions.console_versions import ConsoleVersion
from gatehouse.messages import section

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.auth.principal import Principal
    from gatehouse.composition import Service

# The values are text here and numbers elsewhere, because the forms of the consoles expect it so.
_GENDERS = {"1": "primary", "2": "danger", "0": "info"}


class DictionaryItem(Struct):
    value: str
    label: str
    tagType: str


class DictionaryData(Struct):
    dictCode: str
    name: str
    dictDataList: list[DictionaryItem]


class DictionaryEndpoints:
    def __init__(self, service: Service) -> None:
        self._console_versions = service.console_versions

    @Operation(
        "GET",
        "/api/v1/dicts/{code}/items/options",
        "The items of a dictionary: `gender`, others are empty",
        data=list[DictionaryItem],
        older_paths=("/api/v1/dicts/{code}/items", "/api/v1/dict-data/{code}/options", "/api/v1/dict/{code}/options"),
    )
    async def dictionary(self, request: Request, principal: Principal) -> Response:
        if request.path.endswith("/items"):
            await self._console_versions.remember(principal.claims.session, ConsoleVersion.NUMBERS)
        elif not request.path.endswith("/items/options"):
            seen = ConsoleVersion.WORDS if "/dict-data/" in request.path else ConsoleVersion.FORM
            await self._console_versions.remember(principal.claims.session, seen)
        code = request.parameters["code"]
        return success(_genders(request.language) if code == "gender" else [], request.language)

    @Operation("GET", "/api/v1/dict/list", "All dictionaries, for older consoles", data=list[DictionaryData])
    async def dictionaries(self, request: Request, principal: Principal) -> Response:
        await self._console_versions.remember(principal.claims.session, ConsoleVersion.WORDS)
        name = section("sheet_columns", request.language)["gender"]
        return success([DictionaryData("gender", name, _genders(request.language))], request.language)


def gender_label(gender: int, language: str) -> str:
    return section("genders", language).get(str(gender), "")


def _genders(language: str) -> list[DictionaryItem]:
    labels = section("genders", language)
    return [DictionaryItem(value, labels[value], tag) for value, tag in _GENDERS.items()]
