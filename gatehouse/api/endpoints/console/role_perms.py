"""The perms of a role by their names, for the administration page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.api.contract.console.role_perms import RolePermsBody, RolePermsData
from gatehouse.api.endpoints.console.actor import actor_of
from gatehouse.api.http.response import Response, success
from gatehouse.auth.perms import ADMIN_PERMS, names_of
from gatehouse.stores.errors import Missing

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from gatehouse.api.http.request import Request
    from gatehouse.auth.principal import Principal
    from gatehouse.service import Service


class RolePermEndpoints:
    def __init__(self, service: Service) -> None:
        self._accounts = service.accounts

    def endpoints(self) -> dict[str, Callable[..., Awaitable[Response]]]:
        return {"role_perms": self.show, "set_role_perms": self.replace}

    async def show(self, request: Request, _principal: Principal) -> Response:
        wanted = request.path_id()
        roles = await self._accounts.roles.all()
        role = next((role for role in roles if role.id == wanted), None)
        if role is None:
            raise Missing(f"there is no role {wanted}")
        carried = [menu.perm for menu in await self._accounts.menus.all() if menu.perm]
        given = [perm for each in roles for perm in each.perms]
        data = RolePermsData(_current(role.perms), _current([*given, *carried, *ADMIN_PERMS]))
        return success(data, request.language)

    async def replace(self, request: Request, principal: Principal) -> Response:
        role, body = request.path_id(), await request.fields(RolePermsBody)
        await self._accounts.role_changes.set_perms(actor_of(request, principal), role, body.perms)
        return success(language=request.language)


def _current(perms: Iterable[str]) -> list[str]:
    """By their current names, sorted."""
    return sorted({names_of(perm)[0] for perm in perms})
