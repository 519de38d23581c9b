"""The description of the API as a file."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from gatehouse.api.description.openapi import document
from gatehouse.api.pages.file_response import StaticFile
from gatehouse.api.resource_declaration import Resource

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.api.http.response import Response
    from gatehouse.composition import Service


class OpenApiEndpoint:
    def __init__(self, service: Service) -> None:
        self._settings = service.settings

    @cached_property
    def _file(self) -> StaticFile:
        """Half a megabyte, and a twentieth compressed: made when it is first asked for, which few workers ever are."""
        described = msgspec.json.format(msgspec.json.encode(document(self._settings)), indent=1)
        return StaticFile(described, ".json", cache="no-cache")

    @Resource("/openapi.json")
    async def openapi(self, request: Request) -> Response:
        return self._file.response_to(request)
