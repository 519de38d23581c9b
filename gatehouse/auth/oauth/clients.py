"""Applications: found by their `client_id`. Read from accounts each time, so a change counts at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from gatehouse.auth.oauth.definitions import ClientConfig

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gatehouse.stores.database.oauth_clients import ClientStore, StoredClient

_decode = msgspec.json.Decoder(ClientConfig).decode
MAX_CLIENT_ID_LENGTH = 64


class Client(NamedTuple):
    id: int
    client_id: str
    name: str
    config: ClientConfig

    def admits(self, roles: Iterable[str]) -> bool:
        """Whether somebody with these roles may use it."""
        return not self.config.roles or not set(self.config.roles).isdisjoint(roles)

    def still_allowed(self, scopes: Iterable[str]) -> tuple[str, ...]:
        """Of scopes that were granted those that it may still ask for: an administrator can take some back."""
        return tuple(scope for scope in scopes if scope in self.config.scopes)


class Clients:
    def __init__(self, store: ClientStore) -> None:
        self._store = store

    async def find(self, client_id: str) -> Client | None:
        """None if there is none, or it is switched off."""
        if not 0 < len(client_id) <= MAX_CLIENT_ID_LENGTH or not (client_id.isascii() and client_id.isprintable()):
            return None  # some of these no database takes
        return _enabled(await self._store.by_client_id(client_id))

    async def numbered(self, number: int) -> Client | None:
        return _enabled(await self._store.by_number(number))

    async def id_token_algorithms(self) -> set[str]:
        """Those that any of them wants."""
        return {_decode(row.config).id_token_alg for row in await self._store.all()}


def read_config(row: StoredClient) -> ClientConfig:
    return _decode(row.config)


def _enabled(row: StoredClient | None) -> Client | None:
    return Client(row.id, row.client_id, row.name, read_config(row)) if row and row.enabled else None
