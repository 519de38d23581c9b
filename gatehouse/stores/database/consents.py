"""What users have allowed applications that are not the company's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import bindparam, delete, insert, select
from sqlalchemy.exc import IntegrityError

from gatehouse.stores.database.schema import consents

if TYPE_CHECKING:
    from sqlalchemy import Delete

    from gatehouse.stores.database.sql_engine import Database


class Consent(NamedTuple):
    scopes: tuple[str, ...]
    given: float


_OF = select(consents.c.scopes, consents.c.given).where(
    consents.c.user == bindparam("user_id"), consents.c.client == bindparam("number")
)


class Consents:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, user: int, client: int) -> Consent | None:
        found = await self._database.fetch_rows(_OF, user_id=user, number=client)
        return Consent(tuple(found[0].scopes.split()), found[0].given) if found else None

    async def give(self, user: int, client: int, scopes: tuple[str, ...], now: float) -> None:
        """In place of what was allowed before."""
        try:
            async with self._database.writing() as db:
                await db.execute(_removal(user, client))
                row = {"user": user, "client": client, "scopes": " ".join(scopes), "given": now}
                await db.execute(insert(consents).values(**row))
        except IntegrityError:
            return  # two at once say the same; or the user or the application is gone

    async def remove(self, user: int, client: int) -> None:
        async with self._database.writing() as db:
            await db.execute(_removal(user, client))


def _removal(user: int, client: int) -> Delete:
    return delete(consents).where(consents.c.user == user, consents.c.client == client)
