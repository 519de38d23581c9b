"""From claims to a person: flat names, values as text, bounded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gatehouse.identity_sources.person import Person

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gatehouse.identity_sources.definitions import Mapping

MAX_CLAIMS = 200
MAX_VALUES = 1000  # of one claim: groups, above all
MAX_VALUE = 1024  # characters; what is longer is left out, not cut
MAX_DEPTH = 5

NAME_CLAIMS = ("preferred_username", "email")


def to_person(claims: dict[str, Any], mapping: Mapping, *, issuer: str, subject: str) -> Person:
    attributes = flatten(claims)
    names = (attributes[name][0] for name in (mapping.username, *NAME_CLAIMS) if attributes.get(name))
    groups = attributes.get(mapping.groups or "groups", ())
    return Person(subject, next(names, subject), attributes, groups, issuer)


def flatten(claims: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    """`{"a": {"b": 1}}` becomes `a.b`. A name with dots in it, such as a URL, stands as it is and goes first."""
    flat: dict[str, tuple[str, ...]] = {}
    level = claims
    for _ in range(MAX_DEPTH):
        for name, value in level.items():
            if not isinstance(value, dict) and len(flat) < MAX_CLAIMS and len(name) <= MAX_VALUE:
                flat.setdefault(name, tuple(_texts(value))[:MAX_VALUES])
        level = {
            f"{name}.{inner}": value
            for name, object_ in level.items()
            if isinstance(object_, dict)
            for inner, value in object_.items()
        }
    return flat


def _texts(value: Any) -> Iterator[str]:
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, bool):
            yield "true" if item else "false"
        elif isinstance(item, str | int | float):
            text = str(item)
            # No store takes NUL, and no name has one.
            if text and len(text) <= MAX_VALUE and "\0" not in text:
                yield text
