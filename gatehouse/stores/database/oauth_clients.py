"""Applications and the digests of their secrets, and what users have allowed them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from msgspec import UNSET, UnsetType
from sqlalchemy import bindparam, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from gatehouse.stores.database.row_changes import RowChange, set_columns
from gatehouse.stores.database.schema import grants, oauth_client_secrets, oauth_clients
from gatehouse.stores.database.sql_engine import new_id
from gatehouse.stores.errors import Duplicate, Missing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy.ext.asyncio import AsyncConnection

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


class ClientChange(RowChange, frozen=True, kw_only=True):
    name: str | UnsetType = UNSET
    enabled: bool | UnsetType = UNSET
    config: str | UnsetType = UNSET
    changed: float | UnsetType = UNSET


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

    async def secrets(self) -> list[ClientSecret]:
        """Of all clients."""
        async with self._database.reading() as db:
            rows = await db.execute(select(*_SECRET).order_by(oauth_client_secrets.c.id))
            return [ClientSecret(*row) for row in rows]

    async def users_by_client(self) -> dict[int, int]:
        """How many users are logged in to each."""
        users = func.count(grants.c.user.distinct()).label("users")
        query = select(grants.c.client, users).where(grants.c.client.is_not(None)).group_by(grants.c.client)
        async with self._database.reading() as db:
            return {row.client: row.users for row in await db.execute(query)}


class ClientWrites:
    """The part of a transaction that changes clients."""

    db: AsyncConnection

    async def add_client(self, new: NewClient) -> int:
        try:
            return new_id(await self.db.execute(insert(oauth_clients).values(**asdict(new))))
        except IntegrityError:
            raise Duplicate(f"there is an application {new.client_id!r} already") from None

    async def client(self, client_id: str) -> StoredClient:
        row = (await self.db.execute(_BY_CLIENT_ID, {"name": client_id})).one_or_none()
        if row is None:
            raise Missing(f"there is no application {client_id!r}")
        return StoredClient(*row)

    async def set_client(self, client: int, change: ClientChange) -> None:
        await self.db.execute(update(oauth_clients).where(oauth_clients.c.id == client).values(**set_columns(change)))

    async def delete_client(self, client: int) -> None:
        """With its secrets, grants and consents."""
        await self.db.execute(delete(oauth_clients).where(oauth_clients.c.id == client))

    async def end_grants(self, client: int) -> int:
        """Returns how many users were logged in."""
        users = func.count(grants.c.user.distinct())
        number = await self.db.scalar(select(users).where(grants.c.client == client))
        await self.db.execute(delete(grants).where(grants.c.client == client))
        return number or 0

    async def client_secrets(self, client: int) -> list[ClientSecret]:
        return [ClientSecret(*row) for row in await self.db.execute(_SECRETS_OF, {"number": client})]

    async def add_client_secret(self, new: ClientSecret) -> None:
        """The id of `new` is not looked at."""
        columns = {name: value for name, value in asdict(new).items() if name != "id"}
        await self.db.execute(insert(oauth_client_secrets).values(**columns))

    async def set_secret_end(self, secret: int, expires: float) -> None:
        same = oauth_client_secrets.c.id == secret
        await self.db.execute(update(oauth_client_secrets).where(same).values(expires=expires))

    async def delete_client_secrets(self, client: int, *, except_for: int | None = None) -> None:
        gone = oauth_client_secrets.c.client == client, oauth_client_secrets.c.id != (except_for or 0)
        await self.db.execute(delete(oauth_client_secrets).where(*gone))
