"""The console's role page. The menus of a role are in `menus.py`."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from gatehouse.api.console.fields import Id  # noqa: TC001 - msgspec reads the annotations
from gatehouse.api.console.operation import console_operation
from gatehouse.api.console.options import OptionData
from gatehouse.api.console.shared_types import Page, PageQuery
from gatehouse.api.operation import PREFIX
from gatehouse.auth import refusals
from gatehouse.stores.errors import Duplicate, LastAdministrator, Missing

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


OPERATIONS = (
    console_operation(
        "roles",
        "GET",
        "roles",
        "A page of roles",
        "sys:role:list",
        query=PageQuery,
        data=Page[RoleRow],
        older_paths=(f"{PREFIX}/roles/page",),
    ),
    console_operation(
        "role_options",
        "GET",
        "roles/options",
        "The roles that the caller may grant, as choices",
        "sys:role:list",
        or_perms=("sys:user:list", "sys:user:create", "sys:user:update"),
        data=list[OptionData],
    ),
    console_operation(
        "role_form",
        "GET",
        "roles/{id}/form",
        "One role",
        "sys:role:list",
        or_perms=("sys:role:update",),
        data=RoleForm,
        refusals=(refusals.FieldInvalid, Missing),
    ),
    console_operation(
        "role_departments",
        "GET",
        "roles/{id}/dept-ids",
        "The departments chosen for a role",
        "sys:role:list",
        or_perms=("sys:role:update",),
        data=list[str],
        refusals=(refusals.FieldInvalid, Missing),
    ),
    console_operation(
        "add_role",
        "POST",
        "roles",
        "Add a role",
        "sys:role:create",
        body=RoleBody,
        body_required=True,
        refusals=(refusals.CannotGrant, Missing, Duplicate),
    ),
    console_operation(
        "edit_role",
        "PUT",
        "roles/{id}",
        "Change a role; what is disabled grants nothing",
        "sys:role:update",
        body=RoleBody,
        body_required=True,
        refusals=(refusals.CannotGrant, refusals.OwnAccount, LastAdministrator, Missing, Duplicate),
    ),
    console_operation(
        "delete_roles",
        "DELETE",
        "roles/{ids}",
        "Delete roles, all of them or none; their users lose the perms",
        "sys:role:delete",
        refusals=(refusals.FieldInvalid, refusals.CannotGrant, LastAdministrator, Missing),
    ),
)
