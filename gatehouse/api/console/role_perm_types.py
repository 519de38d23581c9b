"""The perms of a role by their names, for the administration page. Consoles assign them through menus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta, Struct

from gatehouse.api.console.operation import console_operation
from gatehouse.auth import refusals
from gatehouse.stores.errors import LastAdministrator, Missing

if TYPE_CHECKING:
    from gatehouse.api.operation import Operation

Perm = Annotated[str, Meta(min_length=1, max_length=128, examples=["sys:user:list"])]


class RolePermsData(Struct):
    """A perm with two names is shown by its current name, which means both."""

    perms: list[str]
    known: Annotated[list[str], Meta(description="Every perm that a role gives or a menu carries.")]


class RolePermsBody(Struct):
    perms: Annotated[list[Perm], Meta(max_length=2000)]


def _operation(name: str, method: str, path: str, summary: str, perm: str, **more: Any) -> Operation:
    more["refusals"] = (refusals.FieldInvalid, *more.get("refusals", ()), Missing)
    return console_operation(name, method, path, summary, perm, **more)


OPERATIONS = (
    _operation(
        "role_perms",
        "GET",
        "roles/{id}/perms",
        "The perms of a role, and those to choose from",
        "sys:role:assign",
        or_perms=("sys:role:list",),
        data=RolePermsData,
    ),
    _operation(
        "set_role_perms",
        "PUT",
        "roles/{id}/perms",
        "Give a role these perms and no others",
        "sys:role:assign",
        body=RolePermsBody,
        body_required=True,
        refusals=(refusals.CannotGrant, LastAdministrator),
    ),
)
