"""Redis in its other shapes: URLs, a Cluster that moves its slots, Sentinels that name a new primary."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from typing import Any

import pytest

from gatehouse.common.parsing import Rate
from gatehouse.stores.errors import StoreUnavailable
from gatehouse.stores.state.protocol import BackoffPolicy, EndRecord, Session
from gatehouse.stores.state.redis.connection import Address, ReconnectingConnection
from gatehouse.stores.state.redis.engine import RedisState
from gatehouse.stores.state.redis.servers import parse_url, slot_of
from tests.stores.recovery import eventually
from tests.support.engines import Redis, RedisServer
from tests.support.running import free_port
from tests.support.waiting import wait_until

NOW = 1_800_000_000.0
NODES = 3
SLOTS = 16384


def session(user: int) -> Session:
    return Session(f"{user}-{'x' * 22}", user, 1, NOW, NOW, NOW + 100, NOW + 1000, "192.0.2.1", "agent")


async def test_a_connection_that_is_lost_while_it_opens_is_opened_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a server does that has too many clients: it says so unasked and closes, maybe before we are told of it."""
    accepted, left = 0, asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal accepted
        accepted += 1
        if accepted == 1:
            writer.write(b"-ERR max number of clients reached\r\n")
        while accepted > 1 and await reader.read(4096):
            writer.write(b"+PONG\r\n")
        writer.close()
        await writer.wait_closed()
        if accepted > 1:
            left.set()

    loop = asyncio.get_running_loop()
    create_connection = loop.create_connection

    async def late(*args: Any, **options: Any) -> object:
        made = await create_connection(*args, **options)
        if accepted <= 1:
            await asyncio.sleep(0.2)
        return made

    monkeypatch.setattr(loop, "create_connection", late)
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        address = Address(*server.sockets[0].getsockname())

        async def find() -> Address:
            return address

        connection = ReconnectingConnection(find)

        async def ping() -> None:
            assert await connection.call("PING") == b"PONG"

        await eventually(ping)
        await connection.close()
        await left.wait()


@pytest.mark.parametrize(
    ("url", "kind", "addresses", "greeting"),
    [
        ("redis://host", "", [("host", 6379)], []),
        ("redis://host:7000/0", "", [("host", 7000)], []),
        ("redis://:p%40ss@[::1]:7000/3", "", [("::1", 7000)], [("AUTH", "p@ss"), ("SELECT", "3")]),
        ("redis://user:pass@host/", "", [("host", 6379)], [("AUTH", "user", "pass")]),
        ("redis+sentinel://a,b:26380/main/2", "sentinel", [("a", 26379), ("b", 26380)], [("SELECT", "2")]),
        ("redis+cluster://a:1,b:2", "cluster", [("a", 1), ("b", 2)], []),
    ],
)
def test_a_url_says_where_to_go(url: str, kind: str, addresses: list[object], greeting: list[object]) -> None:
    place = parse_url(url)
    assert (place.kind, list(place.addresses), list(place.handshake)) == (kind, addresses, greeting)
    assert place.tls is None


def test_a_double_s_means_tls() -> None:
    assert parse_url("rediss://host").tls is not None
    assert parse_url("rediss+cluster://host").tls is not None


@pytest.mark.parametrize(
    "url",
    [
        "http://host", "redis://", "redis://:hush@", "redis://host:hush", "redis://host/hush", "redis://host?hush=1",
        "redis+sentinel://host:26379", "redis+cluster://host/1", "redis+hush://host", "hush",
    ],
)  # fmt: skip
def test_a_url_that_cannot_be_read_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(ValueError, match=r"expected|option") as refusal:
        parse_url(url)
    assert "hush@" not in str(refusal.value)


def test_keys_of_one_user_share_a_slot() -> None:
    assert slot_of(b"123456789") == 0x31C3  # the example of the specification
    assert slot_of(b"gatehouse:{17}") == slot_of(b"17")
    assert slot_of(b"gatehouse:{waits}:a{b}") == slot_of(b"gatehouse:{waits}")
    assert slot_of(b"{}x") != slot_of(b"")


async def test_nobody_there_is_an_outage_not_a_hang() -> None:
    for url in ("redis://127.0.0.1:{}", "redis+cluster://127.0.0.1:{}", "redis+sentinel://127.0.0.1:{}/main"):
        state = RedisState(url.format(free_port()))
        for _ in range(3):
            with pytest.raises(StoreUnavailable):
                await state.session_status("7-x")
        await state.close()


@pytest.mark.full
@pytest.mark.usefixtures("service_limits")
async def test_a_server_that_hangs_is_given_up_and_found_again() -> None:
    server = RedisServer()
    server.start()
    try:
        state = RedisState(server.url())
        await eventually(state.ping)
        server.pause()
        try:
            asked = await asyncio.gather(*(state.session_status(f"7-{n}") for n in range(20)), return_exceptions=True)
            assert all(isinstance(answer, StoreUnavailable) for answer in asked)
        finally:
            server.resume()
        await eventually(state.ping)
        await state.close()
    finally:
        server.remove()


async def test_a_server_that_speaks_no_redis_is_an_outage() -> None:
    async def babble(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(babble, "127.0.0.1", 0)
    state = RedisState(f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    with pytest.raises(StoreUnavailable):
        await state.session_status("7-x")
    await state.close()
    server.close()


@pytest.mark.full
async def test_a_password_is_given_and_needed() -> None:
    server = RedisServer("--requirepass", "hush")
    server.answers = lambda: b"NOAUTH" in _said(server)  # type: ignore[method-assign]
    server.start()
    try:
        right = RedisState(f"redis://:hush@127.0.0.1:{server.port}")
        await right.ping()
        await right.close()
        for url in (server.url(), f"redis://:wrong@127.0.0.1:{server.port}"):
            wrong = RedisState(url)
            with pytest.raises(StoreUnavailable):
                await wrong.ping()
            await wrong.close()
    finally:
        server.remove()


def _said(server: RedisServer) -> bytes:
    try:
        return server.say("PING")
    except OSError:
        return b""


async def test_scripts_are_given_again_to_a_server_that_forgot_them(redis_server: Redis) -> None:
    state = RedisState(redis_server.url(62))
    await state.open_session(session(7), 50)
    redis_server.say("SCRIPT FLUSH")
    assert await state.rotate_session(session(7).id, 1, NOW, NOW + 5) is not None
    await state.end_sessions_of(7)
    await state.close()


async def test_every_key_has_an_expiry(redis_server: Redis) -> None:
    state = RedisState(redis_server.emptied(63))
    await state.open_session(session(7), 50)
    await state.rotate_session(session(7).id, 1, NOW, NOW + 5)
    await state.touch_session(session(7).id, NOW, NOW + 7)
    await state.raise_epochs([7, 8], NOW)
    await state.use_captcha(b"x", int(NOW) + 5, NOW)
    await state.rate_limit("k", Rate(5, 60), NOW)
    await state.record_failure("k", BackoffPolicy(1, 60, (30,), 100), NOW)
    await state.set_flag("k", NOW + 5, NOW)
    await state.ping()
    call = state._servers.call
    keys = await call(b"", "KEYS", "*")
    assert len(keys) == 8
    for key in keys:
        assert await call(key, "TTL", key) > 0, key
    await state.close()


@pytest.mark.full
async def test_advice_names_what_the_promises_lack() -> None:
    server = RedisServer("--appendonly", "no", "--maxmemory-policy", "allkeys-lru")
    server.start()
    try:
        state = RedisState(server.url())
        warnings = await state.configuration_warnings()
        await state.close()
    finally:
        server.remove()
    assert len(warnings) == 2
    assert "noeviction" in str(warnings[0])
    assert "appendonly yes" in str(warnings[1])


# Cluster


@pytest.fixture(scope="module")
def cluster() -> Iterator[list[RedisServer]]:
    servers = [RedisServer("--cluster-enabled", "yes", "--cluster-require-full-coverage", "no") for _ in range(NODES)]
    try:
        for server in servers:
            server.port = free_port(with_bus=True)
            server.start()
        share = SLOTS // NODES + 1
        for number, server in enumerate(servers):
            slots = range(number * share, min((number + 1) * share, SLOTS))
            server.say("CLUSTER ADDSLOTS", *map(str, slots))
            server.say("CLUSTER SET-CONFIG-EPOCH", str(number + 1))
            server.say("CLUSTER MEET 127.0.0.1", str(servers[0].port))
        wait_until(lambda: all(b"cluster_known_nodes:3\r\n" in server.say("CLUSTER INFO") for server in servers))
        wait_until(lambda: all(b"cluster_state:ok" in server.say("CLUSTER INFO") for server in servers))
        yield servers
    finally:
        for server in servers:
            server.remove()


def cluster_url(servers: list[RedisServer]) -> str:
    return "redis+cluster://" + ",".join(f"127.0.0.1:{server.port}" for server in servers)


@pytest.mark.full
async def test_a_cluster_spreads_users_over_its_servers(cluster: list[RedisServer]) -> None:
    state = RedisState(cluster_url(cluster[:1]))
    users = range(1, 61)
    await asyncio.gather(*(state.open_session(session(user), 50) for user in users))
    await state.raise_epochs(users, NOW)
    for user in users:
        assert await state.session_status(session(user).id) == (user, session(user).ends, int(NOW * 1000))
        touched = await state.touch_session(session(user).id, NOW, session(user).ends + 1)
        assert touched == session(user)._replace(ends=session(user).ends + 1, epoch=int(NOW * 1000))
    counts = [int(server.say("DBSIZE")[1:]) for server in cluster]
    assert min(counts) > 0
    assert await state.configuration_warnings() == []
    await state.close()


@pytest.mark.full
async def test_a_slot_that_moves_is_followed(cluster: list[RedisServer]) -> None:
    state = RedisState(cluster_url(cluster))
    user = next(user for user in range(1000, 2000) if slot_of(str(user).encode()) < SLOTS // NODES)
    slot = str(slot_of(str(user).encode()))
    await state.session_status(session(user).id)  # it knows the old place now
    target = cluster[1].say("CLUSTER MYID").split()[1].decode()
    source = cluster[0].say("CLUSTER MYID").split()[1].decode()

    cluster[1].say("CLUSTER SETSLOT", slot, "IMPORTING", source)
    cluster[0].say("CLUSTER SETSLOT", slot, "MIGRATING", target)
    await state.open_session(session(user), 50)  # sent on by ASK while the slot is moving
    assert await state.session_status(session(user).id) == (user, session(user).ends, 0)

    for server in (cluster[1], cluster[0], cluster[2]):
        server.say("CLUSTER SETSLOT", slot, "NODE", target)
    assert await state.session_status(session(user).id) == (
        user,
        session(user).ends,
        0,
    )  # sent on by MOVED, once and for all
    assert state._servers._slots[int(slot)] == Address("127.0.0.1", cluster[1].port)  # type: ignore[attr-defined]
    await state.close()


@pytest.mark.full
@pytest.mark.usefixtures("service_limits")
async def test_a_lost_server_of_a_cluster_is_an_outage_for_its_users_alone(cluster: list[RedisServer]) -> None:
    state = RedisState(cluster_url(cluster))
    mine, other = (
        next(user for user in range(3000, 4000) if low <= slot_of(str(user).encode()) < high)
        for low, high in ((2 * SLOTS // NODES + 9, SLOTS), (0, SLOTS // NODES))
    )
    await eventually(lambda: state.open_session(session(mine), 50))
    await eventually(lambda: state.open_session(session(other), 50))
    cluster[2].stop()
    with pytest.raises(StoreUnavailable):
        await state.session_status(session(mine).id)
    assert await eventually(lambda: state.session_status(session(other).id)) == (other, session(other).ends, 0)
    cluster[2].start()

    async def read() -> None:
        assert await state.session_status(session(mine).id) == (mine, session(mine).ends, 0)

    await eventually(read)
    await state.close()


# Sentinel


class Sentinel(RedisServer):
    def __init__(self, primary: int) -> None:
        super().__init__()
        (self.folder / "sentinel.conf").write_text(
            f"port {self.port}\nbind 127.0.0.1\nsentinel monitor main 127.0.0.1 {primary} 1\n"
            "sentinel down-after-milliseconds main 500\nsentinel failover-timeout main 2000\n"
        )

    def command(self) -> list[str]:
        return [super().command()[0], str(self.folder / "sentinel.conf"), "--sentinel"]


@pytest.mark.full
@pytest.mark.usefixtures("service_limits")
async def test_the_primary_that_sentinels_name_is_followed() -> None:
    primary = RedisServer()
    replica = RedisServer("--replicaof", "127.0.0.1", str(primary.port))
    sentinel = Sentinel(primary.port)
    try:
        primary.start()
        replica.start()
        sentinel.start()
        state = RedisState(f"redis+sentinel://127.0.0.1:{free_port()},127.0.0.1:{sentinel.port}/main")
        await eventually(lambda: state.open_session(session(7), 50))
        wait_until(lambda: b"slaves=1" in sentinel.say("INFO sentinel") and int(replica.say("DBSIZE")[1:]) > 0)
        sentinel.pause()  # so that there is no new primary before the refusal is seen
        primary.kill()
        with pytest.raises(StoreUnavailable):
            await state.session_status(session(7).id)
        sentinel.resume()
        rotation = await eventually(lambda: state.rotate_session(session(7).id, 1, NOW, NOW + 50))
        assert rotation is not None
        assert rotation.session.generation == 2
        await state.close()
    finally:
        for server in (sentinel, replica, primary):
            server.remove()


@pytest.mark.full
async def test_a_cluster_logs_the_end_of_a_session_wherever_its_user_lives(cluster: list[RedisServer]) -> None:
    state = RedisState(cluster_url(cluster))
    end_record = EndRecord(time.time(), "logout", 7200)
    users = range(1, 30)
    for user in users:
        await state.open_session(session(user)._replace(ends=time.time() + 100), 50)
        await state.end_session(session(user).id, end_record)
    await state.end_sessions_of(99, None, end_record._replace(credential_changed=True))
    page = await state.ended_sessions("", 100)
    assert [entry.session for entry in page.entries] == [*(session(user).id for user in users), "99"]
    await state.close()


@pytest.mark.full
async def test_an_entry_that_a_cluster_could_not_take_is_written_later(
    cluster: list[RedisServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    state = RedisState(cluster_url(cluster))
    await state.open_session(session(7)._replace(ends=time.time() + 100), 50)
    before = await state.ended_position()
    with monkeypatch.context() as away:

        async def lost(*_: object) -> None:
            raise StoreUnavailable("the server with the log is away")

        away.setattr(state._ended_log, "_run", lost)
        ended = await state.end_session(session(7).id, EndRecord(time.time(), "logout", 7200))
        assert ended is not None, "the session has ended all the same"
        assert await state.session_status(session(7).id) is None
    assert await state.ended_position() == before
    await state.sweep(time.time())
    assert [entry.session for entry in (await state.ended_sessions(before, 10)).entries] == [session(7).id]
    await state.close()
