"""The console's department page."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from gatehouse.api.console.fields import Id, Number  # noqa: TC001 - msgspec reads the annotations
from gatehouse.api.console.operation import console_operation
from gatehouse.api.console.options import OptionData
from gatehouse.api.operation import PREFIX, Operation
from gatehouse.auth import refusals
from gatehouse.stores.errors import InUse, LastAdministrator, Missing


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


def _operation(name: str, method: str, path: str, summary: str, perm: str | None, **more: Any) -> Operation:
    older_path = f"{PREFIX}/{path.replace('depts', 'dept', 1)}"
    return console_operation(name, method, path, summary, perm, older_paths=(older_path,), **more)


OPERATIONS = (
    _operation(
        "departments",
        "GET",
        "depts",
        "Departments as a tree",
        "sys:dept:list",
        query=DepartmentQuery,
        data=list[DepartmentRow],
    ),
    _operation(
        "department_options",
        "GET",
        "depts/options",
        "Departments as choices",
        "sys:dept:list",
        or_perms=("sys:user:list", "sys:role:list"),
        data=list[OptionData],
    ),
    _operation(
        "department_form",
        "GET",
        "depts/{id}/form",
        "One department",
        "sys:dept:list",
        or_perms=("sys:dept:update",),
        data=DepartmentForm,
        refusals=(refusals.FieldInvalid, Missing),
    ),
    _operation(
        "add_department",
        "POST",
        "depts",
        "Add a department",
        "sys:dept:create",
        body=DepartmentBody,
        body_required=True,
        refusals=(refusals.CannotGrant, Missing, InUse),
    ),
    _operation(
        "edit_department",
        "PUT",
        "depts/{id}",
        "Change a department",
        "sys:dept:update",
        body=DepartmentBody,
        body_required=True,
        refusals=(refusals.CannotGrant, Missing, InUse, LastAdministrator),
    ),
    _operation(
        "delete_departments",
        "DELETE",
        "depts/{ids}",
        "Delete departments that have neither users nor others below them",
        "sys:dept:delete",
        refusals=(refusals.FieldInvalid, refusals.CannotGrant, Missing, InUse),
    ),
)
