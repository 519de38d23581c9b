"""All second factors of a user as one value, for export and import. What was sealed stays sealed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, field
from sqlalchemy import insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from gatehouse.stores.database.passkeys import PASSKEY_FIELDS, PasskeyCopy, insert_passkey
from gatehouse.stores.database.schema import passkeys, recovery_codes, totp_secrets, users
from gatehouse.stores.errors import Duplicate

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from sqlalchemy.ext.asyncio import AsyncConnection

    from gatehouse.stores.database.sql_engine import Database

BATCH = 200


class FactorCopy(Struct, forbid_unknown_fields=True, rename="camel"):
    """`totp` is sealed for the user with the number `user`; of the recovery codes only unused ones are carried."""

    username: str
    user: int
    totp: bytes | None = None
    recovery_codes: list[bytes] = field(default_factory=list)
    passkeys: list[PasskeyCopy] = field(default_factory=list)
    password_login: bool = True


async def factor_copies(database: Database) -> AsyncIterator[FactorCopy]:
    """Of every user who has a second factor, in the order of their numbers."""
    after = 0
    have_one = or_(
        users.c.id.in_(select(totp_secrets.c.user).where(totp_secrets.c.confirmed.is_not(None))),
        users.c.id.in_(select(passkeys.c.user)),
    )
    query = select(users.c.id, users.c.username, users.c.password_login).where(have_one).order_by(users.c.id)
    while True:
        async with database.reading() as db:
            rows = (await db.execute(query.where(users.c.id > after).limit(BATCH))).all()
            copies = [await _copy(db, row.id, row.username, password_login=row.password_login) for row in rows]
        if not copies:
            return
        for copy in copies:
            yield copy
        after = copies[-1].user


async def _copy(db: AsyncConnection, user: int, username: str, *, password_login: bool) -> FactorCopy:
    confirmed = totp_secrets.c.confirmed.is_not(None)
    totp = await db.scalar(select(totp_secrets.c.sealed).where(totp_secrets.c.user == user, confirmed))
    unused = select(recovery_codes.c.digest).where(recovery_codes.c.user == user, recovery_codes.c.used.is_(None))
    columns = [passkeys.c[name] for name in PASSKEY_FIELDS]
    keys = await db.execute(select(*columns).where(passkeys.c.user == user).order_by(passkeys.c.id))
    return FactorCopy(
        username=username,
        user=user,
        totp=totp,
        recovery_codes=list(await db.scalars(unused)) if totp else [],
        passkeys=[PasskeyCopy(*row) for row in keys],
        password_login=password_login,
    )


async def has_factor(database: Database, user: int) -> bool:
    query = select(users.c.id).where(
        users.c.id == user,
        or_(users.c.id.in_(select(totp_secrets.c.user)), users.c.id.in_(select(passkeys.c.user))),
    )
    async with database.reading() as db:
        return await db.scalar(query) is not None


async def store_copy(database: Database, user: int, copy: FactorCopy, at: float) -> None:
    """For a user without a factor; `copy.totp` is sealed for this user by now. `Duplicate` if one is there already."""
    try:
        await _store(database, user, copy, at)
    except IntegrityError:
        raise Duplicate("a passkey of this user is registered already, to this user or another") from None


async def _store(database: Database, user: int, copy: FactorCopy, at: float) -> None:
    async with database.writing() as db:
        if copy.totp is not None:
            await db.execute(insert(totp_secrets).values(user=user, sealed=copy.totp, created=at, confirmed=at))
            for digest in copy.recovery_codes:
                await db.execute(insert(recovery_codes).values(user=user, digest=digest, used=None))
        for passkey in copy.passkeys:
            await insert_passkey(db, user, passkey)
        if copy.passkeys and not copy.password_login:
            await db.execute(update(users).where(users.c.id == user).values(password_login=False))
