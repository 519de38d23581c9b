"""How a user gets in, for the administration page: password, link to set one, second factor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.api.contract.console.user_access import (
    FactorsResetData,
    NewPasswordBody,
    PasswordLinkData,
)
from gatehouse.api.endpoints.console.actor import actor_of
from gatehouse.api.endpoints.factors import second_factor_data
from gatehouse.api.endpoints.times import iso_time
from gatehouse.api.http.response import Response, success
from gatehouse.stores.errors import Missing

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from gatehouse.api.http.request import Request
    from gatehouse.auth.principal import Principal
    from gatehouse.composition import Service


class UserAccessEndpoints:
    def __init__(self, service: Service) -> None:
        self._users = service.accounts.users
        self._changes = service.accounts.user_changes
        self._links = service.password_links
        self._service = service
        self._factor_administration = service.factor_administration

    def endpoints(self) -> dict[str, Callable[..., Awaitable[Response]]]:
        return {
            "set_user_password": self.set_password,
            "make_password_link": self.make_link,
            "user_second_factor": self.second_factor,
            "reset_second_factor": self.reset_second_factor,
        }

    async def set_password(self, request: Request, principal: Principal) -> Response:
        user, body = request.path_id(), await request.fields(NewPasswordBody)
        await self._changes.reset_password(actor_of(request, principal), user, body.password)
        return success(language=request.language)

    async def make_link(self, request: Request, principal: Principal) -> Response:
        link = await self._links.make(actor_of(request, principal), request.path_id())
        return success(PasswordLinkData(link.url, iso_time(link.expires)), request.language)

    async def second_factor(self, request: Request, _principal: Principal) -> Response:
        user = request.path_id()
        profile = await self._users.profile(user)
        if profile is None:
            raise Missing(f"there is no user {user}")
        return success(await second_factor_data(self._service, profile.user), request.language)

    async def reset_second_factor(self, request: Request, principal: Principal) -> Response:
        removed = await self._factor_administration.reset(actor_of(request, principal), request.path_id())
        return success(FactorsResetData(removed), request.language)
