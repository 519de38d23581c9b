"""Signing keys, encrypted under the master secret by `auth/keys`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import delete, insert, select, update

from gatehouse.stores.database.schema import signing_keys

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
    purpose: str = ""  # empty: all that we sign; or `OPENID`


OPENID = "openid"  # ID tokens and logout tokens of applications that want another algorithm


class Keys:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self) -> Sequence[StoredKey]:
        """Oldest first."""
        async with self._database.reading() as db:
            rows = (await db.execute(select(signing_keys).order_by(signing_keys.c.created))).all()
        return [
            StoredKey(row.kid, row.public, row.sealed, row.created, row.retired, row.algorithm, row.purpose)
            for row in rows
        ]

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

    async def retire(self, kid: str, at: float) -> None:
        """Without a successor."""
        async with self._database.writing() as db:
            await db.execute(update(signing_keys).where(signing_keys.c.kid == kid).values(retired=at))

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
            purpose=key.purpose,
        )
    )
