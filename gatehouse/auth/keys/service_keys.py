"""Service keys: how another service shows that it may ask about tokens. Only a digest is stored.

A key is random and long, so a plain hash of it is enough: there is nothing to guess.
"""

from __future__ import annotations

import hashlib
import secrets
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gatehouse.stores.database.service_keys import ServiceKey, ServiceKeyStore

PREFIX = "ghs_"


def new_service_key() -> str:
    return PREFIX + secrets.token_urlsafe(32)


def digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "replace")).digest()


class ServiceKeyVerifier:
    def __init__(self, store: ServiceKeyStore) -> None:
        self._store = store

    async def owner(self, key: str | None) -> ServiceKey | None:
        """Whose key this is; read from the store each time, so a revoked key is refused at once."""
        if key is None or not key.startswith(PREFIX):
            return None
        return await self._store.by_digest(digest(key))
