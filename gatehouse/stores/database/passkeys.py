"""Passkeys: the public halves, and when each was last used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct
from sqlalchemy import bindparam, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from gatehouse.stores.database.schema import passkeys, users
from gatehouse.stores.database.sql_engine import new_id
from gatehouse.stores.errors import Duplicate, InUse, Missing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import CursorResult, Row
    from sqlalchemy.ext.asyncio import AsyncConnection

    from gatehouse.stores.database.sql_engine import Database


class PasskeyCopy(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """A passkey without its id and user: what is exported and imported."""

    handle: bytes  # what authenticators know the user by
    credential: bytes
    public: bytes
    sign_count: int
    transports: str
    backed_up: bool
    name: str
    created: float
    last_used: float | None


class Passkey(PasskeyCopy, frozen=True, kw_only=True):
    id: int
    user: int


PASSKEY_FIELDS = PasskeyCopy.__struct_fields__


_BY_CREDENTIAL = select(passkeys).where(passkeys.c.credential == bindparam("credential_id"))
_OF_USER = select(passkeys).where(passkeys.c.user == bindparam("user_id")).order_by(passkeys.c.id)


class Passkeys:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def by_credential(self, credential: bytes) -> Passkey | None:
        found = await self._database.fetch_rows(_BY_CREDENTIAL, credential_id=credential)
        return _passkey(found[0]) if found else None

    async def of_user(self, user: int) -> Sequence[Passkey]:
        """Oldest first."""
        return [_passkey(row) for row in await self._database.fetch_rows(_OF_USER, user_id=user)]

    async def owners(self, users: Sequence[int]) -> Sequence[int]:
        """Which of these users have one."""
        query = select(passkeys.c.user).where(passkeys.c.user.in_(list(users))).distinct()
        async with self._database.reading() as db:
            return list(await db.scalars(query))

    async def add(self, new: Passkey) -> int:
        """The id in `new` is ignored. Raises `Duplicate` if the credential is registered, to any user."""
        try:
            async with self._database.writing() as db:
                result = await insert_passkey(db, new.user, new)
        except IntegrityError:
            raise Duplicate("this passkey is registered already") from None
        return new_id(result)

    async def record_use(self, passkey: Passkey, sign_count: int, at: float, *, backed_up: bool) -> bool:
        """False if the counter has changed since it was read, or the passkey is gone."""
        async with self._database.writing() as db:
            result = await db.execute(
                update(passkeys)
                .where(passkeys.c.id == passkey.id, passkeys.c.sign_count == passkey.sign_count)
                .values(sign_count=sign_count, last_used=at, backed_up=backed_up)
            )
        return result.rowcount == 1

    async def delete(self, user: int, passkey: int) -> Passkey:
        """`InUse` for the last one of a user whose password login is off: it is the only way in."""
        async with self._database.writing() as db:
            owner = select(users.c.password_login).where(users.c.id == user).with_for_update()
            password_login = await db.scalar(owner)
            rows = [_passkey(row) for row in (await db.execute(_OF_USER, {"user_id": user})).all()]
            found = next((row for row in rows if row.id == passkey), None)
            if found is None:
                raise Missing(f"there is no passkey {passkey}")
            if len(rows) == 1 and not password_login:
                raise InUse("the last passkey of a user who cannot log in by password")
            await db.execute(delete(passkeys).where(passkeys.c.id == passkey))
        return found

    async def set_password_login(self, user: int, *, on: bool) -> None:
        """`InUse` if it is switched off for a user without a passkey: there would be no way in."""
        async with self._database.writing() as db:
            await db.execute(select(users.c.id).where(users.c.id == user).with_for_update())
            if not on and not (await db.execute(_OF_USER, {"user_id": user})).all():
                raise InUse("without a passkey the password is the only way in")
            await db.execute(update(users).where(users.c.id == user).values(password_login=on))


async def insert_passkey(db: AsyncConnection, user: int, passkey: PasskeyCopy) -> CursorResult[Any]:
    values = {name: getattr(passkey, name) for name in PASSKEY_FIELDS}
    return await db.execute(insert(passkeys).values(user=user, **values))


async def delete_passkeys(db: AsyncConnection, user: int) -> int:
    """For an operator; the password logs the user in again, even where a passkey had replaced it."""
    await db.execute(update(users).where(users.c.id == user).values(password_login=True))
    result = await db.execute(delete(passkeys).where(passkeys.c.user == user))
    return int(result.rowcount)


def _passkey(row: Row[Any]) -> Passkey:
    return Passkey(**row._mapping)  # noqa: SLF001 - its public name
