"""A sync with a directory: what is planned for each case, and what is believed."""

from __future__ import annotations

from typing import Any

import pytest

from gatehouse.auth.identity.mapping import NamedDepartment
from gatehouse.auth.identity.sources import Source
from gatehouse.identity_sources.definitions import DirectoryConfig, Mapping, SourceKind
from gatehouse.identity_sources.person import Person
from gatehouse.management.directory_sync import SyncAction, SyncContext, SyncPlan, SyncPlanner
from gatehouse.stores.database.identity_sources import Identity, LinkedUser
from gatehouse.stores.database.users import User

CORP = 7


def person(name: str, subject: str = "", **attributes: str) -> Person:
    groups = tuple(filter(None, attributes.pop("groups", "").split()))
    values = {"uid": name, **attributes}
    return Person(subject or f"id-{name}", name, {key: (value,) for key, value in values.items()}, groups)


def linked(name: str, **user: Any) -> tuple[Identity, User]:
    number = sum(map(ord, name))
    gone = user.pop("gone", None)
    values = {"username": name, "nickname": name, "avatar": "", "department": 1, "password_hash": "", "enabled": True}
    made = User(**{"id": number, "captcha_exempt": False, "created": 0.0, **values, **user})
    return Identity(number, number, CORP, "", f"id-{name}", name, 0.0, 0.0, gone), made


def planned(
    people: list[Person],
    known: list[tuple[Identity, User]],
    roles: dict[str, dict[str, int | None]] | None = None,
    names: dict[str, int] | None = None,
    mapping: Mapping = Mapping(),  # noqa: B008 - frozen
    **options: Any,
) -> SyncPlan:
    source = Source(CORP, "corp", "corp", SourceKind.DIRECTORY, DirectoryConfig(mapping=mapping), None)
    users = {user.id: LinkedUser(user, (roles or {}).get(user.username, {})) for _, user in known}
    taken = {user.username: user.id for _, user in known} | (names or {})
    departments = [NamedDepartment(1, "Headquarters", ""), NamedDepartment(2, "Sales", "S")]
    identities = [identity for identity, _ in known]
    planner = SyncPlanner(SyncContext(source, identities, users, taken, departments, {"ADMIN", "CLERK"}, **options))
    for each in people:
        planner.add(each)
    return planner.plan()


def actions(plan: SyncPlan) -> list[tuple[str, str]]:
    return [(step.action.value, step.username) for step in plan.steps]


def test_whoever_is_the_same_is_left_alone() -> None:
    plan = planned([person("ann"), person("bob")], [linked("ann"), linked("bob")])
    assert (plan.steps, plan.unchanged, plan.refusal) == ((), 2, None)


def test_a_profile_a_department_and_a_name_follow_the_directory() -> None:
    new = person("lee", "id-ann", displayname="Ann Lee", mail="ann@example.org", department="sales")
    [step] = planned([new], [linked("ann")]).steps
    assert step.action is SyncAction.CHANGE
    assert step.changed == {
        "username": ("ann", "lee"), "nickname": ("ann", "Ann Lee"), "email": ("", "ann@example.org"),
        "department": (1, 2), "name": ("ann", "lee"),
    }  # fmt: skip


def test_roles_of_the_directory_come_and_go_and_those_by_hand_stay() -> None:
    mapping = Mapping(roles={"CN=Admins": ("ADMIN",), "clerks": ("CLERK", "NONE")})
    held: dict[str, dict[str, int | None]] = {"ann": {"ADMIN": CORP}, "bob": {"CLERK": None, "ADMIN": 8}}
    plan = planned(
        [person("ann", groups="clerks"), person("bob", groups="cn=admins clerks")],
        [linked("ann"), linked("bob")],
        held,
        mapping=mapping,
    )
    [ann] = plan.steps
    assert (ann.username, ann.granted, ann.revoked) == ("ann", ("CLERK",), ("ADMIN",))
    assert (plan.unchanged, plan.missing_roles) == (1, ("NONE",))


def test_new_people_get_a_user_only_when_that_is_wanted() -> None:
    plan = planned([person("ann"), person("new")], [linked("ann")])
    assert (plan.steps, plan.without_user) == ((), 1)
    plan = planned([person("ann"), person("new")], [linked("ann")], create=True)
    assert (actions(plan), plan.without_user) == ([("add", "new")], 0)


@pytest.mark.parametrize("create", [True, False])
def test_a_name_that_somebody_has_is_a_conflict(create: bool) -> None:
    plan = planned([person("ann"), person("Admin")], [linked("ann")], names={"admin": 1}, create=create)
    assert actions(plan) == [("conflict", "Admin")]
    assert "another user is called Admin" in str(plan.steps[0].problem)


def test_two_new_people_with_one_name_are_a_conflict() -> None:
    plan = planned([person("new", "1"), person("NEW", "2")], [], create=True)
    assert actions(plan) == [("add", "new"), ("conflict", "NEW")]


def test_new_people_without_a_usable_name_or_department_are_a_conflict() -> None:
    nameless = Person("id-1", "", {}, ())
    assert actions(planned([nameless], [], create=True)) == [("conflict", "")]
    [step] = planned([person("new")], [], mapping=Mapping(default_department=99), create=True).steps
    assert (step.action, "no department 99" in str(step.problem)) == (SyncAction.CONFLICT, True)


def test_a_new_name_that_another_user_has_is_not_taken() -> None:
    [step] = planned([person("bob", "id-ann", displayname="Ann")], [linked("ann")], names={"bob": 5}).steps
    assert "username" not in step.changed
    assert step.changed["nickname"] == ("ann", "Ann")
    assert "another user is called bob" in str(step.problem)


def test_whoever_is_gone_is_disabled_once() -> None:
    plan = planned([person("ann")], [linked("ann"), linked("bob"), linked("eve", gone=1.0, enabled=False)])
    assert actions(plan) == [("disable", "bob")]


def test_whoever_was_enabled_by_hand_and_is_still_gone_is_disabled_again() -> None:
    plan = planned([person("ann")], [linked("ann"), linked("eve", gone=1.0, enabled=True)])
    assert actions(plan) == [("disable", "eve")]


def test_whoever_is_back_is_enabled_and_who_was_disabled_by_hand_is_not() -> None:
    plan = planned(
        [person("ann"), person("bob"), person("eve")],
        [linked("ann", gone=1.0, enabled=False), linked("bob", enabled=False), linked("eve", gone=1.0)],
    )
    assert actions(plan) == [("enable", "ann"), ("change", "eve")]


def test_a_directory_that_shows_nobody_is_not_believed() -> None:
    plan = planned([], [linked("ann")], max_gone=100)
    assert plan.refusal is not None
    assert plan.refusal.code == "sync.nobody"


@pytest.mark.parametrize(
    ("there", "max_gone", "believed"), [(2, 50, True), (1, 50, False), (1, 75, True), (3, 0, False)]
)
def test_more_than_a_share_of_the_known_must_not_be_gone(there: int, max_gone: int, believed: bool) -> None:
    names = ["ann", "bob", "eve", "kim"]
    already = linked("old", gone=1.0, enabled=False)
    plan = planned([person(name) for name in names[:there]], [*map(linked, names), already], max_gone=max_gone)
    assert (plan.refusal is None) is believed, "those who were gone before do not count"
