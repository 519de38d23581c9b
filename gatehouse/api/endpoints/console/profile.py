"""The console's page for one's own profile and password."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET

from gatehouse.api.contract.console.profile import OwnPasswordBody, ProfileBody, ProfileData
from gatehouse.api.endpoints.console.actor import actor_of
from gatehouse.api.endpoints.console.formats import console_time, number
from gatehouse.api.http.response import Response, success
from gatehouse.auth.refusals import ConfirmationDiffers, CredentialsWrong, OldPasswordWrong
from gatehouse.stores.database.row_changes import unset_if_none
from gatehouse.stores.database.users import UserChange

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from gatehouse.api.http.request import Request
    from gatehouse.auth.principal import Principal
    from gatehouse.composition import Service


class ProfileEndpoints:
    def __init__(self, service: Service) -> None:
        self._accounts = service.accounts
        self._own = service.self_service
        self._default_avatar = service.settings.avatar_url

    def endpoints(self) -> dict[str, Callable[..., Awaitable[Response]]]:
        return {"own_profile": self.show, "edit_own_profile": self.edit, "own_password": self.change_password}

    async def show(self, request: Request, principal: Principal) -> Response:
        profile = principal.profile
        user = profile.user
        roles = [role.name for role in await self._accounts.roles.all() if role.code in profile.roles]
        departments = {department.id: department.name for department in await self._accounts.departments.all()}
        data = ProfileData(
            id=str(user.id),
            username=user.username,
            nickname=user.nickname,
            avatar=user.avatar or self._default_avatar,
            gender=user.gender,
            mobile=user.mobile,
            email=user.email,
            deptName=departments.get(user.department, ""),
            roleNames=",".join(roles),
            createTime=console_time(user.created),
        )
        return success(data, request.language)

    async def edit(self, request: Request, principal: Principal) -> Response:
        body = await request.fields(ProfileBody)
        values = UserChange(
            nickname=unset_if_none(body.nickname),
            avatar=unset_if_none(body.avatar if body.avatar != self._default_avatar else None),
            gender=UNSET if body.gender is None else number("gender", body.gender),
            mobile=unset_if_none(body.mobile),
            email=unset_if_none(body.email),
        )
        await self._accounts.user_changes.edit(actor_of(request, principal), principal.claims.user, values)
        return success(language=request.language)

    async def change_password(self, request: Request, principal: Principal) -> Response:
        body = await request.fields(OwnPasswordBody)
        if body.newPassword != body.confirmPassword:
            raise ConfirmationDiffers
        try:
            await self._own.change_password(principal, body.oldPassword, body.newPassword, request.client)
        except CredentialsWrong as refusal:
            raise OldPasswordWrong(str(refusal)) from None
        return success(language=request.language)
