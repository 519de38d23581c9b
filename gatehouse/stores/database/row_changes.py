"""Changes to a row: what a change leaves alone is UNSET, and what it sets becomes columns."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Row = TypeVar("Row", bound=DataclassInstance)

Value = TypeVar("Value")
Change = TypeVar("Change", bound="RowChange")


class RowChange(msgspec.Struct, frozen=True, kw_only=True):
    """Its fields have the names and types of the row's."""


def set_columns(change: RowChange) -> dict[str, Any]:
    """The columns that the change sets, by their names."""
    return {name: value for name, value in msgspec.structs.asdict(change).items() if value is not UNSET}


def without_same(change: Change, row: DataclassInstance) -> Change:
    """The change without what the row has already."""
    columns = set_columns(change)
    return type(change)(**{name: value for name, value in columns.items() if value != getattr(row, name)})


def applied(row: Row, change: RowChange) -> Row:
    """The row after the change."""
    return replace(row, **set_columns(change))


def unset_if_none(value: Value | None) -> Value | UnsetType:
    """For forms in which None means: leave it alone."""
    return UNSET if value is None else value
