"""The console's department page."""

from __future__ import annotations

from msgspec import Struct

from gatehouse.api.contract.operation import PREFIX, STORE_REFUSALS, Group, Operation


class DepartmentQuery(Struct):
    keywords: str = ""
    status: int | None = None


class DepartmentRow(Struct):
    """`status` is 1 for an enabled department and 0 for a disabled one."""

    id: str
    parentId: str
    name: str
    code: str
    sort: int
    status: int
    createTime: str
    children: list[DepartmentRow]


OPERATIONS = (
    Operation(
        "departments",
        "GET",
        f"{PREFIX}/depts",
        "Departments as a tree",
        Group.CONSOLE,
        query=DepartmentQuery,
        data=list[DepartmentRow],
        secured=True,
        perm="sys:dept:list",
        refusals=STORE_REFUSALS,
        older_paths=(f"{PREFIX}/dept",),
    ),
)
