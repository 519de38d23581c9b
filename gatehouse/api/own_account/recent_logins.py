"""The caller's recent logins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from gatehouse.api.http.response import Response, success
from gatehouse.api.operation_declaration import Operation
from gatehouse.api.time_format import iso_time

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.auth.principal import Principal
    from gatehouse.composition import Service


class LoginData(Struct):
    """`factor` is what was shown beside the password, or instead of it; `session` ends it, while it is `active`.

    `source` is the name of the directory or provider that it went by; empty if that was ours.
    """

    at: str
    address: str
    browser: str
    factor: str
    source: str
    session: str
    active: bool
    newPlace: bool


class LoginsData(Struct):
    logins: list[LoginData]


class RecentLoginsEndpoint:
    def __init__(self, service: Service) -> None:
        self._login_history = service.login.history

    @Operation(
        "GET",
        "/api/v1/users/me/logins",
        "The caller's last 50 logins, newest first; those from a place never seen before are marked",
        data=LoginsData,
    )
    async def logins(self, request: Request, principal: Principal) -> Response:
        recent = await self._login_history.recent(principal.claims.user)
        listed = [
            LoginData(
                iso_time(each.at),
                each.address,
                each.browser,
                each.factor,
                each.source,
                each.session,
                each.active,
                each.new_place,
            )
            for each in recent
        ]
        return success(LoginsData(listed), request.language)
