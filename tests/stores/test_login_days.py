"""Logins by day: counted with their audit events, by several writers at once, and read by the day alone."""

from __future__ import annotations

import asyncio

from sqlalchemy import text

from gatehouse.stores.database.audit_trail import AuditEntry, AuditTrail
from gatehouse.stores.database.daily_logins import ALL_DAYS, LoginDays, Logins, logins_between
from gatehouse.stores.database.sql_engine import Database

DAY = 86_400


def login(user: int | None, day: int, event: str = "login") -> AuditEntry:
    return AuditEntry(0, day * DAY + 5.0, event, user, None, None, None, None, None)


async def test_logins_are_counted_by_day_and_user(database: Database) -> None:
    trail, days = AuditTrail(database), LoginDays(database)
    await trail.append([login(1, 10), login(1, 10), login(2, 10), login(1, 11, "login.failed"), login(None, 11)])
    await trail.append([login(1, 10), login(1, 12)])
    assert await days.between(10, 12) == {10: Logins(2, 4), 12: Logins(1, 1)}
    assert await days.between(11, 11) == {}
    assert await days.total() == Logins(2, 5)


async def test_writers_at_once_lose_nothing_and_wait_for_each_other(database: Database) -> None:
    trail = AuditTrail(database)
    forwards = [login(user, 10) for user in range(1, 9)]
    await asyncio.gather(*(trail.append(batch) for batch in (forwards, forwards[::-1], forwards, forwards[::-1])))
    assert await LoginDays(database).total() == Logins(8, 32)


async def test_a_day_is_found_without_looking_at_the_others(database: Database) -> None:
    """Beside a million rows of other days it costs the same: the plan is a search by day, not a scan."""
    await AuditTrail(database).append([login(user, day) for user in range(1, 40) for day in range(1, 60)])
    explain = "EXPLAIN QUERY PLAN" if database.path else "EXPLAIN"
    async with database.writing() as db:
        query = logins_between(ALL_DAYS, ALL_DAYS).compile(dialect=db.dialect, compile_kwargs={"literal_binds": True})
        if not database.path:
            await db.execute(text("ANALYZE login_days"))
            await db.execute(text("SET LOCAL enable_seqscan = off"))
        plan = " ".join(str(row) for row in await db.execute(text(f"{explain} {query}")))
    assert "SEARCH login_days USING" in plan or "pk_login_days" in plan, plan
