"""From what a source says to a profile, a department and roles."""

from __future__ import annotations

import pytest

from gatehouse.auth.identity.mapping import NamedDepartment, map_person
from gatehouse.identity_sources.definitions import Mapping, SourceKind
from gatehouse.identity_sources.person import Person

DEPARTMENTS = [NamedDepartment(1, "Headquarters", ""), NamedDepartment(7, "Sales", "S-1")]


def person(groups: tuple[str, ...] = (), **attributes: str) -> Person:
    return Person("u-1", "ann", {name: (value,) for name, value in attributes.items()}, groups)


def test_the_usual_names_of_a_directory_need_no_mapping() -> None:
    given = person(uid="ann", cn="Ann Lee", mail="ann@example.org", mobile="+1 22", department="sales")
    mapped = map_person(given, SourceKind.DIRECTORY, Mapping(), DEPARTMENTS)
    assert mapped == ("ann", "Ann Lee", "ann@example.org", "+1 22", 7, ())


def test_the_usual_claims_of_a_provider_need_no_mapping() -> None:
    given = person(preferred_username="ann", name="Ann Lee", email="ann@example.org", phone_number="+1 22")
    mapped = map_person(given, SourceKind.OPENID, Mapping(), DEPARTMENTS)
    assert mapped == ("ann", "Ann Lee", "ann@example.org", "+1 22", None, ())


def test_an_address_that_is_not_verified_is_not_taken() -> None:
    given = person(email="root@example.org", email_verified="false")
    assert map_person(given, SourceKind.OPENID, Mapping(), DEPARTMENTS).email == ""


def test_attributes_are_found_without_regard_to_case_and_claims_with() -> None:
    mapping = Mapping(nickname="GivenName")
    assert map_person(person(givenname="Ann"), SourceKind.DIRECTORY, mapping, []).nickname == "Ann"
    assert map_person(person(givenname="Ann"), SourceKind.OPENID, mapping, []).nickname == ""
    assert map_person(person(GivenName="Ann"), SourceKind.OPENID, mapping, []).nickname == "Ann"


@pytest.mark.parametrize("group", ["cn=admins,dc=example,dc=org", "CN=Admins,DC=example,DC=org"])
def test_roles_come_from_groups_and_to_everybody(group: str) -> None:
    mapping = Mapping(
        roles={"CN=Admins,DC=example,DC=org": ("ADMIN", "AUDIT"), "others": ("NONE",)}, default_roles=("STAFF",)
    )
    assert map_person(person((group,)), SourceKind.DIRECTORY, mapping, []).roles == ("ADMIN", "AUDIT", "STAFF")
    assert map_person(person(("admins",)), SourceKind.DIRECTORY, mapping, []).roles == ("STAFF",)


@pytest.mark.parametrize(("value", "found"), [("Sales", 7), ("s-1", 7), ("R&D", 9), ("Elsewhere", None), ("", None)])
def test_a_department_is_found_by_the_table_by_code_or_by_name(value: str, found: int | None) -> None:
    mapping = Mapping(departments={"R&D": 9})
    assert map_person(person(department=value), SourceKind.DIRECTORY, mapping, DEPARTMENTS).department == found


def test_a_department_without_a_code_is_not_that_of_people_without_one() -> None:
    assert map_person(person(department=" "), SourceKind.DIRECTORY, Mapping(), DEPARTMENTS).department is None
