"""`test` of a source of identity: what works of its stored configuration, and what one person would become here.

The source is opened anew, so that a disabled one can be tried, and connections that are open already prove nothing.
"""

from __future__ import annotations

import asyncio
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from gatehouse.identity_sources.clients import TestStep
from gatehouse.identity_sources.definitions import SourceKind
from gatehouse.identity_sources.errors import SourceUnavailable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from gatehouse.auth.identity.mapping import MappedPerson
    from gatehouse.auth.identity.sources import Source, Sources
    from gatehouse.identity_sources.person import Person
    from gatehouse.management.source_people import SourcePeople
    from gatehouse.stores.database.identity_sources import SourceStore, StoredSource
    from gatehouse.stores.database.users import Users

TEST_SECONDS = 45.0  # for all steps together: several servers may be out of reach


class Arrival(StrEnum):
    """What a first or next login of the person would do."""

    UPDATE = "update"
    CREATE = "create"
    NOT_ADMITTED = "not_admitted"
    NAME_TAKEN = "name_taken"


class Preview(NamedTuple):
    person: Person
    mapped: MappedPerson
    department: int
    arrival: Arrival


class SourceTests:
    def __init__(self, *, sources: Sources, people: SourcePeople, identities: SourceStore, users: Users) -> None:
        self._sources = sources
        self._people = people
        self._identities = identities
        self._users = users

    async def run(self, row: StoredSource, user: str = "") -> AsyncIterator[TestStep | Preview]:
        """Steps up to the first that fails; of a directory, with the name of somebody, the preview after them."""
        try:
            source = self._sources.open(row)
        except SourceUnavailable as problem:
            yield TestStep(problem.step or "config", works=False, seen=str(problem))
            return
        try:
            async with asyncio.timeout(TEST_SECONDS):
                async for step in self._steps(source, user):
                    yield step
        except SourceUnavailable as problem:
            yield TestStep(problem.step or "config", works=False, seen=str(problem))
        except TimeoutError:
            yield TestStep("time", works=False, seen=f"the test was ended after {TEST_SECONDS:g} s")
        finally:
            await source.client.close()

    async def _steps(self, source: Source, user: str) -> AsyncIterator[TestStep | Preview]:
        if source.kind is not SourceKind.DIRECTORY:
            async for step in source.provider.test():
                yield step
            return
        works = True
        async for step in source.directory.test(user):
            works = step.works
            yield step
        person = await source.directory.find(user) if user and works else None
        if person is not None:
            yield await self._preview(source, person)

    async def _preview(self, source: Source, person: Person) -> Preview:
        mapped = await self._people.map(source, person)
        department = source.config.mapping.default_department if mapped.department is None else mapped.department
        return Preview(person, mapped, department, await self._arrival(source, person, mapped))

    async def _arrival(self, source: Source, person: Person, mapped: MappedPerson) -> Arrival:
        if await self._identities.by_subject(source.id, person.issuer, person.subject):
            return Arrival.UPDATE
        if not source.config.create_users:
            return Arrival.NOT_ADMITTED
        return Arrival.NAME_TAKEN if await self._users.by_name(mapped.username) else Arrival.CREATE
