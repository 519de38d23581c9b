"""Applications and the digests of their secrets, and what users have allowed them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import bindparam, select

from gatehouse.stores.database.schema import oauth_client_secrets, oauth_clients

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatehouse.stores.database.sql_engine import Database


@dataclass(frozen=True, slots=True)
class NewClient:
    client_id: str
    name: str
    config: str  # JSON
    created: float
    changed: float
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class StoredClient(NewClient):
    id: int = 0


@dataclass(frozen=True, slots=True)
class ClientSecret:
    id: int
    client: int
    digest: bytes
    hint: str
    created: float
    expires: float | None = None


_CLIENT = [oauth_clients.c[name] for name in StoredClient.__dataclass_fields__]
_SECRET = [oauth_client_secrets.c[name] for name in ClientSecret.__dataclass_fields__]
_BY_CLIENT_ID = select(*_CLIENT).where(oauth_clients.c.client_id == bindparam("name"))
_BY_NUMBER = select(*_CLIENT).where(oauth_clients.c.id == bindparam("number"))
_SECRETS_OF = (
    select(*_SECRET).where(oauth_client_secrets.c.client == bindparam("number")).order_by(oauth_client_secrets.c.id)
)


class ClientStore:
    """Read each time, so that an application which is switched off is refused at once."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self) -> Sequence[StoredClient]:
        async with self._database.reading() as db:
            return [StoredClient(*row) for row in await db.execute(select(*_CLIENT).order_by(oauth_clients.c.name))]

    async def by_client_id(self, client_id: str) -> StoredClient | None:
        found = await self._database.fetch_rows(_BY_CLIENT_ID, name=client_id)
        return StoredClient(*found[0]) if found else None

    async def by_number(self, number: int) -> StoredClient | None:
        found = await self._database.fetch_rows(_BY_NUMBER, number=number)
        return StoredClient(*found[0]) if found else None

    async def secrets_of(self, number: int) -> list[ClientSecret]:
        return [ClientSecret(*row) for row in await self._database.fetch_rows(_SECRETS_OF, number=number)]
