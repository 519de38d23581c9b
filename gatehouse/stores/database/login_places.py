"""Known login places of each user. A place is stored as a digest, so that it does not disclose the address."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import bindparam, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from gatehouse.stores.database.schema import login_places

if TYPE_CHECKING:
    from gatehouse.stores.database.sql_engine import Database

# When a place was last seen is stored no more often than this: everyday logins write nothing.
RENEWED_SECONDS = 86_400
PLACES_PER_USER = 200

_LAST = select(login_places.c.last).where(
    login_places.c.user == bindparam("user_id"), login_places.c.place == bindparam("place_seen")
)


class LoginPlaces:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def record(self, user: int, place: str, at: float) -> bool:
        """Store the place; True if the user has other known places and this one is new."""
        found = await self._database.fetch_rows(_LAST, user_id=user, place_seen=place)
        if not found:
            return await self._add(user, place, at)
        if found[0].last < at - RENEWED_SECONDS:
            async with self._database.writing() as db:
                await db.execute(
                    update(login_places)
                    .where(login_places.c.user == user, login_places.c.place == place)
                    .values(last=at)
                )
        return False

    async def _add(self, user: int, place: str, at: float) -> bool:
        try:
            async with self._database.writing() as db:
                others = await db.scalar(select(func.count()).where(login_places.c.user == user)) or 0
                await db.execute(insert(login_places).values(user=user, place=place, first=at, last=at))
                if others >= PLACES_PER_USER:
                    oldest = (
                        select(login_places.c.place)
                        .where(login_places.c.user == user)
                        .order_by(login_places.c.last)
                        .limit(others + 1 - PLACES_PER_USER)
                    )
                    await db.execute(
                        delete(login_places).where(login_places.c.user == user, login_places.c.place.in_(oldest))
                    )
        except IntegrityError:
            return False  # two logins from there at once, or the user is gone
        return others > 0
