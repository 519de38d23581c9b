"""What a source of identity says about somebody."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Person(NamedTuple):
    """`subject` never changes and is never given to another person; names and addresses are neither."""

    subject: str  # entryUUID, objectGUID, or `sub`
    name: str  # the login name there, for people
    # By the names that the mapping uses: attributes in lower case, or claims, where `a.b` is b in the object a.
    attributes: Mapping[str, tuple[str, ...]]
    groups: tuple[str, ...] = ()
    issuer: str = ""  # of a provider; empty for a directory
