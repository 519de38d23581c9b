"""The console's role page, on both pairs of engines."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.api.console.conftest import Console, OlderConsole
from tests.api.console.test_users import id_of, role_id
from tests.support.inprocess import InProcess

EDITOR = {"name": "Editor", "code": "EDITOR", "sort": 2, "status": 1, "dataScope": 3}


def test_a_role_is_added_shown_changed_and_deleted(console: Console) -> None:
    console.done("POST", "roles", EDITOR)
    page = console.get("roles", pageNum=1, pageSize=10)
    assert page["total"] == 2
    admin, editor = page["list"]
    assert editor == {
        "id": editor["id"], "name": "Editor", "code": "EDITOR", "status": 1, "sort": 2, "dataScope": 3,
        "dataScopeLabel": "Department", "createTime": "2030-03-17 17:46:40",
    }  # fmt: skip
    assert (admin["code"], admin["dataScope"], admin["dataScopeLabel"]) == ("ADMIN", 1, "All data")
    assert console.get("roles", keywords="edi")["list"] == console.get("roles/page", keywords="EDI")["list"] == [editor]
    form = console.get(f"roles/{editor['id']}/form")
    assert form == EDITOR | {"id": editor["id"], "deptIds": []}
    console.done("PUT", f"roles/{editor['id']}", form | {"name": "Chief", "sort": "7"})
    assert console.get(f"roles/{editor['id']}/form") == form | {"name": "Chief", "sort": 7}
    assert console.get("roles/options") == [
        {"value": admin["id"], "label": "Administrator"},
        {"value": editor["id"], "label": "Chief"},
    ]
    console.done("DELETE", f"roles/{editor['id']}")
    console.refused("C0113", "GET", f"roles/{editor['id']}/form")


def test_departments_are_chosen_with_that_data_scope_alone(console: Console) -> None:
    console.done("POST", "roles", EDITOR | {"dataScope": 5, "deptIds": ["1"]})
    role = role_id(console, "EDITOR")
    assert console.get(f"roles/{role}/dept-ids") == ["1"]
    assert console.get(f"roles/{role}/form")["deptIds"] == ["1"]
    console.refused("C0113", "PUT", f"roles/{role}", EDITOR | {"dataScope": 5, "deptIds": [1, 999]})
    console.done("PUT", f"roles/{role}", EDITOR | {"dataScope": 5})
    assert console.get(f"roles/{role}/dept-ids") == ["1"], "left out: as it was"
    console.done("PUT", f"roles/{role}", EDITOR | {"dataScope": 2, "deptIds": [1]})
    assert console.get(f"roles/{role}/dept-ids") == []


def test_the_oldest_consoles_count_data_scopes_from_zero(console: Console, gatehouse: InProcess) -> None:
    """Read by the count of the others, "department and below" would become "all"."""
    older = OlderConsole(gatehouse)
    older.done("POST", "roles", EDITOR | {"dataScope": 1})
    role = role_id(console, "EDITOR")
    assert console.get(f"roles/{role}/form")["dataScope"] == 2
    assert older.get(f"roles/{role}/form")["dataScope"] == 1
    console.done("PUT", f"roles/{role}", EDITOR | {"dataScope": 5, "deptIds": [1]})
    shown = older.get(f"roles/{role}/form")
    assert shown["dataScope"] == 3
    older.done("PUT", f"roles/{role}", shown)
    assert console.get(f"roles/{role}/form")["dataScope"] == 4, "what they do not know becomes the least there is"
    older.refused("A0421", "PUT", f"roles/{role}", shown | {"dataScope": 7})


def test_a_disabled_role_grants_nothing_from_the_next_request_on(
    console: Console, user: Callable[..., Console]
) -> None:
    bob = user("bob", "sys:user:list", "sys:dept:list")
    role = role_id(console, "BOB")
    form = console.get(f"roles/{role}/form")
    console.done("PUT", f"roles/{role}", form | {"status": 0})
    assert (bob.get("users/me")["roles"], bob.get("users/me")["perms"]) == ([], [])
    bob.refused("A0301", "GET", "users")
    console.done("PUT", f"roles/{role}", form)
    assert bob.get("users")["total"] == 2
    console.done("DELETE", f"roles/{role}")
    assert bob.get("users/me")["roles"] == []


def test_a_disabled_department_grants_nothing_from_the_next_request_on(
    console: Console, user: Callable[..., Console]
) -> None:
    bob = user("bob", "sys:user:list")
    console.done("POST", "depts", {"name": "North", "parentId": "1"})
    north = console.get("depts/options")[0]["children"][0]["value"]
    console.done("PUT", f"users/{id_of(console, 'bob')}", {"username": "bob", "nickname": "bob", "deptId": north})
    assert bob.get("users")["total"] == 2
    console.done("PUT", f"depts/{north}", {"name": "North", "parentId": "1", "status": 0})
    assert (bob.get("users/me")["roles"], bob.get("users/me")["perms"]) == ([], [])
    bob.refused("A0301", "GET", "users")
    console.done("PUT", f"depts/{north}", {"name": "North", "parentId": "1", "status": 1})
    assert bob.get("users")["total"] == 2


@pytest.mark.parametrize(
    ("field", "value"),
    [("code", "two words"), ("name", "\u0000"), ("dataScope", 9), ("dataScope", "all"), ("sort", -1), ("deptIds", 1)],
)
def test_values_that_are_wrong_are_refused(console: Console, field: str, value: object) -> None:
    assert field in console.refused("A0421", "POST", "roles", EDITOR | {field: value})
    assert console.get("roles")["total"] == 1


def test_codes_are_taken_once_and_roles_go_together(console: Console) -> None:
    console.done("POST", "roles", EDITOR)
    console.refused("A0440", "POST", "roles", EDITOR)
    role = role_id(console, "EDITOR")
    console.refused("A0440", "PUT", f"roles/{role}", EDITOR | {"code": "ADMIN"})
    console.refused("C0113", "DELETE", f"roles/{role},999")
    console.refused("A0301", "DELETE", f"roles/{role},{role_id(console, 'ADMIN')}")
    assert console.get("roles")["total"] == 2


def test_every_change_is_in_the_trail_with_who_and_what(console: Console, gatehouse: InProcess) -> None:
    console.done("POST", "roles", EDITOR)
    role = role_id(console, "EDITOR")
    console.done("PUT", f"roles/{role}", EDITOR | {"name": "Chief", "dataScope": 5, "deptIds": [1]})
    console.done("DELETE", f"roles/{role}")
    gatehouse.run(gatehouse.service.audit.stop())
    entries = gatehouse.run(
        gatehouse.service.stores.audit_trail.read(events=["role.added", "role.changed", "role.deleted"])
    )
    told = [(entry.event, entry.actor, entry.detail) for entry in entries if "EDITOR" in (entry.detail or "")]
    assert told == [
        ("role.added", 1, '{"role":"EDITOR","perms":[]}'),
        ("role.changed", 1, '{"role":"EDITOR","changed":["data_scope","departments","name"]}'),
        ("role.deleted", 1, '{"role":"EDITOR"}'),
    ]
