"""Service keys: their names and digests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import bindparam, delete, insert, select
from sqlalchemy.exc import IntegrityError

from gatehouse.stores.database.schema import service_keys
from gatehouse.stores.errors import Duplicate, Missing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatehouse.stores.database.sql_engine import Database


@dataclass(frozen=True, slots=True)
class ServiceKey:
    id: int
    name: str
    digest: bytes
    created: float


_BY_DIGEST = select(service_keys).where(service_keys.c.digest == bindparam("digest"))


class ServiceKeyStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self) -> Sequence[ServiceKey]:
        async with self._database.reading() as db:
            rows = (await db.execute(select(service_keys).order_by(service_keys.c.name))).all()
        return [ServiceKey(*row) for row in rows]

    async def by_digest(self, digest: bytes) -> ServiceKey | None:
        found = await self._database.fetch_rows(_BY_DIGEST, digest=digest)
        return ServiceKey(*found[0]) if found else None

    async def add(self, name: str, digest: bytes, created: float) -> None:
        try:
            async with self._database.writing() as db:
                await db.execute(insert(service_keys).values(name=name, digest=digest, created=created))
        except IntegrityError:
            raise Duplicate(f"there is a service key {name!r} already") from None

    async def delete(self, name: str) -> None:
        async with self._database.writing() as db:
            result = await db.execute(delete(service_keys).where(service_keys.c.name == name))
            if result.rowcount == 0:
                raise Missing(f"there is no service key {name!r}")
