"""How a user gets in, for the administration page: password, link to set one, second factor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from gatehouse.api.actor import actor_of
from gatehouse.api.http.response import Response, success
from gatehouse.api.login.credential_types import Password
from gatehouse.api.operation_declaration import Operation
from gatehouse.api.own_account.own_second_factor import SecondFactorData, second_factor_data
from gatehouse.api.time_format import iso_time
from gatehouse.auth import refusals
from gatehouse.stores.errors import Missing

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.auth.principal import Principal
    from gatehouse.composition import Service


class NewPasswordBody(Struct):
    password: Password


class PasswordLinkData(Struct):
    """`url` sets the password, once, for anyone who opens it: give it to the user only."""

    url: str
    expiresAt: str


class FactorsResetData(Struct):
    removed: list[str]


class UserCredentialEndpoints:
    def __init__(self, service: Service) -> None:
        self._users = service.stores.users
        self._changes = service.management.user_changes
        self._links = service.management.password_links
        self._service = service
        self._factor_administration = service.management.user_factors

    @Operation(
        "PUT",
        "/api/v1/users/{id}/password",
        "Set a user's password; its sessions end",
        perm="sys:user:reset-password",
        body=NewPasswordBody,
        refusals=(
            refusals.PasswordRefused,
            refusals.PasswordElsewhere,
            refusals.OwnAccount,
            refusals.CannotManage,
            refusals.TooBusy,
            Missing,
        ),
    )
    async def set_user_password(self, request: Request, principal: Principal) -> Response:
        user, body = request.path_id(), await request.fields(NewPasswordBody)
        await self._changes.reset_password(actor_of(request, principal), user, body.password)
        return success(language=request.language)

    @Operation(
        "POST",
        "/api/v1/users/{id}/password-link",
        "Make a link with which the user sets a password, once, within a day",
        perm="sys:user:reset-password",
        data=PasswordLinkData,
        refusals=(
            refusals.FieldInvalid,
            refusals.PasswordElsewhere,
            refusals.OwnAccount,
            refusals.CannotManage,
            Missing,
        ),
    )
    async def make_password_link(self, request: Request, principal: Principal) -> Response:
        link = await self._links.make(actor_of(request, principal), request.path_id())
        return success(PasswordLinkData(link.url, iso_time(link.expires)), request.language)

    @Operation(
        "GET",
        "/api/v1/users/{id}/second-factor",
        "The second factors of a user",
        perm="sys:user:list",
        or_perms=("sys:user:update",),
        data=SecondFactorData,
        refusals=(refusals.FieldInvalid, Missing),
    )
    async def user_second_factor(self, request: Request, _principal: Principal) -> Response:
        user = request.path_id()
        profile = await self._users.profile(user)
        if profile is None:
            raise Missing(f"there is no user {user}")
        return success(await second_factor_data(self._service, profile.user), request.language)

    @Operation(
        "DELETE",
        "/api/v1/users/{id}/second-factor",
        "Remove all second factors of a user: the password alone logs in then",
        perm="sys:user:reset-password",
        data=FactorsResetData,
        refusals=(refusals.FieldInvalid, refusals.OwnAccount, refusals.CannotManage, Missing),
    )
    async def reset_second_factor(self, request: Request, principal: Principal) -> Response:
        removed = await self._factor_administration.reset(actor_of(request, principal), request.path_id())
        return success(FactorsResetData(removed), request.language)
