"""How fast the console's user page is with many users: pages and searches, over the wire, one worker.

    python -m benchmarks.user_page [--users 50000] [--database-url postgresql://...]

A page should take less than 30 ms and a search less than 100 ms.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from sqlalchemy import insert, text

from gatehouse.composition import Service
from gatehouse.settings import load
from gatehouse.stores.database.schema import user_roles, users
from tests.support.accounts import Accounts
from tests.support.conversation import bearer, login
from tests.support.running import Running

ROUNDS = 15
BATCH = 5_000
PAGE_MS, SEARCH_MS = 30, 100
FIRST_DAY = 1_700_000_000

CASES: dict[str, tuple[dict[str, Any], int]] = {
    "first page": ({}, PAGE_MS),
    "page in the middle": ({"pageNum": 1250}, PAGE_MS),
    "last page": ({"pageNum": 2500}, PAGE_MS),
    "oldest first": ({"sort": "createTime"}, PAGE_MS),
    "one hit": ({"keywords": "user49123"}, SEARCH_MS),
    "no hit": ({"keywords": "nobody like this"}, SEARCH_MS),
    "all are hits": ({"keywords": "nick"}, SEARCH_MS),
    "mobile number": ({"keywords": "13800012345"}, SEARCH_MS),
    "one department": ({"deptId": 3}, SEARCH_MS),
    "all departments": ({"deptId": 1}, SEARCH_MS),
    "disabled": ({"status": 0}, SEARCH_MS),
    "one week": ({"createTime": ["2023-11-15", "2023-11-21"]}, SEARCH_MS),
    "everything at once": ({"keywords": "13", "status": 1, "deptId": 1, "createTime": ["2023-11-15"]}, SEARCH_MS),
}


async def populate(running: Running, number: int) -> None:
    service = Service(load(environ=running.env))
    try:
        places = [await Accounts(service).add_department(f"Department {each}", 1) for each in range(20)]
        roles = []
        for each in range(10):
            await Accounts(service).add_role(f"ROLE{each}", f"Role {each}")
            roles.append((await Accounts(service).role(f"ROLE{each}")).id)
        for start in range(0, number, BATCH):
            rows = [_user(each, places[each % 20]) for each in range(start, min(start + BATCH, number))]
            async with service.stores.database.writing() as db:
                await db.execute(insert(users), rows)
                links = [{"user": row["id"], "role": roles[int(row["id"]) % 10]} for row in rows]
                await db.execute(insert(user_roles), links)
        if service.stores.database.engine.dialect.name == "postgresql":
            # What autovacuum does within a minute of such an import.
            async with service.stores.database.engine.connect() as db:
                await (await db.execution_options(isolation_level="AUTOCOMMIT")).execute(text("VACUUM ANALYZE"))
    finally:
        await service.stop()


def _user(number: int, place: int) -> dict[str, Any]:
    return {
        "id": 1000 + number,
        "username": f"User{number}",
        "name_key": f"user{number}",
        "nickname": f"Nick Name {number}",
        "avatar": f"https://example.com/avatars/{number}.png",
        "department": place,
        "password_hash": "$argon2id$v=19$m=19456,t=2,p=1$" + "x" * 66,
        "enabled": number % 7 != 0,
        "captcha_exempt": False,
        "created": FIRST_DAY + 600.0 * number,
        "mobile": f"138{number:08d}",
        "email": f"user{number}@example.com",
    }


def measure(running: Running) -> list[tuple[str, int, float, float, int]]:
    found = []
    with running.client() as client:
        headers = bearer(login(client))
        for name, (query, most) in CASES.items():
            times, total = [], 0
            for _ in range(ROUNDS):
                started = time.perf_counter()
                answer = client.get("/api/v1/users", params={"pageSize": 20, **query}, headers=headers)
                times.append((time.perf_counter() - started) * 1e3)
                total = answer.raise_for_status().json()["data"]["total"]
            found.append((name, total, statistics.median(times), max(times), most))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=50_000)
    parser.add_argument("--database-url", default="", help="an empty, migrated PostgreSQL database")
    given = parser.parse_args()
    settings = {"database_url": given.database_url} if given.database_url else {}
    with (
        tempfile.TemporaryDirectory() as folder,
        Running(Path(folder) / "data", workers=1, log_level="warning", **settings) as running,
    ):
        asyncio.run(populate(running, given.users))
        table = Table("what", "hits", "median ms", "slowest ms", "bound ms", title=f"{given.users:,} users")
        for name, total, middle, slowest, most in measure(running):
            colour = "green" if middle < most else "red"
            table.add_row(name, f"{total:,}", f"[{colour}]{middle:.1f}[/]", f"{slowest:.1f}", str(most))
        Console().print(table)


if __name__ == "__main__":
    main()
