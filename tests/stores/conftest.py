"""Every store, on every engine it has. A test that takes `states` or `database` runs once on each."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import asyncpg
import pytest

from gatehouse.stores.database.migrate import migrate
from gatehouse.stores.database.sql_engine import Database
from gatehouse.stores.state.postgres.engine import PostgresState
from gatehouse.stores.state.protocol import State
from gatehouse.stores.state.redis.engine import RedisState
from gatehouse.stores.state.sqlite.engine import SQLiteState
from tests.support.engines import Postgres, Redis

# Apart from the databases that running services use.
STORE_TESTS_DB = 60
STATE_DATABASE = "state_tests"


class Opener:
    """Opens the same state as often as there are nodes."""

    def __init__(self, open_one: Callable[[], State]) -> None:
        self._open_one = open_one
        self._opened: list[State] = []

    def __call__(self) -> State:
        self._opened.append(self._open_one())
        return self._opened[-1]

    async def close(self) -> None:
        for state in self._opened:
            await state.close()


STATE_TABLES = "sessions, epochs, captchas, rates, failures, marks, expiring_values, ended_sessions"


async def empty_postgres(server: Postgres) -> str:
    """A database without state; the tables of an earlier test are emptied, which is quicker than to make them."""
    url = server.url(STATE_DATABASE)
    try:
        connection = await asyncpg.connect(url)
    except asyncpg.InvalidCatalogNameError:
        connection = await asyncpg.connect(server.url("postgres"))
        await connection.execute(f"CREATE DATABASE {server.name(STATE_DATABASE)}")
    else:
        if await connection.fetchval("SELECT to_regnamespace('gatehouse_state')"):
            await connection.execute(
                f"SET search_path = gatehouse_state; TRUNCATE {STATE_TABLES};"
                " DELETE FROM meta WHERE name <> 'version'; UPDATE ended_log SET newest = 0, entries = 0"
            )
    await connection.close()
    return url


@pytest.fixture(params=["sqlite", "redis", "postgres"])
def state_server(request: pytest.FixtureRequest) -> Redis | Postgres | None:
    """The server of the engine; None for the one that needs none."""
    if request.param == "sqlite":
        return None
    server: Redis | Postgres = request.getfixturevalue(f"{request.param}_server")
    return server


@pytest.fixture
async def states(state_server: Redis | Postgres | None, tmp_path: Path) -> AsyncIterator[Opener]:
    match state_server:
        case Redis():
            url = state_server.emptied(STORE_TESTS_DB)
            opener = Opener(lambda: RedisState(url))
        case Postgres():
            url = await empty_postgres(state_server)
            opener = Opener(lambda: PostgresState(url))
        case None:
            opener = Opener(lambda: SQLiteState(tmp_path / "state.db"))
    yield opener
    await opener.close()


@pytest.fixture
def state(states: Opener) -> State:
    return states()


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An SQLite file with all tables and no rows, made once and copied."""
    file = tmp_path_factory.mktemp("migrated") / "accounts.db"
    asyncio.run(_migrate(f"sqlite:///{file}"))
    return file


async def _migrate(url: str) -> None:
    database = Database(url)
    await migrate(database)
    await database.close()


@pytest.fixture(params=["sqlite", "postgres"])
def accounts_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database that exists; it is empty unless the test takes `database` too."""
    migrated = "database" in request.fixturenames
    if request.param == "sqlite":
        file = tmp_path / "accounts.db"
        if migrated:
            shutil.copy(request.getfixturevalue("migrated_file"), file)
        return f"sqlite:///{file}"
    server: Postgres = request.getfixturevalue("postgres_server")
    return server.copy("store_tests") if migrated else server.create("store_tests", migrated=False)


@pytest.fixture
async def database(accounts_url: str) -> AsyncIterator[Database]:
    database = Database(accounts_url)
    yield database
    await database.close()
