"""Changes to rows: what they leave alone, and that they fit the rows that they change."""

from __future__ import annotations

from typing import get_args, get_type_hints

import pytest
from msgspec import UNSET, UnsetType
from sqlalchemy import Table

from gatehouse.stores.database import schema
from gatehouse.stores.database.departments import Department, DepartmentChange
from gatehouse.stores.database.menus import Menu, MenuChange
from gatehouse.stores.database.roles import NewRole, Role, RoleChange
from gatehouse.stores.database.row_changes import RowChange, applied, set_columns, without_same
from gatehouse.stores.database.users import User, UserChange


@pytest.mark.parametrize(
    ("change", "row", "table"),
    [
        (UserChange, User, schema.users),
        (RoleChange, Role, schema.roles),
        (DepartmentChange, Department, schema.departments),
        (MenuChange, Menu, schema.menus),
    ],
)
def test_a_change_has_the_fields_of_its_row(change: type[RowChange], row: type, table: Table) -> None:
    stored = get_type_hints(row)
    for name, kind in get_type_hints(change).items():
        assert set(get_args(kind)) - {UnsetType} == set(get_args(stored[name]) or (stored[name],)), name
        assert name in table.c


def test_only_what_is_set_and_differs_is_written() -> None:
    role = NewRole("A", "Name", sort=3)
    change = RoleChange(name="Name", sort=0, enabled=False)
    assert set_columns(change) == {"name": "Name", "sort": 0, "enabled": False}
    assert without_same(change, role) == RoleChange(sort=0, enabled=False)
    assert without_same(change, role).name is UNSET
    assert applied(role, change) == NewRole("A", "Name", enabled=False, sort=0)
