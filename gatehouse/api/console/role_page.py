"""The console's role page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from gatehouse.api.actor import actor_of
from gatehouse.api.console.dates_and_ids import console_time, number, parse_id
from gatehouse.api.console.shared_types import (
    Id,
    OptionData,
    Page,
    PageQuery,
)
from gatehouse.api.http.response import Response, success
from gatehouse.api.operation_declaration import Operation
from gatehouse.auth import refusals
from gatehouse.management.authority import grant_of, lack_to_grant
from gatehouse.messages import section
from gatehouse.stores.database.roles import DataScope, NewRole, RoleChange
from gatehouse.stores.database.row_changes import applied
from gatehouse.stores.errors import Duplicate, LastAdministrator, Missing

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.auth.principal import Principal
    from gatehouse.auth.sessions.console_versions import ConsoleVersion
    from gatehouse.composition import Service
    from gatehouse.stores.database.roles import Role

Scope = Annotated[
    int,
    Meta(
        description="1 all, 2 department and below, 3 department, 4 own, 5 chosen departments. "
        "Sessions of consoles up to 2.24 see and send 0 to 3 for the first four."
    ),
]


class RoleRow(Struct):
    """`status` is 1 for an enabled role and 0 for a disabled one."""

    id: str
    name: str
    code: str
    status: int
    sort: int
    dataScope: Scope
    dataScopeLabel: str
    createTime: str


class RoleForm(Struct):
    id: str
    name: str
    code: str
    sort: int
    status: int
    dataScope: Scope
    deptIds: list[str]


class RoleBody(Struct):
    """In a change, what is left out stays as it is. `deptIds` counts with the data scope 5 alone."""

    name: Annotated[str, Meta(min_length=1, max_length=64)]
    code: Annotated[str, Meta(min_length=1, max_length=64)]
    sort: int | str | UnsetType | None = UNSET
    status: int | str | UnsetType | None = UNSET
    dataScope: int | str | UnsetType | None = UNSET
    deptIds: Annotated[list[Id], Meta(max_length=1000)] | UnsetType | None = UNSET


class RoleEndpoints:
    def __init__(self, service: Service) -> None:
        self._roles = service.stores.roles
        self._changes = service.management.role_changes
        self._console_versions = service.console_versions

    @Operation(
        "GET",
        "/api/v1/roles",
        "A page of roles",
        perm="sys:role:list",
        query=PageQuery,
        data=Page[RoleRow],
        older_paths=("/api/v1/roles/page",),
    )
    async def roles(self, request: Request, principal: Principal) -> Response:
        query = request.query_as(PageQuery)
        keywords = query.keywords.casefold()
        found = [
            role
            for role in await self._sorted()
            if keywords in role.name.casefold() or keywords in role.code.casefold()
        ]
        console_version = await self._console_versions.of_session(principal.claims.session)
        page = found[query.offset : query.offset + query.pageSize]
        rows = [_row(role, console_version, request.language) for role in page]
        return success(Page(rows, len(found)), request.language)

    @Operation(
        "GET",
        "/api/v1/roles/options",
        "The roles that the caller may grant, as choices",
        perm="sys:role:list",
        or_perms=("sys:user:list", "sys:user:create", "sys:user:update"),
        data=list[OptionData],
    )
    async def role_options(self, request: Request, principal: Principal) -> Response:
        actor = actor_of(request, principal)
        choices = [
            OptionData(str(role.id), role.name)
            for role in await self._sorted()
            if lack_to_grant(actor, grant_of(role)) is None
        ]
        return success(choices, request.language)

    @Operation(
        "GET",
        "/api/v1/roles/{id}/form",
        "One role",
        perm="sys:role:list",
        or_perms=("sys:role:update",),
        data=RoleForm,
        refusals=(refusals.FieldInvalid, Missing),
    )
    async def role_form(self, request: Request, principal: Principal) -> Response:
        role = await self._roles.get(request.path_id())
        console_version = await self._console_versions.of_session(principal.claims.session)
        form = RoleForm(
            id=str(role.id),
            name=role.name,
            code=role.code,
            sort=role.sort,
            status=int(role.enabled),
            dataScope=_shown_scope(role.data_scope, console_version),
            deptIds=[str(department) for department in role.departments],
        )
        return success(form, request.language)

    @Operation(
        "GET",
        "/api/v1/roles/{id}/dept-ids",
        "The departments chosen for a role",
        perm="sys:role:list",
        or_perms=("sys:role:update",),
        data=list[str],
        refusals=(refusals.FieldInvalid, Missing),
    )
    async def role_departments(self, request: Request, _principal: Principal) -> Response:
        role = await self._roles.get(request.path_id())
        return success([str(department) for department in role.departments], request.language)

    @Operation(
        "POST",
        "/api/v1/roles",
        "Add a role",
        perm="sys:role:create",
        body=RoleBody,
        refusals=(refusals.CannotGrant, Missing, Duplicate),
    )
    async def add_role(self, request: Request, principal: Principal) -> Response:
        body = await request.fields(RoleBody)
        new = applied(NewRole(body.code, body.name), await self._role_change(body, principal))
        await self._changes.add(actor_of(request, principal), new, departments=_department_ids(body) or ())
        return success(language=request.language)

    @Operation(
        "PUT",
        "/api/v1/roles/{id}",
        "Change a role; what is disabled grants nothing",
        perm="sys:role:update",
        body=RoleBody,
        refusals=(refusals.CannotGrant, refusals.OwnAccount, LastAdministrator, Missing, Duplicate),
    )
    async def edit_role(self, request: Request, principal: Principal) -> Response:
        role, body = request.path_id(), await request.fields(RoleBody)
        values = await self._role_change(body, principal)
        await self._changes.edit(actor_of(request, principal), role, values, _department_ids(body))
        return success(language=request.language)

    @Operation(
        "DELETE",
        "/api/v1/roles/{ids}",
        "Delete roles, all of them or none; their users lose the perms",
        perm="sys:role:delete",
        refusals=(refusals.FieldInvalid, refusals.CannotGrant, LastAdministrator, Missing),
    )
    async def delete_roles(self, request: Request, principal: Principal) -> Response:
        await self._changes.delete(actor_of(request, principal), request.path_ids())
        return success(language=request.language)

    async def _sorted(self) -> list[Role]:
        return sorted(await self._roles.all(), key=lambda role: (role.sort, role.id))

    async def _role_change(self, body: RoleBody, principal: Principal) -> RoleChange:
        return RoleChange(
            name=body.name.strip(),
            code=body.code.strip(),
            sort=UNSET if body.sort is UNSET else number("sort", body.sort or 0),
            enabled=UNSET if body.status is UNSET or body.status is None else bool(number("status", body.status)),
            data_scope=await self._data_scope(body, principal),
        )

    async def _data_scope(self, body: RoleBody, principal: Principal) -> int | UnsetType:
        if body.dataScope in {UNSET, None, ""}:
            return UNSET
        scope = number("dataScope", body.dataScope or 0)
        return _stored_scope(scope, await self._console_versions.of_session(principal.claims.session))


def _department_ids(body: RoleBody) -> list[int] | None:
    """None: the body says nothing of them."""
    if body.deptIds is UNSET:
        return None
    return [one for each in body.deptIds or () if (one := parse_id("deptIds", each))]


def _row(role: Role, console_version: ConsoleVersion, language: str) -> RoleRow:
    return RoleRow(
        id=str(role.id),
        name=role.name,
        code=role.code,
        status=int(role.enabled),
        sort=role.sort,
        dataScope=_shown_scope(role.data_scope, console_version),
        dataScopeLabel=section("data_scopes", language)[DataScope(role.data_scope).name.lower()],
        createTime=console_time(role.created),
    )


def _shown_scope(scope: int, console_version: ConsoleVersion) -> int:
    """The oldest consoles count from 0, and know no chosen departments: those are shown as the least there is."""
    if not console_version.is_oldest:
        return scope
    return (DataScope.OWN if scope == DataScope.CHOSEN else scope) - 1


def _stored_scope(scope: int, console_version: ConsoleVersion) -> int:
    """Read by the wrong count, "department and below" would become "all"."""
    return scope + 1 if console_version.is_oldest else scope
