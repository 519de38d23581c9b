"""Origins of applications that run in the browser: pages there call us directly, so browsers must let them."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from gatehouse.auth.login.return_addresses import origin_of
from gatehouse.auth.oauth.clients import read_config
from gatehouse.auth.oauth.definitions import ClientAuth
from gatehouse.stores.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.stores.database.oauth_clients import ClientStore

RELOAD_SECONDS = 2.0


class PublicOrigins:
    def __init__(self, store: ClientStore, clock: Callable[[], float]) -> None:
        self._store = store
        self._clock = clock
        self._origins: set[str] = set()
        self._read = float("-inf")

    async def has(self, origin: str) -> bool:
        """Whether an application without a secret is reached there. While accounts are away, what was known holds."""
        if self._clock() >= self._read + RELOAD_SECONDS:
            with suppress(StoreUnavailable):
                self._origins = await self._load()
                self._read = self._clock()
        return origin in self._origins

    async def _load(self) -> set[str]:
        configs = [read_config(row) for row in await self._store.all() if row.enabled]
        uris = [uri for config in configs if config.auth is ClientAuth.NONE for uri in config.redirect_uris]
        return {origin for uri in uris if (origin := origin_of(uri))}
