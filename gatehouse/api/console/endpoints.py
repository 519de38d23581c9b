"""The calls of management consoles, over `management`. `GATEHOUSE_CONSOLE=off` removes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.api.console.department_page import DepartmentEndpoints
from gatehouse.api.console.dictionaries import AfterLoginEndpoints
from gatehouse.api.console.log_page import LogEndpoints
from gatehouse.api.console.menu_page import MenuEndpoints
from gatehouse.api.console.online_users import OnlineEndpoint
from gatehouse.api.console.profile_page import ProfileEndpoints
from gatehouse.api.console.role_page import RoleEndpoints
from gatehouse.api.console.role_perms import RolePermEndpoints
from gatehouse.api.console.service_status import ServiceStatusEndpoints
from gatehouse.api.console.session_page import LiveSessionEndpoints
from gatehouse.api.console.user_access import UserAccessEndpoints
from gatehouse.api.console.user_page import UserEndpoints
from gatehouse.api.console.user_sheets import UserSheetEndpoints

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
