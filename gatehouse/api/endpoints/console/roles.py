"""The console's role page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET, UnsetType

from gatehouse.api.contract.console.options import OptionData
from gatehouse.api.contract.console.roles import RoleBody, RoleForm, RoleRow
from gatehouse.api.contract.page import Page, PageQuery
from gatehouse.api.endpoints.console.actor import actor_of
from gatehouse.api.endpoints.console.formats import console_time, number, parse_id
from gatehouse.api.http.response import Response, success
from gatehouse.management.authority import grant_of, lack_to_grant
from gatehouse.stores.database.roles import DataScope, NewRole, RoleChange
from gatehouse.stores.database.row_changes import applied

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from gatehouse.api.http.request import Request
    from gatehouse.auth.principal import Principal
    from gatehouse.auth.sessions.console_versions import ConsoleVersion
    from gatehouse.composition import Service
    from gatehouse.stores.database.roles import Role

_LABELS = {
    DataScope.ALL: ("All data", "全部数据"),
    DataScope.DEPARTMENT_AND_BELOW: ("Department and below", "部门及子部门数据"),
    DataScope.DEPARTMENT: ("Department", "本部门数据"),
    DataScope.OWN: ("Own data", "本人数据"),
    DataScope.CHOSEN: ("Chosen departments", "自定义部门数据"),
}


class RoleEndpoints:
    def __init__(self, service: Service) -> None:
        self._roles = service.accounts.roles
        self._changes = service.accounts.role_changes
        self._console_versions = service.console_versions

    def endpoints(self) -> dict[str, Callable[..., Awaitable[Response]]]:
        return {
            "roles": self.roles,
            "role_options": self.options,
            "role_form": self.form,
            "role_departments": self.departments,
            "add_role": self.add,
            "edit_role": self.edit,
            "delete_roles": self.delete,
        }

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

    async def options(self, request: Request, principal: Principal) -> Response:
        actor = actor_of(request, principal)
        choices = [
            OptionData(str(role.id), role.name)
            for role in await self._sorted()
            if lack_to_grant(actor, grant_of(role)) is None
        ]
        return success(choices, request.language)

    async def form(self, request: Request, principal: Principal) -> Response:
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

    async def departments(self, request: Request, _principal: Principal) -> Response:
        role = await self._roles.get(request.path_id())
        return success([str(department) for department in role.departments], request.language)

    async def add(self, request: Request, principal: Principal) -> Response:
        body = await request.fields(RoleBody)
        new = applied(NewRole(body.code, body.name), await self._role_change(body, principal))
        await self._changes.add(actor_of(request, principal), new, departments=_department_ids(body) or ())
        return success(language=request.language)

    async def edit(self, request: Request, principal: Principal) -> Response:
        role, body = request.path_id(), await request.fields(RoleBody)
        values = await self._role_change(body, principal)
        await self._changes.edit(actor_of(request, principal), role, values, _department_ids(body))
        return success(language=request.language)

    async def delete(self, request: Request, principal: Principal) -> Response:
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
    label = _LABELS.get(DataScope(role.data_scope), ("", ""))
    return RoleRow(
        id=str(role.id),
        name=role.name,
        code=role.code,
        status=int(role.enabled),
        sort=role.sort,
        dataScope=_shown_scope(role.data_scope, console_version),
        dataScopeLabel=label[language == "zh"],
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
