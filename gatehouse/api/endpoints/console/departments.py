"""The console's department page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from gatehouse.api.contract.console.departments import DepartmentBody, DepartmentForm, DepartmentQuery, DepartmentRow
from gatehouse.api.contract.console.options import OptionData
from gatehouse.api.endpoints.console.actor import actor_of
from gatehouse.api.endpoints.console.formats import console_time, parse_id
from gatehouse.api.endpoints.console.trees import tree
from gatehouse.api.http.response import Response, success
from gatehouse.stores.database.departments import DepartmentChange, NewDepartment
from gatehouse.stores.database.row_changes import applied
from gatehouse.stores.errors import Missing

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from gatehouse.api.http.request import Request
    from gatehouse.auth.principal import Principal
    from gatehouse.composition import Service
    from gatehouse.stores.database.departments import Department


class DepartmentEndpoints:
    def __init__(self, service: Service) -> None:
        self._departments = service.accounts.departments
        self._changes = service.accounts.department_changes

    def endpoints(self) -> dict[str, Callable[..., Awaitable[Response]]]:
        return {
            "departments": self.departments,
            "department_options": self.options,
            "department_form": self.form,
            "add_department": self.add,
            "edit_department": self.edit,
            "delete_departments": self.delete,
        }

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

    async def options(self, request: Request, _principal: Principal) -> Response:
        return success(tree(await self._departments.all(), _option), request.language)

    async def form(self, request: Request, _principal: Principal) -> Response:
        wanted = request.path_id()
        found = next((one for one in await self._departments.all() if one.id == wanted), None)
        if found is None:
            raise Missing(f"there is no department {wanted}")
        return success(_form(found), request.language)

    async def add(self, request: Request, principal: Principal) -> Response:
        body = await request.fields(DepartmentBody)
        new = applied(NewDepartment(body.name), _department_change(body))
        await self._changes.add(actor_of(request, principal), new)
        return success(language=request.language)

    async def edit(self, request: Request, principal: Principal) -> Response:
        department, body = request.path_id(), await request.fields(DepartmentBody)
        await self._changes.edit(actor_of(request, principal), department, _department_change(body))
        return success(language=request.language)

    async def delete(self, request: Request, principal: Principal) -> Response:
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
