"""The groups of a person, those that contain other groups included."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gatehouse.common.logs import log
from gatehouse.identity_sources.directory.entries import escaped, text_values

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gatehouse.identity_sources.directory.connection import Connection, Entry
    from gatehouse.identity_sources.directory.vendor_defaults import Layout
    from gatehouse.identity_sources.person import Person

DEEPEST = 10  # groups of groups of groups
MOST_GROUPS = 1000  # of a person
_BATCH = 50  # groups that one search asks about


class GroupSearch:
    """What is above a set of groups is searched once while the object lives: people of one team share it."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._above: dict[frozenset[str], dict[str, Entry]] = {}

    async def of(self, connection: Connection, entry: Entry, person: Person) -> tuple[str, ...]:
        """The DN and the cn of each, so that a mapping may use either."""
        search_filter = _filled(self._layout.group_filter, entry.dn, person.name, _primary_group(entry))
        groups = await self._search(connection, search_filter)
        if self._layout.follow_groups and groups:
            key = frozenset(groups)
            if key not in self._above:
                self._above[key] = await self._follow(connection, groups, person.name)
            groups = groups | self._above[key]
        names = [name for dn, group in groups.items() for name in (dn, *text_values(group, "cn"))]
        return tuple(dict.fromkeys(names))

    async def _follow(self, connection: Connection, groups: dict[str, Entry], name: str) -> dict[str, Entry]:
        known = dict(groups)
        level: Iterable[str] = groups
        for _ in range(DEEPEST):
            found = await self._containing(connection, list(level), name)
            level = [dn for dn in found if dn not in known]
            known |= found
            if not level or len(known) > MOST_GROUPS:
                break
        if level:
            log.warning("groups are nested too deeply, or too many: not all are followed", groups=len(known))
        return known

    async def _containing(self, connection: Connection, level: list[str], name: str) -> dict[str, Entry]:
        found: dict[str, Entry] = {}
        for start in range(0, len(level), _BATCH):
            parts = (_filled(self._layout.group_filter, dn, name, "") for dn in level[start : start + _BATCH])
            found |= await self._search(connection, f"(|{''.join(parts)})")
        return found

    async def _search(self, connection: Connection, search_filter: str) -> dict[str, Entry]:
        found = await connection.search(self._layout.group_base, search_filter, ["cn"], limit=MOST_GROUPS)
        return {entry.dn: entry for entry in found}


def _filled(template: str, dn: str, name: str, primary: str) -> str:
    values = {"dn": escaped(dn), "name": escaped(name), "primary": primary}
    return re.sub(r"\{(dn|name|primary)\}", lambda match: values[match[1]], template)


def _primary_group(entry: Entry) -> str:
    """AD does not list it among the others. Its SID is that of the person with another last number."""
    sid, number = entry.attributes.get("objectsid"), text_values(entry, "primaryGroupID")
    if not sid or not number or not number[0].isdecimal() or int(number[0]) >= 1 << 32:
        return ""
    return f"(objectSid={escaped(sid[0][:-4] + int(number[0]).to_bytes(4, 'little'))})"
