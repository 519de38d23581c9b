"""Finding people in a directory, over a connection of the service account."""

from __future__ import annotations

import secrets
import unicodedata
from typing import TYPE_CHECKING

from gatehouse.identity_sources.directory.entries import (
    escaped,
    has_name,
    is_possible_name,
    person_of,
    subject_filter,
)
from gatehouse.identity_sources.directory.groups import GroupSearch

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from gatehouse.identity_sources.directory.connection import Connection, Entry
    from gatehouse.identity_sources.directory.vendor_defaults import Layout
    from gatehouse.identity_sources.person import Person

_MOST_NAMESAKES = 20


class PersonSearch:
    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        # `*` leaves out what the server keeps for itself, such as entryUUID.
        self._attributes = ("*", layout.subject_attribute)

    async def named(self, connection: Connection, name: str) -> list[Entry]:
        """Those who may log in and have the name."""
        if not is_possible_name(name):
            name = secrets.token_hex(16)  # nobody has it; the search takes the time of any other
        value = escaped(unicodedata.normalize("NFKC", name))
        conditions = "".join(f"({attribute}={value})" for attribute in self.layout.name_attributes)
        found = await self._search(connection, f"(|{conditions})", _MOST_NAMESAKES)
        return [entry for entry in found if has_name(entry, name, self.layout)]

    async def by_subject(self, connection: Connection, subject: str) -> Entry | None:
        condition = subject_filter(subject, self.layout.subject_attribute)
        entries = await self._search(connection, condition, 2) if condition else []
        return entries[0] if len(entries) == 1 else None

    def pages(self, connection: Connection, size: int, seconds: float) -> AsyncIterator[list[Entry]]:
        """Of all who may log in."""
        return connection.pages(self.layout.base, self.layout.user_filter, self._attributes, size=size, seconds=seconds)

    async def with_groups(self, connection: Connection, entry: Entry, groups: GroupSearch | None = None) -> Person:
        person = person_of(entry, self.layout)
        search = groups or GroupSearch(self.layout)
        return person._replace(groups=await search.of(connection, entry, person))

    async def _search(self, connection: Connection, condition: str, limit: int) -> list[Entry]:
        search_filter = f"(&{self.layout.user_filter}{condition})"
        return await connection.search(self.layout.base, search_filter, self._attributes, limit=limit)
