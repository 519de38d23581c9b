"""The console's department page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta, Struct

from gatehouse.api.actor import actor_of
from gatehouse.api.console.dates_and_ids import console_time, parse_id
from gatehouse.api.console.shared_types import Id, Number, OptionData
from gatehouse.api.console.trees import tree
from gatehouse.api.http.response import Response, success
from gatehouse.api.operation_declaration import Operation
from gatehouse.auth import refusals
from gatehouse.stores.database.departments import DepartmentChange, NewDepartment
from gatehouse.stores.database.row_changes import applied
from gatehouse.stores.errors import InUse, LastAdministrator, Missing

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.auth.principal import Principal
    from gatehouse.composition import Service
    from gatehouse.stores.database.departments import Department


class DepartmentQuery(Struct):
    keywords: Annotated[str, Meta(max_length=128)] = ""
    status: Number | None = None


class DepartmentForm(Struct):
    """`status` is 1 for an enabled department and 0 for a disabled one."""

    id: str
    parentId: str
    name: str
    code: str
    sort: int
    status: int


class DepartmentRow(DepartmentForm, kw_only=True):
    createTime: str
    children: list[DepartmentRow]


class DepartmentBody(Struct):
    name: Annotated[str, Meta(min_length=1, max_length=64)]
    parentId: Id | None = None
    code: Annotated[str, Meta(max_length=64)] | None = None
    sort: Number | None = None
    status: Number | None = None


class DepartmentEndpoints:
    def __init__(self, service: Service) -> None:
        self._departments = service.stores.departments
        self._changes = service.management.department_changes

    @Operation(
        "GET",
        "/api/v1/depts",
        "Departments as a tree",
        perm="sys:dept:list",
        query=DepartmentQuery,
        data=list[DepartmentRow],
        older_paths=("/api/v1/dept",),
    )
    async def departments(self, request: Request, _principal: Principal) -> Response:
        query = request.query_as(DepartmentQuery)
        keywords = query.keywords.casefold()
        shown = [
            department
            for department in await self._departments.all()
            if (keywords in department.name.casefold() or keywords in department.code.casefold())
            and query.status in {None, int(department.enabled)}
        ]
        return success(tree(shown, _row), request.language)

    @Operation(
        "GET",
        "/api/v1/depts/options",
        "Departments as choices",
        perm="sys:dept:list",
        or_perms=("sys:user:list", "sys:role:list"),
        data=list[OptionData],
        older_paths=("/api/v1/dept/options",),
    )
    async def department_options(self, request: Request, _principal: Principal) -> Response:
        return success(tree(await self._departments.all(), _option), request.language)

    @Operation(
        "GET",
        "/api/v1/depts/{id}/form",
        "One department",
        perm="sys:dept:list",
        or_perms=("sys:dept:update",),
        data=DepartmentForm,
        refusals=(refusals.FieldInvalid, Missing),
        older_paths=("/api/v1/dept/{id}/form",),
    )
    async def department_form(self, request: Request, _principal: Principal) -> Response:
        wanted = request.path_id()
        found = next((one for one in await self._departments.all() if one.id == wanted), None)
        if found is None:
            raise Missing(f"there is no department {wanted}")
        return success(_form(found), request.language)

    @Operation(
        "POST",
        "/api/v1/depts",
        "Add a department",
        perm="sys:dept:create",
        body=DepartmentBody,
        refusals=(refusals.CannotGrant, Missing, InUse),
        older_paths=("/api/v1/dept",),
    )
    async def add_department(self, request: Request, principal: Principal) -> Response:
        body = await request.fields(DepartmentBody)
        new = applied(NewDepartment(body.name), _department_change(body))
        await self._changes.add(actor_of(request, principal), new)
        return success(language=request.language)

    @Operation(
        "PUT",
        "/api/v1/depts/{id}",
        "Change a department",
        perm="sys:dept:update",
        body=DepartmentBody,
        refusals=(refusals.CannotGrant, Missing, InUse, LastAdministrator),
        older_paths=("/api/v1/dept/{id}",),
    )
    async def edit_department(self, request: Request, principal: Principal) -> Response:
        department, body = request.path_id(), await request.fields(DepartmentBody)
        await self._changes.edit(actor_of(request, principal), department, _department_change(body))
        return success(language=request.language)

    @Operation(
        "DELETE",
        "/api/v1/depts/{ids}",
        "Delete departments that have neither users nor others below them",
        perm="sys:dept:delete",
        refusals=(refusals.FieldInvalid, refusals.CannotGrant, Missing, InUse),
        older_paths=("/api/v1/dept/{ids}",),
    )
    async def delete_departments(self, request: Request, principal: Principal) -> Response:
        await self._changes.delete(actor_of(request, principal), request.path_ids())
        return success(language=request.language)


def _department_change(body: DepartmentBody) -> DepartmentChange:
    return DepartmentChange(
        name=body.name.strip(),
        parent=parse_id("parentId", body.parentId),
        code=(body.code or "").strip(),
        sort=body.sort or 0,
        enabled=body.status != 0,
    )


def _form(department: Department) -> DepartmentForm:
    return DepartmentForm(
        id=str(department.id),
        parentId=str(department.parent or 0),
        name=department.name,
        code=department.code,
        sort=department.sort,
        status=int(department.enabled),
    )


def _row(department: Department, children: list[DepartmentRow]) -> DepartmentRow:
    form = msgspec.structs.asdict(_form(department))
    return DepartmentRow(**form, createTime=console_time(department.created), children=children)


def _option(department: Department, children: list[OptionData]) -> OptionData:
    return OptionData(value=str(department.id), label=department.name, children=children)
