"""One of the console's operations: below `/api/v1`, with a token, refused without the stores."""

from __future__ import annotations

from typing import Any

from gatehouse.api.operation import PREFIX, STORE_REFUSALS, Group, Operation


def console_operation(
    name: str, method: str, path: str, summary: str, perm: str | None = None, **more: Any
) -> Operation:
    more["refusals"] = (*more.get("refusals", ()), *STORE_REFUSALS)
    return Operation(name, method, f"{PREFIX}/{path}", summary, Group.CONSOLE, requires_token=True, perm=perm, **more)
