"""The console's user page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET, UnsetType

from gatehouse.api.actor import actor_of
from gatehouse.api.console.dates_and_ids import console_time, number, parse_id, span
from gatehouse.api.console.dictionaries import gender_label
from gatehouse.api.console.shared_types import OptionData, Page
from gatehouse.api.console.user_data import NewUserBody, ResetQuery, UserBody, UserForm, UserQuery, UserRow
from gatehouse.api.http.response import Response, success
from gatehouse.api.operation_declaration import Alias, Operation
from gatehouse.auth import refusals
from gatehouse.auth.perms import RESET_PASSWORD, allows
from gatehouse.auth.refusals import FieldInvalid, NotAllowed
from gatehouse.stores.database.row_changes import applied
from gatehouse.stores.database.user_search import UserFilter
from gatehouse.stores.database.users import NewUser, UserChange
from gatehouse.stores.errors import Duplicate, LastAdministrator, Missing

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.auth.principal import Principal
    from gatehouse.composition import Service
    from gatehouse.stores.database.user_search import ListedUser

OPTIONS_MAX = 10_000

_SORTS = {
    "": "id", "id": "id", "username": "username", "nickname": "nickname", "createTime": "created", "status": "enabled",
}  # fmt: skip


class UserEndpoints:
    def __init__(self, service: Service) -> None:
        self._users = service.stores.users
        self._search = service.stores.user_search
        self._changes = service.management.user_changes
        self._default_avatar = service.settings.avatar_url

    @Operation(
        "GET",
        "/api/v1/users",
        "A page of users, newest first",
        perm="sys:user:list",
        query=UserQuery,
        data=Page[UserRow],
        older_paths=("/api/v1/users/page",),
    )
    async def users(self, request: Request, _principal: Principal) -> Response:
        query = request.query_as(UserQuery)
        by = query.sort.removeprefix("-")
        if by not in _SORTS:
            raise FieldInvalid("sort", "no column to sort by")
        total, found = await self._search.page(
            user_filter(query),
            offset=query.offset,
            limit=query.pageSize,
            sort=_SORTS[by],
            descending=not query.sort or query.sort.startswith("-"),
        )
        logins = await self._search.last_logins([one.user.id for one in found])
        rows = [self._row(one, logins.get(one.user.id), request.language) for one in found]
        return success(Page(rows, total), request.language)

    @Operation("GET", "/api/v1/users/options", "Users as choices", perm="sys:user:list", data=list[OptionData])
    async def user_options(self, request: Request, _principal: Principal) -> Response:
        found = await self._search.options(OPTIONS_MAX)
        return success([OptionData(str(user), nickname) for user, nickname in found], request.language)

    @Operation(
        "GET",
        "/api/v1/users/{id}/form",
        "One user",
        perm="sys:user:list",
        or_perms=("sys:user:update",),
        data=UserForm,
        refusals=(refusals.FieldInvalid, Missing),
    )
    async def user_form(self, request: Request, _principal: Principal) -> Response:
        wanted = request.path_id()
        profile = await self._users.profile(wanted)
        if profile is None:
            raise Missing(f"there is no user {wanted}")
        user = profile.user
        form = UserForm(
            id=str(user.id),
            username=user.username,
            nickname=user.nickname,
            deptId=str(user.department),
            roleIds=[str(role) for role in await self._search.role_ids(user.id)],
            gender=user.gender,
            mobile=user.mobile,
            email=user.email,
            status=int(user.enabled),
            avatar=user.avatar,
        )
        return success(form, request.language)

    @Operation(
        "POST",
        "/api/v1/users",
        "Add a user, with a first password or without one",
        perm="sys:user:create",
        body=NewUserBody,
        refusals=(refusals.PasswordRefused, refusals.CannotGrant, Missing, Duplicate, refusals.TooBusy),
    )
    async def add_user(self, request: Request, principal: Principal) -> Response:
        body = await request.fields(NewUserBody)
        values, roles = _user_change(body), _role_ids(body)
        password = body.firstPassword or ""
        if password and not allows(principal.profile.perms, RESET_PASSWORD):
            raise NotAllowed(f"user {principal.profile.user.id} may not set passwords")
        own_department = principal.profile.user.department
        new = applied(NewUser(body.username, body.nickname, "", own_department, 0.0), values)
        await self._changes.add(actor_of(request, principal), new, roles or (), password)
        return success(language=request.language)

    @Operation(
        "PUT",
        "/api/v1/users/{id}",
        "Change a user; disabling one ends its sessions",
        perm="sys:user:update",
        body=UserBody,
        refusals=(
            refusals.CannotGrant,
            refusals.CannotManage,
            refusals.OwnAccount,
            LastAdministrator,
            Missing,
            Duplicate,
        ),
    )
    async def edit_user(self, request: Request, principal: Principal) -> Response:
        user, body = request.path_id(), await request.fields(UserBody)
        await self._changes.edit(actor_of(request, principal), user, _user_change(body), _role_ids(body))
        return success(language=request.language)

    @Operation(
        "DELETE",
        "/api/v1/users/{ids}",
        "Delete users permanently, all of them or none; their sessions end",
        perm="sys:user:delete",
        refusals=(refusals.FieldInvalid, refusals.OwnAccount, refusals.CannotManage, LastAdministrator, Missing),
    )
    async def delete_users(self, request: Request, principal: Principal) -> Response:
        await self._changes.delete(actor_of(request, principal), request.path_ids())
        return success(language=request.language)

    @Operation(
        "PUT",
        "/api/v1/users/{id}/password/reset",
        "Set a user's password; its sessions end",
        perm="sys:user:reset-password",
        query=ResetQuery,
        refusals=(
            refusals.FieldMissing,
            refusals.PasswordRefused,
            refusals.OwnAccount,
            refusals.CannotManage,
            Missing,
            refusals.TooBusy,
        ),
        aliases=(Alias("PATCH", "/api/v1/users/{id}/password", "Set a user's password, as consoles up to 2.11 do it"),),
    )
    async def reset_password(self, request: Request, principal: Principal) -> Response:
        user, password = request.path_id(), request.query_as(ResetQuery).password
        await self._changes.reset_password(actor_of(request, principal), user, password)
        return success(language=request.language)

    def _row(self, listed: ListedUser, last_login: float | None, language: str) -> UserRow:
        user = listed.user
        return UserRow(
            id=str(user.id),
            username=user.username,
            nickname=user.nickname,
            gender=user.gender,
            genderLabel=gender_label(user.gender, language),
            avatar=user.avatar or self._default_avatar,
            mobile=user.mobile,
            email=user.email,
            status=int(user.enabled),
            deptName=listed.department,
            roleNames=",".join(listed.roles),
            createTime=console_time(user.created),
            hasPassword=bool(user.password_hash),
            lastLoginTime=console_time(last_login) if last_login else "",
        )


def user_filter(query: UserQuery) -> UserFilter:
    since, until = span(query.createTime)
    if query.startTime:
        since, _ = span([query.startTime], "startTime")
    if query.endTime:
        _, until = span([query.endTime, query.endTime], "endTime")
    return UserFilter(
        keywords=query.keywords.strip(),
        enabled=None if query.status is None else bool(query.status),
        has_password=None if query.hasPassword is None else bool(query.hasPassword),
        department=query.deptId or None,
        role=query.roleId or None,
        since=since,
        until=until,
    )


def _user_change(body: UserBody) -> UserChange:
    """An emptied field is cleared."""
    return UserChange(
        username=body.username.strip(),
        nickname=body.nickname.strip(),
        department=UNSET if body.deptId is UNSET else parse_id("deptId", body.deptId) or UNSET,
        gender=UNSET if body.gender is UNSET else number("gender", body.gender or 0),
        enabled=UNSET if body.status in {UNSET, None, ""} else bool(number("status", body.status or 0)),
        mobile=_text(body.mobile),
        email=_text(body.email),
        avatar=_text(body.avatar),
    )


def _text(given: str | UnsetType | None) -> str | UnsetType:
    return UNSET if given is UNSET else (given or "").strip()


def _role_ids(body: UserBody) -> list[int] | None:
    """None: the body says nothing of them."""
    if body.roleIds is UNSET:
        return None
    return [role for each in body.roleIds or () if (role := parse_id("roleIds", each))]
