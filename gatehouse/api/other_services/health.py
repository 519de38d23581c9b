"""Health: whether the process runs, and whether its stores answer."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import msgspec

from gatehouse.api.http.response import Response, raw_response
from gatehouse.api.resource_declaration import Resource
from gatehouse.stores.errors import StoreUnavailable

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.composition import Service

READY_SECONDS = 2.0


class HealthEndpoints:
    def __init__(self, service: Service) -> None:
        self._database = service.stores.database
        self._state = service.stores.state

    @Resource("/health/live")
    async def live(self, _request: Request) -> Response:
        return raw_response(b'{"status":"live"}', "application/json")

    @Resource("/health/ready")
    async def ready(self, _request: Request) -> Response:
        checks = {"accounts": self._database.ping(), "state": self._state.ping()}
        results = await asyncio.gather(*(_answers(check) for check in checks.values()))
        state = dict(zip(checks, ("up" if up else "down" for up in results), strict=True))
        return raw_response(
            msgspec.json.encode({"status": "ready" if all(results) else "not ready", **state}),
            "application/json",
            status=200 if all(results) else 503,
        )


async def _answers(check: object) -> bool:
    try:
        await asyncio.wait_for(check, READY_SECONDS)  # type: ignore[arg-type]
    except (StoreUnavailable, TimeoutError):
        return False
    return True
