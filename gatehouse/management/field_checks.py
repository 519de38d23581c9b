"""Applies a check of `accepted_values.py` to a field of a change, and names a wrong one as the contract does."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from msgspec import UNSET, UnsetType

from gatehouse.auth.refusals import AccountFieldInvalid

if TYPE_CHECKING:
    from collections.abc import Callable

Value = TypeVar("Value")


def check_field(field: str, value: Value | UnsetType, check: Callable[[Value], None]) -> None:
    """`field` is its name in the bodies of requests. What a change leaves alone is not checked."""
    try:
        if value is not UNSET:
            check(value)
    except ValueError as problem:
        raise AccountFieldInvalid(field, str(problem)) from None
