"""The calls of management consoles, over `auth/accounts`. `GATEHOUSE_CONSOLE=off` takes them away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.api.endpoints.console.departments import DepartmentEndpoints

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from gatehouse.api.http.reply import Reply
    from gatehouse.service import Service


def console_endpoints(service: Service) -> dict[str, Callable[..., Awaitable[Reply]]]:
    """By the name of the operation."""
    return {
        **DepartmentEndpoints(service).endpoints(),
    }
