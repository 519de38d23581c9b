"""From an entry of a directory to a person."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from gatehouse.common.name_key import name_key
from gatehouse.identity_sources.errors import SourceUnavailable
from gatehouse.identity_sources.person import Person

if TYPE_CHECKING:
    from gatehouse.identity_sources.directory.connection import Entry
    from gatehouse.identity_sources.directory.vendor_defaults import Layout

LONGEST_NAME = 256
_LONGEST_VALUE = 4096  # bytes
_MOST_VALUES = 200  # of an attribute
_MOST_ATTRIBUTES = 200
# What a service account with too many rights would be given.
_SECRET = ("password", "pwd", "krbprincipalkey", "credential", "secret")


def escaped(value: str | bytes) -> str:
    """For a filter (RFC 4515). Bytes are escaped one by one."""
    if isinstance(value, bytes):
        return "".join(f"\\{byte:02x}" for byte in value)
    return "".join(f"\\{ord(char):02x}" if char in "\\*()\0" else char for char in value)


def is_encodable(text: str) -> bool:
    """Half a surrogate pair, which JSON can carry, is not."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_possible_name(name: str) -> bool:
    """Whether a directory can be asked about it."""
    return bool(name.strip()) and "\0" not in name and len(name) <= LONGEST_NAME and is_encodable(name)


def has_name(entry: Entry, name: str, layout: Layout) -> bool:
    """Compared as our own names are. Directories ignore more (soft hyphens, doubled spaces, in AD accents), and each
    spelling that leads to one entry would have failed logins counted for itself."""
    wanted = name_key(name)
    return any(name_key(value) == wanted for value in _names(entry, layout))


def person_of(entry: Entry, layout: Layout) -> Person:
    """Without groups. Raises `SourceUnavailable` if the entry has no stable id."""
    names = _names(entry, layout)
    return Person(
        subject=_subject(entry, layout.subject_attribute),
        name=names[0] if names else entry.dn,
        attributes=_attributes(entry),
    )


def subject_filter(subject: str, attribute: str) -> str | None:
    """None if nothing can have that subject."""
    if attribute.lower() != "objectguid":
        return f"({attribute}={escaped(subject)})" if is_possible_name(subject) else None
    try:
        return f"({attribute}={escaped(uuid.UUID(subject).bytes_le)})"
    except ValueError:
        return None


def text_values(entry: Entry, attribute: str) -> tuple[str, ...]:
    return _texts(entry.attributes.get(attribute.lower(), []))


def _names(entry: Entry, layout: Layout) -> list[str]:
    return [value for attribute in layout.name_attributes for value in text_values(entry, attribute)]


def _subject(entry: Entry, attribute: str) -> str:
    values = entry.attributes.get(attribute.lower(), [])
    if len(values) != 1:
        raise SourceUnavailable(
            f"{entry.dn} has {len(values)} values of {attribute}, which must identify it: may the service account "
            "read that attribute?",
            "person",
        )
    try:
        return str(uuid.UUID(bytes_le=values[0])) if attribute.lower() == "objectguid" else values[0].decode()
    except ValueError:
        raise SourceUnavailable(f"{attribute} of {entry.dn} cannot be read as text", "person") from None


def _attributes(entry: Entry) -> dict[str, tuple[str, ...]]:
    texts = {
        name: _texts(values)
        for name, values in list(entry.attributes.items())[:_MOST_ATTRIBUTES]
        if not any(word in name for word in _SECRET)
    }
    return {name: values for name, values in texts.items() if values}


def _texts(values: list[bytes]) -> tuple[str, ...]:
    """Those that are text of a bounded length."""
    texts = []
    for value in values[:_MOST_VALUES]:
        try:
            text = value[: _LONGEST_VALUE + 1].decode()
        except UnicodeDecodeError:
            continue
        if len(value) <= _LONGEST_VALUE and "\0" not in text:
            texts.append(text)
    return tuple(texts)
