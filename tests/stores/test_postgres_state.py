"""State in PostgreSQL: what only this engine has. A server that goes and comes back, shared round trips, own tables."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Iterator

import asyncpg
import pytest

from gatehouse.common.parsing import Rate
from gatehouse.stores.database.migrate import check, migrate
from gatehouse.stores.database.sql_engine import Database
from gatehouse.stores.errors import StoreUnavailable
from gatehouse.stores.state.postgres import server_configuration
from gatehouse.stores.state.postgres.connection import driver_url
from gatehouse.stores.state.postgres.engine import PostgresState
from gatehouse.stores.state.protocol import BackoffPolicy, EndRecord, Session
from tests.stores.conftest import empty_postgres
from tests.stores.recovery import eventually
from tests.support.engines import Postgres, PostgresServer
from tests.support.running import free_port
from tests.support.waiting import async_wait_until

NOW = 1_800_000_000.5
POLICY = BackoffPolicy(failure_limit=1, window=60, lockout_seconds=(1000,), kept_seconds=1000)


def session(name: str = "a", user: int = 7) -> Session:
    return Session(f"{user}-{name:x<22}", user, 1, NOW, NOW, NOW + 1000, NOW + 9000, "192.0.2.1", "agent")


@pytest.fixture(scope="module")
def own_server() -> Iterator[PostgresServer]:
    """A server that may be stopped."""
    server = PostgresServer()
    server.start()
    server.create("state", migrated=False)
    yield server
    server.remove()


@pytest.fixture
async def own_state(own_server: PostgresServer) -> AsyncIterator[PostgresState]:
    state = PostgresState(own_server.url("state"))
    yield state
    await state.close()


@pytest.fixture
async def state(postgres_server: Postgres) -> AsyncIterator[PostgresState]:
    state = PostgresState(await empty_postgres(postgres_server))
    yield state
    await state.close()


@pytest.mark.parametrize(
    ("url", "read"),
    [
        ("postgresql://u:p@h/x", "postgresql://u:p@h/x"),
        ("postgresql+asyncpg://u:p@h:1/x?ssl=require", "postgresql://u:p@h:1/x?sslmode=require"),
        ("postgres://a:1,b:2/x?sslmode=verify-full", "postgresql://a:1,b:2/x?sslmode=verify-full"),
        ("postgresql://[::1]:5432/x", "postgresql://[::1]:5432/x"),
    ],
)
def test_the_url_of_the_accounts_will_do(url: str, read: str) -> None:
    assert driver_url(url) == read


async def test_a_server_that_is_not_there_is_unavailable() -> None:
    state = PostgresState(f"postgresql://u:hush@127.0.0.1:{free_port()}/x")
    for _ in range(3):
        with pytest.raises(StoreUnavailable) as refusal:
            await state.session_status("7-x")
        assert "hush" not in str(refusal.value)
    await state.close()


@pytest.mark.full
async def test_many_nodes_that_start_together_make_the_tables_once(own_server: PostgresServer) -> None:
    await asyncio.to_thread(own_server.create, "together", migrated=False)
    nodes = [PostgresState(own_server.url("together")) for _ in range(8)]
    assert len(set(await asyncio.gather(*(node.identity() for node in nodes)))) == 1
    for node in nodes:
        await node.close()


@pytest.mark.full
async def test_it_lives_beside_the_accounts_in_one_database(own_server: PostgresServer) -> None:
    await asyncio.to_thread(own_server.create, "beside", migrated=False)
    url = own_server.url("beside")
    state, database = PostgresState(url), Database(url)
    await asyncio.gather(state.open_session(session(), 50), migrate(database))
    await check(database)
    assert list(await state.sessions_of(7)) == [session()]
    connection = await asyncpg.connect(url)
    names = await connection.fetch("SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace")
    assert "expiring_values" not in {row[0] for row in names}
    unlogged = await connection.fetch("SELECT relname FROM pg_class WHERE relpersistence = 'u' AND relkind = 'r'")
    assert [row[0] for row in unlogged] == ["rates"]
    await connection.close()
    await database.close()
    await state.close()


@pytest.mark.full
async def test_the_state_of_a_newer_release_is_refused(own_server: PostgresServer) -> None:
    await asyncio.to_thread(own_server.create, "newer", migrated=False)
    state = PostgresState(own_server.url("newer"))
    await state.ping()
    await state.close()
    connection = await asyncpg.connect(own_server.url("newer"))
    [[functions]] = await connection.fetch("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'gatehouse_state_%'")
    await connection.execute(f"DROP SCHEMA {functions} CASCADE")
    await connection.execute("UPDATE gatehouse_state.meta SET value = '99' WHERE name = 'version'")
    await connection.close()
    state = PostgresState(own_server.url("newer"))
    with pytest.raises(StoreUnavailable, match="99, newer than this release"):
        await state.ping()
    await state.close()


@pytest.mark.full
async def test_functions_that_a_release_adds_come_to_the_tables_of_an_earlier_one(own_server: PostgresServer) -> None:
    await asyncio.to_thread(own_server.create, "earlier", migrated=False)
    state = PostgresState(own_server.url("earlier"))
    await state.open_session(session(), 50)
    await state.close()
    connection = await asyncpg.connect(own_server.url("earlier"))
    [[functions]] = await connection.fetch("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'gatehouse_state_%'")
    await connection.execute(f"DROP FUNCTION {functions}.touch_session")
    await connection.execute(f"ALTER SCHEMA {functions} RENAME TO gatehouse_state_00000000")
    await connection.close()
    state = PostgresState(own_server.url("earlier"))
    assert await state.touch_session(session().id, NOW, NOW) == session()
    await state.close()


@pytest.mark.full
@pytest.mark.usefixtures("service_limits")
async def test_a_kill_of_the_server_loses_nothing_but_rates(
    own_server: PostgresServer, own_state: PostgresState
) -> None:
    await eventually(lambda: own_state.open_session(session("kept"), 50))
    await eventually(lambda: own_state.open_session(session("ended"), 50))
    await eventually(lambda: own_state.end_session(session("ended").id))
    await eventually(lambda: own_state.use_captcha(b"used", int(NOW) + 60, NOW))
    await eventually(lambda: own_state.record_failure("k", POLICY, NOW))
    await eventually(lambda: own_state.rate_limit("k", Rate(1, 6000), NOW))
    assert await eventually(lambda: own_state.rate_limit("k", Rate(1, 60), NOW)) == 6000
    await asyncio.to_thread(own_server.kill)
    with pytest.raises(StoreUnavailable):
        await own_state.session_status(session("kept").id)
    await asyncio.to_thread(own_server.start)
    assert await eventually(lambda: own_state.rate_limit("k", Rate(1, 60), NOW)) <= 60, "rates start anew"
    assert [one.id for one in await eventually(lambda: own_state.sessions_of(7))] == [session("kept").id]
    assert not await eventually(lambda: own_state.use_captcha(b"used", int(NOW) + 60, NOW))
    assert [one.key for one in await eventually(lambda: own_state.locked(NOW))] == ["k"]


@pytest.mark.full
@pytest.mark.usefixtures("service_limits")
async def test_a_server_that_hangs_is_given_up_and_found_again(
    own_server: PostgresServer, own_state: PostgresState
) -> None:
    await eventually(own_state.ping)
    own_server.pause()
    try:
        asked = await asyncio.gather(*(own_state.session_status(f"7-{n}") for n in range(20)), return_exceptions=True)
        assert all(isinstance(answer, StoreUnavailable) for answer in asked)
    finally:
        own_server.resume()
    await eventually(own_state.ping)


@pytest.mark.full
async def test_tables_that_were_dropped_are_made_again(own_server: PostgresServer, own_state: PostgresState) -> None:
    await own_state.open_session(session(), 50)
    connection = await asyncpg.connect(own_server.url("state"))
    rows = await connection.fetch("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'gatehouse_state%'")
    for (name,) in rows:
        await connection.execute(f"DROP SCHEMA {name} CASCADE")
    await connection.close()
    await eventually(own_state.ping)
    assert await own_state.sessions_of(7) == []


@pytest.mark.full
@pytest.mark.usefixtures("service_limits")
async def test_what_waits_for_a_lock_in_vain_is_ended_on_the_server(
    own_server: PostgresServer, own_state: PostgresState
) -> None:
    await eventually(lambda: own_state.open_session(session("locked"), 50))
    other = await asyncpg.connect(own_server.url("state"))
    async with other.transaction():
        await other.execute("SELECT FROM gatehouse_state.sessions WHERE id = $1 FOR UPDATE", session("locked").id)
        with pytest.raises(StoreUnavailable):
            await own_state.rotate_session(session("locked").id, 1, NOW, NOW + 100)
        await eventually(own_state.ping)
        waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        await async_wait_until(lambda: _is_zero(other.fetchval(waiting)), "the end of what was given up")
    await other.close()
    found = await eventually(lambda: own_state.sessions_of(7))
    [kept] = [one for one in found if one.id == session("locked").id]
    assert kept.generation == 1, "what was given up has not happened after all"


async def _is_zero(count: Awaitable[int]) -> bool:
    return await count == 0


DEADLOCKS = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
OTHER_CONNECTIONS = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
"""


async def test_calls_of_one_moment_share_a_round_trip(state: PostgresState) -> None:
    await asyncio.gather(*(state.open_session(session(f"n{n}"), 1000) for n in range(100)))
    before = state.counts()["round_trip"]
    found = await asyncio.gather(*(state.session_status(session(f"n{n}").id) for n in range(100)))
    rotated = await asyncio.gather(
        *(state.rotate_session(session(f"n{n % 50}").id, 1, NOW, NOW + n) for n in range(100))
    )
    assert [status[1] for status in found if status] == [NOW + 1000] * 100
    assert [one.did_rotate for one in rotated if one] == [True] * 50 + [False] * 50
    assert [one.session.id for one in rotated if one] == [session(f"n{n % 50}").id for n in range(100)]
    assert state.counts()["round_trip"] - before <= 4


async def test_batches_of_two_nodes_do_not_block_each_other(postgres_server: Postgres) -> None:
    url = await empty_postgres(postgres_server)
    state, other, observer = PostgresState(url), PostgresState(url), await asyncpg.connect(url)
    before = await observer.fetchval(DEADLOCKS)
    names = [session(f"n{n}", user=n) for n in range(60)]
    await asyncio.gather(*(state.open_session(one, 1000) for one in names))
    for generation in range(1, 20):
        await asyncio.gather(
            *(state.rotate_session(one.id, generation, NOW, NOW + 10) for one in names),
            *(other.rotate_session(one.id, generation, NOW, NOW + 10) for one in reversed(names)),
            *(node.rate_limit(f"{n}", Rate(5, 60), NOW) for node in (state, other) for n in range(60)),
        )
    assert {one.generation for n in range(60) for one in await state.sessions_of(n)} == {20}
    await state.close()
    await other.close()
    # A connection hands in what it has counted when it ends.
    await async_wait_until(lambda: _is_zero(observer.fetchval(OTHER_CONNECTIONS)), "the end of the connections")
    assert await observer.fetchval(DEADLOCKS) == before
    await observer.close()


async def test_readers_of_the_log_miss_nothing_while_many_nodes_write(
    state: PostgresState, postgres_server: Postgres
) -> None:
    other = PostgresState(postgres_server.url("state_tests"))
    end_record = EndRecord(NOW, "logout", 7200)
    names = [session(f"n{n}", user=n) for n in range(300)]
    await asyncio.gather(*(state.open_session(one, 1000) for one in names))
    ends = asyncio.gather(*((state, other)[n % 2].end_session(one.id, end_record) for n, one in enumerate(names)))
    seen, position = [], ""
    while not ends.done() or (await state.ended_position()) != position:
        page = await state.ended_sessions(position, 1000)
        seen += [entry.session for entry in page.entries]
        position = page.position
    await other.close()
    assert sorted(seen) == sorted(one.id for one in names)


@pytest.mark.parametrize("odd", ["\0", "\ud800", "漢\0x", ""])
async def test_text_that_postgresql_cannot_keep_does_no_harm(state: PostgresState, odd: str) -> None:
    assert await state.rate_limit(odd, Rate(1, 60), NOW) == 0
    assert await state.rate_limit(odd, Rate(1, 60), NOW) > 0
    failures = await state.record_failure(odd, POLICY, NOW)
    assert failures is not None
    assert failures.key == odd
    assert await state.compare_and_set(odd, None, odd, NOW + 60, NOW)
    assert await state.value(odd, NOW) == odd
    assert await state.session_status(f"7-{odd}") is None
    assert await state.end_session(f"7-{odd}") is None
    await state.open_session(session()._replace(agent=f"a{odd}b"), 50)
    assert len(await state.sessions_of(7)) == 1


async def test_what_has_expired_is_swept_in_batches(state: PostgresState, postgres_server: Postgres) -> None:
    for n in range(30):
        await state.use_captcha(f"{n}".encode(), int(NOW) + n % 2 * 9000, NOW)
    await state.rate_limit("k", Rate(1, 60), NOW)
    await state.set_flag("m", NOW + 10, NOW)
    await state.compare_and_set("v", None, "x", NOW + 10, NOW)
    await state.record_failure("f", POLICY, NOW)
    await state.sweep(NOW + 8000)
    connection = await asyncpg.connect(postgres_server.url("state_tests"))
    counts = [
        await connection.fetchval(f"SELECT count(*) FROM gatehouse_state.{table}")
        for table in ("captchas", "rates", "marks", "expiring_values", "failures")
    ]
    await connection.close()
    assert counts == [15, 0, 0, 0, 0]


GOOD = {
    "fsync": "on", "full_page_writes": "on", "synchronous_commit": "on", "synchronous_standby_names": "",
    "max_connections": "100",
}  # fmt: skip


@pytest.mark.parametrize(
    ("setting", "value", "word"),
    [
        ("synchronous_commit", "off", "crash"),
        ("fsync", "off", "crash"),
        ("max_connections", "10", "each worker opens"),
    ],
)
def test_what_the_server_lacks_is_said(setting: str, value: str, word: str) -> None:
    assert server_configuration.warnings(GOOD) == []
    sentence = str(*server_configuration.warnings({**GOOD, setting: value}))
    assert sentence.startswith(setting)
    assert word in sentence


def test_standbys_that_no_commit_waits_for_are_pointed_out() -> None:
    standbys = {**GOOD, "synchronous_standby_names": "one"}
    assert server_configuration.warnings(standbys) == []
    assert "loses nothing acknowledged" in str(server_configuration.durability(standbys))
    without = {**standbys, "synchronous_commit": "local"}
    assert "synchronous_commit is local" in str(*server_configuration.warnings(without))
    assert "can lose the last" in str(server_configuration.durability(without))
    assert "can lose the last" in str(server_configuration.durability(GOOD))
