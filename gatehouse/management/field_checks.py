"""Applies the checks of `accepted_values.py` to the columns of a change, and names a wrong one as the contract does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gatehouse.auth.refusals import AccountFieldInvalid

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Check = Callable[[Any], None]


def contract_name(column: str) -> str:
    """The name of a column in the bodies of requests: `data_scope` is `dataScope`."""
    head, *rest = column.split("_")
    return head + "".join(part.capitalize() for part in rest)


def check_field(field: str, value: object, check: Check) -> None:
    try:
        check(value)
    except ValueError as problem:
        raise AccountFieldInvalid(field, str(problem)) from None


def check_fields(values: Mapping[str, object], checks: Mapping[str, Check]) -> None:
    """Check those columns that are given."""
    for column, check in checks.items():
        if column in values:
            check_field(contract_name(column), values[column], check)
