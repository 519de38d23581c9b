"""The perms of a role by their names, for the administration page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.api.contract.console.role_perms import RolePermsBody, RolePermsData
from gatehouse.api.endpoints.console.actor import actor_of
from gatehouse.api.http.response import Response, success
from gatehouse.auth.perms import ADMIN_PERMS, names_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from gatehouse.api.http.request import Request
    from gatehouse.auth.principal import Principal
    from gatehouse.composition import Service


class RolePermEndpoints:
    def __init__(self, service: Service) -> None:
        self._accounts = service.accounts

    def endpoints(self) -> dict[str, Callable[..., Awaitable[Response]]]:
        return {"role_perms": self.show, "set_role_perms": self.replace}

    async def show(self, request: Request, _principal: Principal) -> Response:
        role = await self._accounts.roles.get(request.path_id())
        known = [*await self._accounts.users.every_perm(), *ADMIN_PERMS]
        data = RolePermsData(_current(role.perms), _current(known))
        return success(data, request.language)

    async def replace(self, request: Request, principal: Principal) -> Response:
        role, body = request.path_id(), await request.fields(RolePermsBody)
        await self._accounts.role_changes.set_perms(actor_of(request, principal), role, body.perms)
        return success(language=request.language)


def _current(perms: Iterable[str]) -> list[str]:
    """By their current names, sorted."""
    return sorted({names_of(perm)[0] for perm in perms})
