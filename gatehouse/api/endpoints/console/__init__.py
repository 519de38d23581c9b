"""The calls of management consoles, over `management`. `GATEHOUSE_CONSOLE=off` removes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.api.endpoints.console.after_login import AfterLoginEndpoints
from gatehouse.api.endpoints.console.departments import DepartmentEndpoints
from gatehouse.api.endpoints.console.logs import LogEndpoints
from gatehouse.api.endpoints.console.menus import MenuEndpoints
from gatehouse.api.endpoints.console.online import OnlineEndpoint
from gatehouse.api.endpoints.console.profile import ProfileEndpoints
from gatehouse.api.endpoints.console.role_perms import RolePermEndpoints
from gatehouse.api.endpoints.console.roles import RoleEndpoints
from gatehouse.api.endpoints.console.service_status import ServiceStatusEndpoints
from gatehouse.api.endpoints.console.sessions import LiveSessionEndpoints
from gatehouse.api.endpoints.console.user_access import UserAccessEndpoints
from gatehouse.api.endpoints.console.user_sheets import UserSheetEndpoints
from gatehouse.api.endpoints.console.users import UserEndpoints

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from gatehouse.api.http.response import Response
    from gatehouse.composition import Service


def console_endpoints(service: Service) -> dict[str, Callable[..., Awaitable[Response]]]:
    """By the name of the operation."""
    return {
        **AfterLoginEndpoints(service).endpoints(),
        **OnlineEndpoint(service).endpoints(),
        **ProfileEndpoints(service).endpoints(),
        **UserEndpoints(service).endpoints(),
        **UserSheetEndpoints(service).endpoints(),
        **RoleEndpoints(service).endpoints(),
        **MenuEndpoints(service).endpoints(),
        **DepartmentEndpoints(service).endpoints(),
        **LogEndpoints(service).endpoints(),
        **RolePermEndpoints(service).endpoints(),
        **LiveSessionEndpoints(service).endpoints(),
        **UserAccessEndpoints(service).endpoints(),
        **ServiceStatusEndpoints(service).endpoints(),
    }
