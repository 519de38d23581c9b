"""State in PostgreSQL with a synchronous standby: a failover loses nothing acknowledged; a lost standby is bounded."""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import Iterator

import asyncpg
import pytest

from gatehouse.stores.errors import StoreUnavailable
from gatehouse.stores.state.postgres.connection import WAITING_COMMITS_LIMIT
from gatehouse.stores.state.postgres.engine import PostgresState
from gatehouse.stores.state.postgres.pool import CONNECTIONS
from gatehouse.stores.state.protocol import EndRecord, Session
from tests.stores.recovery import eventually
from tests.support.engines import PostgresServer, Server, ordinary_user
from tests.support.waiting import async_wait_until

pytestmark = [pytest.mark.full, pytest.mark.usefixtures("service_limits")]

NOW = 1_800_000_000.5
ENDING = EndRecord(NOW, "logout", 7200)


def session(number: int) -> Session:
    return Session(f"{number}-{number:022}", number, 1, NOW, NOW, NOW + 1000, NOW + 9000, "192.0.2.1", "agent")


class Standby(PostgresServer):
    """A copy of a running server that follows it."""

    def __init__(self, primary: PostgresServer) -> None:
        Server.__init__(self, ordinary_user() if os.geteuid() == 0 else None)
        self.template = ""
        self.bin = (primary.bin / "postgres").resolve().parent  # with pg_basebackup beside it
        source = ["-h", "127.0.0.1", "-p", str(primary.port), "-U", "gatehouse"]
        self.run("pg_basebackup", *source, "-D", "data", "-R", "-c", "fast", "--no-sync")


@pytest.fixture
def pair() -> Iterator[tuple[PostgresServer, Standby]]:
    """A primary that acknowledges nothing before its standby has it."""
    primary = PostgresServer()
    servers = [primary]
    try:
        primary.start()
        primary.create("state", migrated=False)
        standby = Standby(primary)
        servers.append(standby)
        standby.start()
        primary.execute("ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()")
        yield primary, standby
    finally:
        for server in servers:
            server.remove()


def url_of(*servers: PostgresServer) -> str:
    return f"postgresql://gatehouse@{','.join(f'127.0.0.1:{server.port}' for server in servers)}/state"


async def test_a_failover_loses_nothing_that_was_acknowledged(pair: tuple[PostgresServer, Standby]) -> None:
    primary, standby = pair
    state = PostgresState(url_of(primary, standby))
    opened: set[str] = set()
    ended: set[str] = set()
    killed = asyncio.Event()

    async def log_in_and_out(first: int) -> None:
        """Every other session is ended again; until the server is gone."""
        for number in itertools.count(first, 8):
            try:
                await state.open_session(session(number), 50, ENDING)
                if number % 2:
                    await state.end_session(session(number).id, ENDING)
            except StoreUnavailable:
                if killed.is_set():
                    return
            else:
                (ended if number % 2 else opened).add(session(number).id)

    clients = [asyncio.create_task(log_in_and_out(first)) for first in range(1, 9)]

    async def has_much_to_lose() -> bool:
        return min(len(opened), len(ended)) >= 100

    await async_wait_until(has_much_to_lose, lambda: f"{len(opened)} opened, {len(ended)} ended")
    killed.set()
    await asyncio.to_thread(primary.kill)
    await asyncio.gather(*clients)
    await asyncio.to_thread(standby.execute, "SELECT pg_promote()")
    await eventually(state.ping)  # the nodes find the new primary

    found: set[str] = set()
    logged: set[str] = set()

    async def look() -> None:
        found.clear()
        found.update([id_ for id_ in opened | ended if await state.session_status(id_)])
        logged.update(entry.session for entry in (await state.ended_sessions("", 100_000)).entries)

    await eventually(look)
    assert found == opened
    assert logged >= ended
    await state.close()


async def test_without_its_standby_a_write_is_refused_and_a_read_is_not(pair: tuple[PostgresServer, Standby]) -> None:
    primary, standby = pair
    state = PostgresState(url_of(primary))
    await eventually(lambda: state.open_session(session(1), 50))
    assert "loses nothing acknowledged" in str(await state.durability())
    standby.pause()
    try:
        for _ in range(3):
            ends = (state.end_session(session(number).id, ENDING) for number in range(2, 6))
            first, *_ = await asyncio.gather(state.end_session(session(1).id, ENDING), *ends, return_exceptions=True)
            assert isinstance(first, StoreUnavailable), "a repeated logout is no more acknowledged than the first"
        await eventually(lambda: state.session_status(session(1).id))
        observer = await asyncpg.connect(url_of(primary))
        busy = await observer.fetchval(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'gatehouse-state-%'"
        )
        await observer.close()
        assert busy <= CONNECTIONS + WAITING_COMMITS_LIMIT, "what was given up does not pile up on the server"
    finally:
        standby.resume()
    await eventually(lambda: state.end_session(session(1).id, ENDING))

    async def is_gone() -> None:
        assert await state.session_status(session(1).id) is None

    await eventually(is_gone)
    await state.close()
