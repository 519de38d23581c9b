"""The console's department page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.api.contract.console.departments import DepartmentQuery, DepartmentRow
from gatehouse.api.endpoints.console.trees import tree
from gatehouse.api.endpoints.console.values import shown_time
from gatehouse.api.http.reply import Reply, success

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from gatehouse.api.http.request import Request
    from gatehouse.auth.authenticator import Principal
    from gatehouse.service import Service
    from gatehouse.stores.accounts.departments import Department


class DepartmentEndpoints:
    def __init__(self, service: Service) -> None:
        self._accounts = service.accounts

    def endpoints(self) -> dict[str, Callable[..., Awaitable[Reply]]]:
        return {"departments": self.departments}

    async def departments(self, request: Request, _principal: Principal) -> Reply:
        query = request.query_as(DepartmentQuery)
        shown = [
            department
            for department in await self._accounts.departments.all()
            if query.keywords.casefold() in department.name.casefold()
            and query.status in {None, int(department.enabled)}
        ]
        return success(tree(shown, _row), request.language)


def _row(department: Department, children: list[DepartmentRow]) -> DepartmentRow:
    return DepartmentRow(
        id=str(department.id),
        parentId=str(department.parent or 0),
        name=department.name,
        code=department.code,
        sort=department.sort,
        status=int(department.enabled),
        createTime=shown_time(department.created),
        children=children,
    )
