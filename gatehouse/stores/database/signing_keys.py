"""Signing keys, encrypted under the master secret by `auth/keys`; and the digests of service keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import bindparam, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from gatehouse.stores.database.schema import service_keys, signing_keys
from gatehouse.stores.errors import Duplicate, Missing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy.ext.asyncio import AsyncConnection

    from gatehouse.stores.database.sql_engine import Database


@dataclass(frozen=True, slots=True)
class StoredKey:
    kid: str
    public: bytes
    sealed: bytes
    created: float
    signs_until: float | None  # stored as `retired`; None for the newest
    algorithm: str = "EdDSA"


@dataclass(frozen=True, slots=True)
class ServiceKey:
    id: int
    name: str
    digest: bytes
    created: float


class Keys:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self) -> Sequence[StoredKey]:
        """Oldest first."""
        async with self._database.reading() as db:
            rows = (await db.execute(select(signing_keys).order_by(signing_keys.c.created))).all()
        return [StoredKey(row.kid, row.public, row.sealed, row.created, row.retired, row.algorithm) for row in rows]

    async def add(self, key: StoredKey) -> None:
        async with self._database.writing() as db:
            await _insert(db, key)

    async def replace(self, old: str, new: StoredKey, at: float) -> bool:
        """`new` is stored and `old` retires `at` that time, in one step.

        False, and nothing is done, if `old` has a successor already: of several nodes exactly one succeeds.
        """
        async with self._database.writing() as db:
            result = await db.execute(
                update(signing_keys)
                .where(signing_keys.c.kid == old, signing_keys.c.retired.is_(None))
                .values(retired=at)
            )
            if result.rowcount == 0:
                return False
            await _insert(db, new)
        return True

    async def reseal(self, sealed: dict[str, bytes]) -> None:
        """Replace the sealed form of every key at once."""
        async with self._database.writing() as db:
            for kid, form in sealed.items():
                await db.execute(update(signing_keys).where(signing_keys.c.kid == kid).values(sealed=form))

    async def delete(self, kid: str, successor: StoredKey | None = None) -> None:
        """Delete a key; a successor is added in the same transaction."""
        async with self._database.writing() as db:
            await db.execute(delete(signing_keys).where(signing_keys.c.kid == kid))
            if successor is not None:
                await _insert(db, successor)


async def _insert(db: AsyncConnection, key: StoredKey) -> None:
    await db.execute(
        insert(signing_keys).values(
            kid=key.kid,
            algorithm=key.algorithm,
            public=key.public,
            sealed=key.sealed,
            created=key.created,
            retired=key.signs_until,
        )
    )


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
