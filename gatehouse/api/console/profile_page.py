"""The console's page for one's own profile and password."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import UNSET, Meta, Struct

from gatehouse.api.actor import actor_of
from gatehouse.api.console.dates_and_ids import console_time, number
from gatehouse.api.http.response import Response, success
from gatehouse.api.login.credential_types import Password
from gatehouse.api.operation_declaration import Limit, Operation
from gatehouse.auth import refusals
from gatehouse.auth.refusals import ConfirmationDiffers, CredentialsWrong, OldPasswordWrong
from gatehouse.stores.database.row_changes import unset_if_none
from gatehouse.stores.database.users import UserChange

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.auth.principal import Principal
    from gatehouse.composition import Service

Gender = Annotated[int | str, Meta(description="1 male, 2 female, 0 unknown; as a number or as text.")]


class ProfileData(Struct):
    id: str
    username: str
    nickname: str
    avatar: str
    gender: int
    mobile: str
    email: str
    deptName: str
    roleNames: Annotated[str, Meta(description="Joined by commas.")]
    createTime: str


class ProfileBody(Struct):
    """What is left out stays as it is."""

    nickname: Annotated[str, Meta(max_length=64)] | None = None
    avatar: Annotated[str, Meta(max_length=1024)] | None = None
    gender: Gender | None = None
    mobile: Annotated[str, Meta(max_length=32)] | None = None
    email: Annotated[str, Meta(max_length=254)] | None = None


class OwnPasswordBody(Struct):
    oldPassword: Password
    newPassword: Password
    confirmPassword: Password


class ProfileEndpoints:
    def __init__(self, service: Service) -> None:
        self._stores = service.stores
        self._changes = service.management.user_changes
        self._own = service.management.self_service
        self._default_avatar = service.settings.avatar_url

    @Operation("GET", "/api/v1/users/profile", "The caller's profile", data=ProfileData)
    async def own_profile(self, request: Request, principal: Principal) -> Response:
        profile = principal.profile
        user = profile.user
        roles = [role.name for role in await self._stores.roles.all() if role.code in profile.roles]
        departments = {department.id: department.name for department in await self._stores.departments.all()}
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

    @Operation("PUT", "/api/v1/users/profile", "Change the caller's profile", body=ProfileBody)
    async def edit_own_profile(self, request: Request, principal: Principal) -> Response:
        body = await request.fields(ProfileBody)
        change = UserChange(
            nickname=unset_if_none(body.nickname),
            avatar=unset_if_none(body.avatar if body.avatar != self._default_avatar else None),
            gender=UNSET if body.gender is None else number("gender", body.gender),
            mobile=unset_if_none(body.mobile),
            email=unset_if_none(body.email),
        )
        await self._changes.edit(actor_of(request, principal), principal.claims.user, change)
        return success(language=request.language)

    @Operation(
        "PUT",
        "/api/v1/users/password",
        "Change the caller's password; the other sessions end",
        body=OwnPasswordBody,
        limits=(Limit.LOGIN_NAME, Limit.PASSWORD_USER),
        refusals=(refusals.ConfirmationDiffers, refusals.OldPasswordWrong, refusals.PasswordRefused, refusals.TooBusy),
    )
    async def own_password(self, request: Request, principal: Principal) -> Response:
        body = await request.fields(OwnPasswordBody)
        if body.newPassword != body.confirmPassword:
            raise ConfirmationDiffers
        try:
            await self._own.change_password(principal, body.oldPassword, body.newPassword, request.client)
        except CredentialsWrong as refusal:
            raise OldPasswordWrong(str(refusal)) from None
        return success(language=request.language)
