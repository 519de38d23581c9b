"""How throughput, latency and memory follow when one thing grows at a time: connections, workers, sessions, users.

    python -m benchmarks.growth [--seconds 2]

The median of three rounds each. Everything else stays as it is in `benchmarks.speed`. `benchmarks.million_users`
goes on to a million of each.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.load import middle, require_wrk, wrk
from benchmarks.running_service import Subject
from gatehouse.auth.sessions.tokens import new_session_id
from gatehouse.composition import Service
from gatehouse.settings import load
from gatehouse.stores.database.users import NewUser
from gatehouse.stores.state.protocol import Session
from tests.support.conversation import ME

MAX_CONNECTIONS = (1, 10, 100, 1_000, 5_000)
WORKERS = (1, 2)
SESSIONS = (1_000, 10_000, 100_000)
USERS = (1_000, 10_000)
ROUNDS = 3


def populate(subject: Subject, have: int, *, users: int = 0, sessions: int = 0) -> None:
    """From so many to so many, beside the running service, through the same parts it is made of."""
    settings = load(environ={"GATEHOUSE_DATA_DIR": str(subject.running.data)})

    async def work() -> None:
        service = Service(settings)
        now = service.clock()
        for number in range(have, users):
            await service.stores.users.add(NewUser(f"user{number}", "User", "none", 1, now))
        for start in range(have, sessions, 500):
            await asyncio.gather(
                *(
                    service.stores.state.open_session(
                        Session(new_session_id(user), user, 1, now, now, now + 6e5, now + 2e6, "", ""), 10
                    )
                    for user in range(1_000 + start, 1_000 + min(start + 500, sessions))
                )
            )
        await service.stop()

    asyncio.run(work())


@contextmanager
def fresh(**options: Any) -> Iterator[Subject]:
    with (
        tempfile.TemporaryDirectory(dir=Path(".bench")) as folder,
        Subject(Path(folder) / "data", **options) as subject,
    ):
        yield subject


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=2.0)
    seconds = parser.parse_args().seconds
    require_wrk()
    Path(".bench").mkdir(exist_ok=True)
    table = Table("what grows", "to", "users/me a second", "p50 ms", "p99 ms", "failed", "MB a worker", title="Growth")

    def row(what: str, size: int, subject: Subject, connections: int = 32) -> None:
        bearer = subject.bearer()
        load = middle(
            [wrk(subject.url(ME), seconds=seconds, connections=connections, headers=bearer) for _ in range(ROUNDS)]
        )
        print(f"  {what}: {size:,}: {load.rate:,.0f}/s", flush=True)
        table.add_row(
            what, f"{size:,}", f"{load.rate:,.0f}", f"{load.p50:.2f}", f"{load.p99:.2f}", str(load.bad + load.errors),
            f"{subject.memory():.0f}",
        )  # fmt: skip

    with fresh() as subject:
        for connections in MAX_CONNECTIONS:
            row("connections kept alive", connections, subject, connections)
        for have, sessions in pairwise((0, *SESSIONS)):
            populate(subject, have, sessions=sessions)
            row("live sessions", sessions, subject)
        for have, users in pairwise((0, *USERS)):
            populate(subject, have, users=users)
            row("users", users, subject)
    for workers in WORKERS:
        with fresh(workers=workers, pinned=False) as subject:
            row(f"workers on {os.cpu_count()} cores, the load among them", workers, subject)
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
