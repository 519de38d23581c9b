"""The department page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gatehouse.stores.database.tree_depth import MAX_DEPTH
from gatehouse.stores.database.users import UserChange
from tests.api.console.conftest import Console
from tests.support.inprocess import InProcess

FORM = {"name": "Sales", "parentId": "1", "code": "S", "sort": 2, "status": 1}


def called(console: Console, name: str) -> dict[str, Any]:
    found = [one for top in console.get("depts") for one in (top, *top["children"]) if one["name"] == name]
    assert len(found) == 1
    return dict(found[0])


def test_a_department_is_made_read_changed_and_deleted(console: Console) -> None:
    console.done("POST", "depts", FORM)
    made = called(console, "Sales")
    assert made | FORM == made
    assert made["createTime"].startswith("2030-")
    form = console.get(f"depts/{made['id']}/form")
    assert form == {"id": made["id"], **FORM}
    console.done("PUT", f"dept/{made['id']}", form | {"name": "Sales, north", "status": 0, "parentId": 1})
    assert called(console, "Sales, north")["status"] == 0
    assert [one["name"] for one in console.get("dept", status="0")] == ["Sales, north"]
    assert [one["name"] for one in console.get("depts", keywords="NORTH")] == ["Sales, north"]
    options = console.get("depts/options")
    assert options == console.get("dept/options")
    assert options[0]["children"] == [{"value": made["id"], "label": "Sales, north"}]
    console.done("DELETE", f"depts/{made['id']}")
    console.refused("C0113", "GET", f"depts/{made['id']}/form")


def test_several_go_at_once_or_none(console: Console) -> None:
    for name in ("A", "B"):
        console.done("POST", "depts", FORM | {"name": name})
    first, second = called(console, "A")["id"], called(console, "B")["id"]
    console.refused("C0113", "DELETE", f"depts/{first},999")
    console.refused("A0440", "DELETE", f"depts/{first},1")
    console.done("POST", "depts", FORM | {"name": "Below", "parentId": first})
    console.refused("A0440", "DELETE", f"depts/{first}")
    below = console.get("depts", keywords="Below")[0]["id"]
    console.done("DELETE", f"depts/{first},{below},{second}")
    assert len(console.get("depts")) == 1
    assert console.get("depts")[0]["children"] == []


def test_a_department_does_not_go_below_itself(console: Console) -> None:
    console.done("POST", "depts", FORM)
    made = called(console, "Sales")["id"]
    console.refused("A0440", "PUT", "depts/1", {"name": "Headquarters", "parentId": made})


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"name": ""}, "A0410"),
        ({"name": "x" * 65}, "A0421"),
        ({"parentId": "x"}, "A0421"),
        ({"parentId": 999}, "C0113"),
        ({"sort": "x"}, "A0421"),
        ({"sort": 2**31}, "A0421"),
        ({"parentId": 2**60}, "A0421"),
    ],
)
def test_departments_that_are_refused(console: Console, changes: dict[str, Any], code: str) -> None:
    console.refused(code, "POST", "depts", FORM | changes)


def test_a_disabled_department_grants_nothing_from_the_next_request_on(
    gatehouse: InProcess, console: Console, user: Callable[..., Console]
) -> None:
    clerk = user("clerk", "sys:dept:list", "sys:dept:update")
    console.done("POST", "depts", FORM)
    sales = called(console, "Sales")
    gatehouse.run(gatehouse.accounts.edit_user("clerk", UserChange(department=int(sales["id"]))))
    assert clerk.get("users/me")["perms"] != []
    clerk.refused("A0301", "PUT", f"depts/{sales['id']}", FORM | {"status": 0})
    console.done("PUT", f"depts/{sales['id']}", FORM | {"status": 0})
    assert clerk.get("users/me")["perms"] == []
    clerk.refused("A0301", "GET", "depts")
    console.done("PUT", f"depts/{sales['id']}", FORM)
    assert clerk.get("depts")


def test_the_department_of_the_last_administrator_stays_enabled(console: Console) -> None:
    answer = console.call("PUT", "depts/1", {"name": "Headquarters", "parentId": "0", "status": 0})
    assert answer.status >= 400
    assert console.get("depts")[0]["status"] == 1


def newest(console: Console) -> str:
    departments = console.gatehouse.run(console.gatehouse.service.stores.departments.all())
    return str(max(department.id for department in departments))


def test_a_tree_does_not_grow_deeper_than_it_can_be_shown(console: Console) -> None:
    """Or whoever may add a department could keep everybody from seeing any."""
    parent, under = "1", ""
    for level in range(2, MAX_DEPTH + 1):
        console.done("POST", "depts", {"name": f"level {level}", "parentId": parent})
        under, parent = parent, newest(console)
    console.refused("A0440", "POST", "depts", {"name": "one more", "parentId": parent})
    console.done("POST", "depts", {"name": "two", "parentId": "0"})
    two = newest(console)
    console.done("POST", "depts", {"name": "levels", "parentId": two})
    console.refused("A0440", "PUT", f"depts/{two}", {"name": "two", "parentId": under})
    console.done("PUT", f"depts/{parent}", {"name": "renamed", "parentId": under})
    assert len(console.get("depts/options")) == 2
