"""A refresh asks the directory whether its user is still there: who is disabled there is out at the next refresh.

Asked before the refresh token is used up, and about each user once in a while. While no server of the directory
answers, refreshes go on with what is known, for a limited time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.auth.identity.sources import SourceOutcome
from gatehouse.common.logs import log
from gatehouse.identity_sources.errors import SourceUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.auth.audit import ClientInfo
    from gatehouse.auth.identity.people import People
    from gatehouse.auth.identity.sources import Source, Sources
    from gatehouse.stores.database.identity_sources import Identity, SourceStore


class DirectoryRecheck:
    def __init__(
        self, *, sources: Sources, identities: SourceStore, people: People, clock: Callable[[], float]
    ) -> None:
        self._sources = sources
        self._identities = identities
        self._people = people
        self._clock = clock

    async def check(self, user: int, client: ClientInfo) -> None:
        """Raises `SourceUnavailable` once the last answer about the user is too old."""
        if not self._sources.directories:
            return
        identity = await self._identities.password_identity(user)
        source = self._sources.by_id(identity.source) if identity else None
        if identity is not None and source is not None:
            await self._check(source, identity, client)

    async def _check(self, source: Source, identity: Identity, client: ClientInfo) -> None:
        age = self._clock() - (identity.seen or 0)
        if age < source.directory_config.recheck_seconds:
            return
        try:
            person = await source.directory.by_subject(identity.subject)
        except SourceUnavailable as problem:
            self._sources.count(source, SourceOutcome.UNAVAILABLE)
            if age > source.directory_config.stale_seconds:
                raise
            log.warning("a directory cannot be asked, a refresh goes on", source=source.name, problem=str(problem))
            return
        if person is None:
            await self._people.gone(source, identity, client)
        else:
            await self._people.confirm(source, identity, person)
