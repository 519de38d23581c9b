"""Logins by day and user, and failed logins by day, counted in the transaction that stores their audit events.

Day 0 has the sums of all days, so that totals read one row for each user, however many logins there were.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import func, select, text

from gatehouse.stores.database.schema import login_days, login_failures

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sqlalchemy import Select
    from sqlalchemy.ext.asyncio import AsyncConnection

    from gatehouse.stores.database.sql_engine import Database

DAY_SECONDS = 86_400
ALL_DAYS = 0

# The same SQL for SQLite and PostgreSQL.
_COUNT = text(
    'INSERT INTO login_days (day, "user", logins) VALUES (:day, :user, :logins) '
    'ON CONFLICT (day, "user") DO UPDATE SET logins = login_days.logins + excluded.logins'
)
_COUNT_FAILURES = text(
    "INSERT INTO login_failures (day, failures) VALUES (:day, :failures) "
    "ON CONFLICT (day) DO UPDATE SET failures = login_failures.failures + excluded.failures"
)


class Logins(NamedTuple):
    people: int
    logins: int


def day_of(at: float) -> int:
    return int(at // DAY_SECONDS)


async def count_logins(db: AsyncConnection, logins: Iterable[tuple[float, int]]) -> None:
    """Count logins, each a time and a user."""
    counted: Counter[tuple[int, int]] = Counter()
    for at, user in logins:
        counted[day_of(at), user] += 1
        counted[ALL_DAYS, user] += 1
    if counted:
        # Sorted, so that all workers lock the rows in the same order and cannot deadlock.
        rows = [{"day": day, "user": user, "logins": number} for (day, user), number in sorted(counted.items())]
        await db.execute(_COUNT, rows)


async def count_failures(db: AsyncConnection, failures: Iterable[tuple[float, int]]) -> None:
    """Count failed logins, each entry a time and how many."""
    counted: Counter[int] = Counter()
    for at, number in failures:
        counted[day_of(at)] += number
    if counted:
        await db.execute(_COUNT_FAILURES, [{"day": day, "failures": counted[day]} for day in sorted(counted)])


def logins_between(first: int, last: int) -> Select[Any]:
    return (
        select(login_days.c.day, func.count().label("people"), func.sum(login_days.c.logins).label("logins"))
        .where(login_days.c.day.between(first, last))
        .group_by(login_days.c.day)
    )


class LoginDays:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def between(self, first: int, last: int) -> Mapping[int, Logins]:
        """By day; days without a login are left out."""
        async with self._database.reading() as db:
            found = await db.execute(logins_between(first, last))
        return {row.day: Logins(row.people, int(row.logins)) for row in found}

    async def failures(self, first: int, last: int) -> Mapping[int, int]:
        """By day, those on which a login failed."""
        query = select(login_failures).where(login_failures.c.day.between(first, last))
        async with self._database.reading() as db:
            return {row.day: row.failures for row in await db.execute(query)}

    async def people(self, since: int, *, offset: int, limit: int) -> list[int]:
        """Users who have logged in on that day or later, those of the most recent day first."""
        last = func.max(login_days.c.day)
        query = (
            select(login_days.c.user)
            .where(login_days.c.day >= max(since, ALL_DAYS + 1))
            .group_by(login_days.c.user)
            .order_by(last.desc(), login_days.c.user.desc())
            .offset(offset)
            .limit(limit)
        )
        async with self._database.reading() as db:
            return list((await db.scalars(query)).all())

    async def total(self) -> Logins:
        return (await self.between(ALL_DAYS, ALL_DAYS)).get(ALL_DAYS, Logins(0, 0))
