"""The console's dashboard and log page beside a million rows: what each call costs, on one core.

    python -m benchmarks.dashboard_and_log_page                 a million logins counted by day, a million audit events
    python -m benchmarks.dashboard_and_log_page --rows 100000   fewer

Through the whole application on the embedded default, CPU time of this process; the server's own share is left out.
"""

from __future__ import annotations

import argparse
import sqlite3
import tempfile
import time
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import Any

from gatehouse.common import logs
from tests.support.inprocess import Clock, InProcess

DAYS = 200
ROUNDS = 15


def fill(database: Path, rows: int, now: float) -> None:
    """Everybody logs in every day, and each login has its event."""
    today, users = int(now // 86_400), rows // DAYS
    days = (
        (day, user, 1 if day else DAYS)
        for day in (0, *range(today - DAYS + 1, today + 1))
        for user in range(1000, 1000 + users)
    )
    events = (
        (now - 86_400 * DAYS * (1 - number / rows), "login", 1000 + number % users, "192.0.2.7", "request")
        for number in range(rows)
    )
    with closing(sqlite3.connect(database)) as db, db:
        db.executemany('INSERT INTO login_days (day, "user", logins) VALUES (?, ?, ?)', days)
        db.executemany('INSERT INTO audit_events (at, event, "user", address, request) VALUES (?, ?, ?, ?, ?)', events)


def cost(gatehouse: InProcess, token: str, path: str, query: dict[str, str]) -> tuple[float, Any]:
    spent = []
    for _ in range(ROUNDS):
        started = time.process_time()
        answer = gatehouse.request("GET", f"/api/v1/{path}", query=query, token=token)
        spent.append(time.process_time() - started)
        assert answer.status == 200, answer.content
    return median(spent) * 1000, answer.json["data"]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    rows = parser.parse_args().rows
    logs.configure("error", "json")
    clock = Clock(time.time())
    with tempfile.TemporaryDirectory() as folder, InProcess(Path(folder), clock) as gatehouse:
        fill(Path(folder) / "data" / "accounts.db", rows, clock.now)
        token = gatehouse.login().data["accessToken"]
        calls: list[tuple[str, dict[str, str]]] = [
            ("logs/analytics/overview", {}),
            ("logs/analytics/trend", {}),
            ("logs/analytics/trend", {"startDate": "2000-01-01", "endDate": "2100-01-01"}),
            ("logs", {"pageNum": "1", "pageSize": "10"}),
            ("logs", {"pageNum": "1000", "pageSize": "10"}),
            ("logs", {"pageNum": "1", "pageSize": "10", "keywords": "login"}),
            ("logs", {"pageNum": "1", "pageSize": "10", "keywords": "admin"}),
        ]
        for path, query in calls:
            milliseconds, data = cost(gatehouse, token, path, query)
            said = data.get("total", data.get("totalPvCount", ""))
            print(f"{milliseconds:8.1f} ms  {path} {query or ''} {said}")


if __name__ == "__main__":
    main()
