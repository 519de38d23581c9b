"""Claims become flat names with texts, whatever a provider puts into them."""

from __future__ import annotations

from typing import Any

import pytest

from gatehouse.identity_sources.definitions import Mapping
from gatehouse.identity_sources.provider.claims import MAX_CLAIMS, MAX_VALUE, MAX_VALUES, flatten, to_person


def test_objects_become_dotted_names_and_names_with_dots_stay() -> None:
    assert flatten(
        {
            "realm_access": {"roles": ["a", "b"]},
            "resource_access": {"my.client": {"roles": ["c"]}},
            "https://example.org/groups": ["d"],
            "https://example.org/app": {"roles": "e"},
            "email_verified": True,
            "age": 7,
            "nothing": None,
            "mixed": ["f", {"g": 1}, ["h"], "", 2.5, False],
            "a": {"b": "nested"},
            "a.b": "literal",
        }
    ) == {
        "realm_access.roles": ("a", "b"),
        "resource_access.my.client.roles": ("c",),
        "https://example.org/groups": ("d",),
        "https://example.org/app.roles": ("e",),
        "email_verified": ("true",),
        "age": ("7",),
        "nothing": (),
        "mixed": ("f", "2.5", "false"),
        "a.b": ("literal",),
    }


def test_number_size_and_depth_are_bounded() -> None:
    assert len(flatten({f"claim-{number}": "x" for number in range(1000)})) == MAX_CLAIMS
    assert len(flatten({"groups": [str(number) for number in range(5000)]})["groups"]) == MAX_VALUES
    assert flatten({"long": ["x" * (MAX_VALUE + 1), "short", "a\0b"]}) == {"long": ("short",)}
    assert flatten({"n" * (MAX_VALUE + 1): "x"}) == {}
    deep: Any = "x"
    for _ in range(500):
        deep = {"a": deep}
    assert flatten(deep) == {}


@pytest.mark.parametrize(
    ("claims", "mapping", "name", "groups"),
    [
        ({"preferred_username": "caroline", "groups": ["a"]}, Mapping(), "caroline", ("a",)),
        ({"email": "c@example.org", "groups": "a"}, Mapping(), "c@example.org", ("a",)),
        ({"preferred_username": "", "groups": {"a": 1}}, Mapping(), "subject", ()),
        ({"upn": "c", "roles": ["b"]}, Mapping(username="upn", groups="roles"), "c", ("b",)),
        ({"realm_access": {"roles": ["c"]}}, Mapping(groups="realm_access.roles"), "subject", ("c",)),
        ({"https://a.b/groups": ["d"]}, Mapping(groups="https://a.b/groups"), "subject", ("d",)),
    ],
)
def test_a_person(claims: dict[str, Any], mapping: Mapping, name: str, groups: tuple[str, ...]) -> None:
    person = to_person(claims, mapping, issuer="https://issuer.example", subject="subject")
    assert (person.subject, person.issuer) == ("subject", "https://issuer.example")
    assert (person.name, person.groups) == (name, groups)
