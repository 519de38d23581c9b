"""The caller's password."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from gatehouse.api.http.response import Response, success
from gatehouse.api.login.credential_types import Password
from gatehouse.api.operation_declaration import Limit, Operation
from gatehouse.auth import refusals

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.auth.principal import Principal
    from gatehouse.composition import Service


class PasswordBody(Struct):
    currentPassword: Password
    newPassword: Password


class OwnPasswordEndpoint:
    def __init__(self, service: Service) -> None:
        self._own = service.management.self_service

    @Operation(
        "PUT",
        "/api/v1/users/me/password",
        "Change the caller's password; the other sessions end",
        body=PasswordBody,
        limits=(Limit.LOGIN_NAME, Limit.PASSWORD_USER),
        refusals=(refusals.PasswordRefused, refusals.CredentialsWrong, refusals.PasswordElsewhere, refusals.TooBusy),
    )
    async def change_password(self, request: Request, principal: Principal) -> Response:
        body = await request.fields(PasswordBody)
        await self._own.change_password(principal, body.currentPassword, body.newPassword, request.client)
        return success(language=request.language)
