"""How one setting is declared: default, and the function that reads its text."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from gatehouse.common.parsing import seconds, with_unit

if TYPE_CHECKING:
    from collections.abc import Callable


def setting(
    default: object,
    read: Callable[[str], object],
    *,
    secret: bool = False,
    show: Callable[[Any], str] = str,
) -> Any:
    return dataclasses.field(
        default=default,
        metadata={"read": read, "secret": secret, "show": show},
        repr=not secret,
    )


def timespan(default: int, low: int, high: int) -> Any:
    """A duration in seconds, shown with a unit: 7d."""
    return setting(default, seconds(low, high), show=with_unit)
