"""The perms of a role by their names, for the administration page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from gatehouse.api.actor import actor_of
from gatehouse.api.http.response import Response, success
from gatehouse.api.operation_declaration import Operation
from gatehouse.auth import refusals
from gatehouse.auth.perms import ADMIN_PERMS, names_of
from gatehouse.stores.errors import LastAdministrator, Missing

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gatehouse.api.http.request import Request
    from gatehouse.auth.principal import Principal
    from gatehouse.composition import Service

Perm = Annotated[str, Meta(min_length=1, max_length=128, examples=["sys:user:list"])]


class RolePermsData(Struct):
    """A perm with two names is shown by its current name, which means both."""

    perms: list[str]
    known: Annotated[list[str], Meta(description="Every perm that a role gives or a menu carries.")]


class RolePermsBody(Struct):
    perms: Annotated[list[Perm], Meta(max_length=2000)]


class RolePermEndpoints:
    def __init__(self, service: Service) -> None:
        self._stores = service.stores
        self._changes = service.management.role_changes

    @Operation(
        "GET",
        "/api/v1/roles/{id}/perms",
        "The perms of a role, and those to choose from",
        perm="sys:role:assign",
        or_perms=("sys:role:list",),
        data=RolePermsData,
        refusals=(refusals.FieldInvalid, Missing),
    )
    async def role_perms(self, request: Request, _principal: Principal) -> Response:
        role = await self._stores.roles.get(request.path_id())
        known = [*await self._stores.users.every_perm(), *ADMIN_PERMS]
        data = RolePermsData(_current(role.perms), _current(known))
        return success(data, request.language)

    @Operation(
        "PUT",
        "/api/v1/roles/{id}/perms",
        "Give a role these perms and no others",
        perm="sys:role:assign",
        body=RolePermsBody,
        refusals=(refusals.CannotGrant, LastAdministrator, Missing),
    )
    async def set_role_perms(self, request: Request, principal: Principal) -> Response:
        role, body = request.path_id(), await request.fields(RolePermsBody)
        await self._changes.set_perms(actor_of(request, principal), role, body.perms)
        return success(language=request.language)


def _current(perms: Iterable[str]) -> list[str]:
    """By their current names, sorted."""
    return sorted({names_of(perm)[0] for perm in perms})
