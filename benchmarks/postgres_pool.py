"""The pool of PostgreSQL's state beside asyncpg's own, by turns: operations a second, and CPU time of the caller.

python -m benchmarks.postgres_pool [--callers 1 32 200] [--seconds 1.5] [--rounds 3] [--sessions 20000]

Both have the same connections, statements and settings of the server, which commits to the disk. asyncpg's pool resets
no connection here, which would be one more round trip for each operation.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
from typing import Any

import asyncpg

from benchmarks.state_engines import DurablePostgres, Sessions, rate
from gatehouse.stores.state.postgres.connection import SERVER_SETTINGS, driver_url
from gatehouse.stores.state.postgres.engine import PostgresState
from gatehouse.stores.state.postgres.pool import CONNECTIONS
from gatehouse.stores.state.postgres.statements import Statement
from tests.support.engines import PostgresServer


async def _no_reset(_connection: object) -> None: ...


class LibraryPool:
    """Runs each statement by itself, on a connection of asyncpg's pool."""

    def __init__(self, pool: asyncpg.Pool[asyncpg.Record]) -> None:
        self._pool = pool

    @classmethod
    async def open(cls, url: str) -> LibraryPool:
        return cls(
            await asyncpg.create_pool(
                driver_url(url),
                min_size=CONNECTIONS,
                max_size=CONNECTIONS,
                server_settings=SERVER_SETTINGS,
                reset=_no_reset,
            )
        )

    async def run(self, statement: Statement, *values: Any) -> list[Any]:
        if statement.batched:
            values = tuple([value] for value in values)
        async with self._pool.acquire() as connection:
            return list(await connection.fetch(statement.sql, *values))

    async def close(self) -> None:
        await self._pool.close()


async def measure(postgres: PostgresServer, options: argparse.Namespace) -> None:
    url = postgres.url("bench")
    own, other = PostgresState(url), PostgresState(url)
    await own.ping()
    library = await LibraryPool.open(url)
    other._run = library.run  # type: ignore[assignment]  # noqa: SLF001 - all that the engine asks of its pool
    sessions = Sessions(options.sessions)
    await sessions.fill(own)
    print(f"{'':20}{'own':>22}{'asyncpg':>22}{'own, times asyncpg':>22}")
    for operation in ("status", "refresh", "rate_limit", "login_and_logout"):
        for callers in options.callers:
            pairs = []
            for _ in range(options.rounds):
                work = getattr(sessions, operation)
                pairs.append([await rate(state, work, callers, options.seconds) for state in (own, other)])
            cells = [
                f"{statistics.median(pair[each][0] for pair in pairs):11,.0f}/s"
                f"{statistics.median(pair[each][1] for pair in pairs):6.0f} us"
                for each in (0, 1)
            ]
            ratio = statistics.median(pair[0][0] / pair[1][0] for pair in pairs)
            print(f"{operation:<16}{callers:>4}{cells[0]:>22}{cells[1]:>22}{ratio:>20.2f}", flush=True)
    await library.close()
    await own.close()
    await other.close()


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.postgres_pool", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--callers", type=int, nargs="+", default=[1, 32, 200])
    parser.add_argument("--seconds", type=float, default=1.5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sessions", type=int, default=20_000)
    postgres = DurablePostgres()
    try:
        postgres.start()
        postgres.create("bench", migrated=False)
        asyncio.run(measure(postgres, parser.parse_args()))
    finally:
        postgres.remove()


if __name__ == "__main__":
    main()
