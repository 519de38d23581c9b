"""TOTP secrets and recovery codes, encrypted or hashed by `auth/factors` before they are stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import and_, bindparam, delete, func, insert, select, update

from gatehouse.stores.database.schema import recovery_codes, totp_secrets

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from sqlalchemy.ext.asyncio import AsyncConnection

    from gatehouse.stores.database.sql_engine import Database

BATCH = 500


@dataclass(frozen=True, slots=True)
class StoredTotp:
    sealed: bytes
    created: float
    confirmed: float | None  # None: enrolment has begun, and the factor is off


_TOTP = select(totp_secrets.c.sealed, totp_secrets.c.created, totp_secrets.c.confirmed).where(
    totp_secrets.c.user == bindparam("user")
)
_UNUSED = and_(
    recovery_codes.c.user == bindparam("user_id"),
    recovery_codes.c.digest == bindparam("given"),
    recovery_codes.c.used.is_(None),
)
_HAS_CODE = select(recovery_codes.c.user).where(_UNUSED)
_CODES_LEFT = select(func.count()).where(recovery_codes.c.user == bindparam("user_id"), recovery_codes.c.used.is_(None))


class Factors:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def totp(self, user: int) -> StoredTotp | None:
        found = await self._database.fetch_rows(_TOTP, user=user)
        return StoredTotp(*found[0]) if found else None

    async def begin_totp(self, user: int, sealed: bytes, at: float) -> bool:
        """Store a secret that is not on yet, in place of an earlier attempt; False if one is on."""
        async with self._database.writing() as db:
            await db.execute(
                delete(totp_secrets).where(totp_secrets.c.user == user, totp_secrets.c.confirmed.is_(None))
            )
            if await db.scalar(select(totp_secrets.c.user).where(totp_secrets.c.user == user)) is not None:
                return False
            await db.execute(insert(totp_secrets).values(user=user, sealed=sealed, created=at, confirmed=None))
        return True

    async def confirm_totp(self, user: int, sealed: bytes, at: float, digests: Sequence[bytes]) -> bool:
        """Switch on the secret that was begun, with its recovery codes; False if it is not that one any more."""
        async with self._database.writing() as db:
            result = await db.execute(
                update(totp_secrets)
                .where(
                    totp_secrets.c.user == user,
                    totp_secrets.c.sealed == sealed,
                    totp_secrets.c.confirmed.is_(None),
                )
                .values(confirmed=at)
            )
            if result.rowcount == 0:
                return False
            await _replace_codes(db, user, digests)
        return True

    async def end_totp(self, user: int) -> bool:
        """Remove secret and recovery codes; False if no secret was on."""
        async with self._database.writing() as db:
            return await delete_totp(db, user)

    async def owners(self, users: Sequence[int]) -> Sequence[int]:
        """Which of these users have the factor on."""
        query = select(totp_secrets.c.user).where(
            totp_secrets.c.user.in_(list(users)), totp_secrets.c.confirmed.is_not(None)
        )
        async with self._database.reading() as db:
            return list(await db.scalars(query))

    # Recovery codes

    async def replace_recovery_codes(self, user: int, digests: Sequence[bytes]) -> None:
        async with self._database.writing() as db:
            await _replace_codes(db, user, digests)

    async def has_recovery_code(self, user: int, digest: bytes) -> bool:
        return bool(await self._database.fetch_rows(_HAS_CODE, user_id=user, given=digest))

    async def use_recovery_code(self, user: int, digest: bytes, at: float) -> bool:
        """Use a code up; True for exactly one caller."""
        async with self._database.writing() as db:
            result = await db.execute(
                update(recovery_codes).where(_UNUSED).values(used=at), {"user_id": user, "given": digest}
            )
        return result.rowcount == 1

    async def recovery_codes_left(self, user: int) -> int:
        [(left,)] = await self._database.fetch_rows(_CODES_LEFT, user_id=user)
        return int(left)

    # The master secret changes

    async def sealed_batches(self) -> AsyncIterator[Mapping[int, bytes]]:
        """Every sealed secret by user, in batches."""
        after = 0
        query = select(totp_secrets.c.user, totp_secrets.c.sealed).order_by(totp_secrets.c.user).limit(BATCH)
        while True:
            async with self._database.reading() as db:
                rows = (await db.execute(query.where(totp_secrets.c.user > after))).all()
            if not rows:
                return
            yield {row.user: row.sealed for row in rows}
            after = rows[-1].user

    async def reseal(self, forms: Mapping[int, tuple[bytes, bytes]]) -> None:
        """Replace the old sealed secret by the new one for each user; one that has changed since stays."""
        async with self._database.writing() as db:
            for user, (old, new) in forms.items():
                await db.execute(
                    update(totp_secrets)
                    .where(totp_secrets.c.user == user, totp_secrets.c.sealed == old)
                    .values(sealed=new)
                )


async def delete_totp(db: AsyncConnection, user: int) -> bool:
    """Remove secret and recovery codes; False if no secret was on."""
    await db.execute(delete(recovery_codes).where(recovery_codes.c.user == user))
    on = await db.scalar(select(totp_secrets.c.confirmed).where(totp_secrets.c.user == user))
    await db.execute(delete(totp_secrets).where(totp_secrets.c.user == user))
    return on is not None


async def _replace_codes(db: AsyncConnection, user: int, digests: Sequence[bytes]) -> None:
    await db.execute(delete(recovery_codes).where(recovery_codes.c.user == user))
    await db.execute(insert(recovery_codes), [{"user": user, "digest": each, "used": None} for each in digests])
