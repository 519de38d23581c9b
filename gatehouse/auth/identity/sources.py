"""The sources of identity in force, opened: each worker has its own connections to them.

Rows of accounts say which there are. They are read again every few seconds, so a change is in force everywhere soon
after; a source that has not changed keeps its connections.
"""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import msgspec

from gatehouse.auth.keys.sealing import WrongSecret, seal, unseal
from gatehouse.common.logs import log
from gatehouse.identity_sources.definitions import Config, DirectoryConfig, ProviderConfig, SourceKind, config_type
from gatehouse.identity_sources.errors import SourceUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.auth.keys.key_ring import KeyRing
    from gatehouse.identity_sources.clients import Directory, Provider
    from gatehouse.stores.database.identity_sources import SourceStore, StoredSource

    Opener = Callable[[SourceKind, Config, str], Directory | Provider]

RELOAD_SECONDS = 5.0
PURPOSE = "identity sources"


class SourceOutcome(StrEnum):
    """What came of asking a source, for the metrics."""

    SUCCESS = "success"
    REFUSED = "refused"
    UNAVAILABLE = "unavailable"


class Source(NamedTuple):
    """One that is enabled."""

    id: int
    name: str
    title: str
    kind: SourceKind
    config: Config
    client: Any  # a `Directory` or a `Provider`

    @property
    def directory(self) -> Directory:
        return cast("Directory", self.client)

    @property
    def provider(self) -> Provider:
        return cast("Provider", self.client)

    @property
    def directory_config(self) -> DirectoryConfig:
        return cast("DirectoryConfig", self.config)

    @property
    def provider_config(self) -> ProviderConfig:
        return cast("ProviderConfig", self.config)


class SourceSecrets:
    """The password or secret that we show a source: sealed for its name."""

    def __init__(self, ring: KeyRing, store: SourceStore) -> None:
        self._ring = ring
        self._store = store

    def seal(self, name: str, secret: str) -> bytes | None:
        return seal(self._ring.secrets[0], PURPOSE, name, secret.encode()) if secret else None

    def open(self, row: StoredSource) -> str:
        return unseal(self._ring.secrets, PURPOSE, row.name, row.sealed).decode() if row.sealed else ""

    async def reseal(self, secret: bytes) -> None:
        for row in await self._store.all():
            if row.sealed:
                await self._store.reseal(row.id, row.sealed, seal(secret, PURPOSE, row.name, self.open(row).encode()))


def read_config(row: StoredSource) -> Config:
    return msgspec.json.decode(row.config, type=config_type(SourceKind(row.kind)))


class Sources:
    def __init__(self, store: SourceStore, secrets: SourceSecrets, opener: Opener) -> None:
        self._store = store
        self._secrets = secrets
        self._open = opener
        self._rows: dict[int, StoredSource] = {}
        self._sources: dict[int, Source] = {}
        self.has_directories = False  # disabled ones included: their users have no other password
        self.directories: tuple[Source, ...] = ()
        self.providers: tuple[Source, ...] = ()
        self.counts: Counter[tuple[str, str]] = Counter()  # by source and outcome, for the metrics

    async def load(self) -> None:
        stored = await self._store.all()
        self.has_directories = any(row.kind == SourceKind.DIRECTORY for row in stored)
        rows = {row.id: row for row in stored if row.enabled}
        for number in [number for number, row in self._rows.items() if rows.get(number) != row]:
            await self._close(number)
        for number, row in rows.items():
            if number not in self._rows:
                self._add(row)
        opened = [self._sources[number] for number in rows if number in self._sources]
        self.directories = tuple(each for each in opened if each.kind is SourceKind.DIRECTORY)
        self.providers = tuple(each for each in opened if each.kind is not SourceKind.DIRECTORY)

    def by_id(self, number: int) -> Source | None:
        return self._sources.get(number)

    def provider(self, name: str) -> Source | None:
        return next((each for each in self.providers if each.name == name), None)

    def count(self, source: Source, outcome: SourceOutcome) -> None:
        self.counts[source.name, outcome.value] += 1

    async def close(self) -> None:
        for number in list(self._rows):
            await self._close(number)

    def _add(self, row: StoredSource) -> None:
        """One that cannot be opened is left out until its row changes, and everybody else logs in all the same."""
        self._rows[row.id] = row
        kind = SourceKind(row.kind)
        try:
            config = read_config(row)
            client = self._open(kind, config, self._secrets.open(row))
        except (SourceUnavailable, msgspec.MsgspecError, WrongSecret, ValueError) as problem:
            log.warning("a source of identity cannot be used", source=row.name, problem=str(problem))
            client, config = _Unusable(str(problem)), config_type(kind)()
        self._sources[row.id] = Source(row.id, row.name, row.title, kind, config, client)

    async def _close(self, number: int) -> None:
        self._rows.pop(number, None)
        source = self._sources.pop(number, None)
        if source is not None:
            await source.client.close()


class _Unusable:
    """In place of a client that could not be made: whatever is asked of it fails."""

    def __init__(self, problem: str) -> None:
        self._problem = problem

    def __getattr__(self, _name: str) -> Callable[..., Any]:
        async def fail(*_values: object, **_named: object) -> None:
            raise SourceUnavailable(self._problem)

        return fail

    async def close(self) -> None: ...
