"""Servers that are stopped, slow, strange, or not who they should be: an outage in time, never a wrong password."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvloop

from gatehouse.identity_sources.definitions import DirectoryConfig
from gatehouse.identity_sources.directory import call_queue, link
from gatehouse.identity_sources.directory.connection import Connection
from gatehouse.identity_sources.directory.failures import ConnectionBroken
from gatehouse.identity_sources.directory.ldap_directory import LdapDirectory
from gatehouse.identity_sources.directory.link import server_address, tls_context
from gatehouse.identity_sources.errors import SourceUnavailable
from tests.identity_sources.directory.conftest import Open
from tests.identity_sources.directory.servers import Relay, listener, saying
from tests.support.certificates import Authority
from tests.support.slapd import BASE, PASSWORD, SERVICE, Slapd, new_slapd
from tests.support.waiting import PATIENCE, async_wait_until

SUCCESSFUL_BIND = b"\x30\x0c\x02\x01\x01\x61\x07\x0a\x01\x00\x04\x00\x04\x00"
Run = Callable[[Coroutine[Any, Any, None]], None]


@pytest.fixture(params=[asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Run:
    """The service runs on uvloop, commands on asyncio's own loop."""
    runner: Run = request.param
    return runner


@contextmanager
def nothing_left() -> Iterator[None]:
    """Sockets and threads are as many afterwards as before."""
    before = _sockets_and_threads()
    yield
    assert _sockets_and_threads() == before


def _sockets_and_threads() -> tuple[int, int]:
    """Without the threads in which the loop resolves names and reads files, which it keeps."""
    kept = ("asyncio_", "uvloop_")
    threads = [thread for thread in threading.enumerate() if not thread.name.startswith(kept)]
    return len(list(Path("/proc/self/fd").iterdir())), len(threads)


async def settled() -> None:
    """Until the loop has closed what was given up: no task but the test's own."""

    async def alone() -> bool:
        return len(asyncio.all_tasks()) == 1

    await async_wait_until(alone, "tasks end")
    for _ in range(10):
        await asyncio.sleep(0)


async def outage(directory: LdapDirectory) -> SourceUnavailable:
    """The failure of a login, within the timeout."""
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(SourceUnavailable) as caught:
            await directory.check_password("carol", PASSWORD)
    return caught.value


def plain(port: int, **settings: Any) -> LdapDirectory:
    config = DirectoryConfig(
        urls=(f"ldap://127.0.0.1:{port}",), base=BASE, bind_dn=SERVICE, allow_plain=True, **settings
    )
    return LdapDirectory(config, PASSWORD)


@pytest.mark.parametrize("url", ["ldaps://127.0.0.1:{}", "ldap://127.0.0.1:{}"])
@pytest.mark.parametrize("allow_plain", [False, True])
def test_a_server_that_never_answers_stops_nobody_else(run: Run, url: str, allow_plain: bool) -> None:
    """ldaps hangs in the handshake, ldap in StartTLS or in the bind."""

    async def work() -> None:
        async with listener() as server:
            settings: dict[str, Any] = {
                "urls": (url.format(server.port),), "base": BASE, "bind_dn": SERVICE, "allow_plain": allow_plain
            }  # fmt: skip
            patient = LdapDirectory(DirectoryConfig(**settings, timeout=PATIENCE), PASSWORD)
            login = asyncio.create_task(patient.check_password("carol", PASSWORD))
            await async_wait_until(server.is_waiting, "the login waits for the server")
            for _ in range(1000):
                await asyncio.sleep(0)
            assert not login.done()
            login.cancel()
            with pytest.raises(asyncio.CancelledError):
                await login
            await patient.close()

    run(work())


def test_a_server_that_never_answers_is_an_outage_in_time_that_leaves_nothing(run: Run, tmp_path: Path) -> None:
    ca_file = str(Authority(tmp_path).file)

    async def work() -> None:
        async with listener() as server:
            urls = tuple(f"{scheme}://127.0.0.1:{server.port}" for scheme in ("ldaps", "ldap"))
            with nothing_left():
                config = DirectoryConfig(urls=urls, base=BASE, bind_dn=SERVICE, ca_file=ca_file, timeout=0.4)
                directory = LdapDirectory(config, PASSWORD)
                started = time.monotonic()
                await outage(directory)
                assert 0.3 < time.monotonic() - started < PATIENCE / 2
                await directory.close()
                await server.drop()
                await settled()
            assert server.connections >= 1

    run(work())


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"\0" * 100,
        b"\x30\x84\x7f\xff\xff\xff\x02\x01\x01",  # a message of two gigabytes
        b"\x30\x0c\x02\x01\x01\x65\x07\x0a\x01\x00\x04\x00\x04\x00",  # a successful search in place of a bind
        b"\x30\x0c\x02\x01\x09\x61\x07\x0a\x01\x00\x04\x00\x04\x00",  # a successful bind that nobody asked for
        b"\x30\x0c\x02\x01\x01\x61\x07\x0a\x01",  # half of a successful bind
        SUCCESSFUL_BIND + b"\x30\x05\x02\x01\x02\x65\x00",  # and then an empty answer to the search
        bytes(range(256)) * 8,
    ],
)
def test_garbage_is_an_outage(run: Run, answer: bytes) -> None:
    async def work() -> None:
        async with listener(saying(answer)) as server:
            directory = plain(server.port, timeout=2.0)
            await outage(directory)
            await directory.close()

    run(work())


async def test_an_answer_without_end_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "LARGEST_ANSWER", 1 << 20)

    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1024)
        writer.write(b"\x30\x84\x7f\xff\xff\xff\x02\x01\x01")
        while not writer.is_closing():
            writer.write(b"\0" * 65536)
            await writer.drain()

    async with listener(endless) as server:
        directory = plain(server.port, timeout=PATIENCE)
        assert "in time" not in str(await outage(directory))
        await directory.close()


@pytest.mark.parametrize("scheme", ["ldaps", "ldap"])
@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("authority", "unable to get local issuer certificate|self-signed"),
        ("host name", "not valid for '127.0.0.1'|IP address mismatch"),
        ("expired", "expired"),
    ],
)
def test_a_wrong_certificate_is_an_outage_at_the_step_tls(
    run: Run, tmp_path: Path, scheme: str, fault: str, words: str
) -> None:
    """Nothing is sent to such a server: it never gets as far as a bind."""
    server = new_slapd(names=("other.example.org",) if fault == "host name" else ("127.0.0.1",))
    try:
        if fault == "expired":
            server.present(*server.authority.certificate("127.0.0.1", hours=-1))
        server.start()
        ca_file = str(Authority(tmp_path).file) if fault == "authority" else server.ca_file
        url = server.tls_url if scheme == "ldaps" else server.url

        async def work() -> None:
            config = DirectoryConfig(**server.settings(urls=(url,), ca_file=ca_file))
            directory = LdapDirectory(config, PASSWORD)
            failure = await outage(directory)
            assert failure.step == "tls"
            assert "certificate" in str(failure)
            assert re.search(words, str(failure)), str(failure)
            await directory.close()

        run(work())
    finally:
        server.remove()


async def test_the_systems_authorities_do_not_know_the_tests_own(open_directory: Open) -> None:
    assert (await outage(open_directory(ca_file=""))).step == "tls"


async def test_a_ca_file_that_is_not_there_is_named(open_directory: Open) -> None:
    failure = await outage(open_directory(ca_file="/nowhere/ca.pem"))
    assert (failure.step, "/nowhere/ca.pem" in str(failure)) == ("tls", True)


@pytest.mark.parametrize(
    "answer",
    [
        b"\x30\x0c\x02\x01\x01\x78\x07\x0a\x01\x02\x04\x00\x04\x00",  # refused: protocolError
        b"\x30\x0c\x02\x01\x01\x61\x07\x0a\x01\x00\x04\x00\x04\x00",  # an answer to something else
        b"",
        b"garbage, and more of it",
        # Accepted, with an answer to the bind that follows already there, in plain text.
        b"\x30\x0c\x02\x01\x01\x78\x07\x0a\x01\x00\x04\x00\x04\x00" + SUCCESSFUL_BIND,
    ],
)
async def test_without_starttls_nothing_is_said(answer: bytes) -> None:
    heard = bytearray()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.extend(await reader.read(1024))
        writer.write(answer)
        writer.write_eof()
        heard.extend(await reader.read(65536))

    async with listener(handle) as server:
        config = DirectoryConfig(urls=(f"ldap://127.0.0.1:{server.port}",), base=BASE, bind_dn=SERVICE)
        directory = LdapDirectory(config, PASSWORD)
        assert (await outage(directory)).step == "tls"
        await directory.close()
    assert PASSWORD.encode() not in heard
    assert SERVICE.encode() not in heard


def test_a_stopped_server_is_an_outage_until_it_is_back(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_queue, "OPEN_SECONDS", 0.0)
    server = new_slapd()
    try:
        server.start()

        async def work() -> None:
            directory = LdapDirectory(DirectoryConfig(**server.settings()), PASSWORD)
            assert (await directory.check_password("carol", PASSWORD)).correct
            await asyncio.to_thread(server.kill)
            failure = await outage(directory)
            assert failure.step == "connect"
            assert str(server.tls_port) in str(failure)
            await asyncio.to_thread(server.start)
            assert (await directory.check_password("carol", PASSWORD)).correct
            # Restarted in between: the pooled connection is broken, and nobody notices.
            await asyncio.to_thread(server.stop)
            await asyncio.to_thread(server.start)
            assert (await directory.check_password("carol", PASSWORD)).correct
            await directory.close()

        run(work())
    finally:
        server.remove()


async def test_a_connection_cut_in_mid_flight_is_replaced_once(slapd: Slapd, open_directory: Open) -> None:
    async with Relay(slapd.tls_port) as relay:
        directory = open_directory(urls=(f"ldaps://127.0.0.1:{relay.port}",))
        assert (await directory.check_password("carol", PASSWORD)).correct
        relay.open.clear()
        login = asyncio.create_task(directory.check_password("carol", PASSWORD))
        before = relay.connections
        await async_wait_until(relay.holds, "the relay holds the search back")
        relay.cut()
        relay.open.set()
        assert (await login).correct
        assert relay.connections > before


async def test_a_pooled_connection_to_a_server_that_hangs_is_left_for_the_next_server(
    slapd: Slapd, open_directory: Open
) -> None:
    async with Relay(slapd.tls_port) as first:
        urls = (f"ldaps://127.0.0.1:{first.port}", slapd.tls_url)
        directory = open_directory(urls=urls, timeout=3.0)
        assert (await directory.check_password("carol", PASSWORD)).correct
        first.open.clear()
        assert (await directory.check_password("carol", PASSWORD)).correct
        connections = first.connections
        assert (await directory.check_password("carol", PASSWORD)).correct
        assert first.connections == connections


async def test_servers_are_tried_in_turn_and_the_working_one_comes_first(slapd: Slapd, open_directory: Open) -> None:
    async with listener() as hangs:
        urls = ("ldaps://127.0.0.1:1", f"ldaps://127.0.0.1:{hangs.port}", slapd.tls_url)
        directory = open_directory(urls=urls, timeout=3.0)
        assert await directory.find("carol") is not None
        assert hangs.connections == 1
        assert (await directory.check_password("carol", PASSWORD)).correct
        assert hangs.connections == 1


async def test_a_directory_that_is_down_makes_nobody_wait_but_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    async with listener() as server:
        directory = plain(server.port, timeout=0.3)
        monkeypatch.setattr(directory._breaker, "_clock", lambda: now[0])
        await outage(directory)
        connections = server.connections
        for _ in range(50):
            assert "not asked again yet" in str(await outage(directory))
        assert server.connections == connections
        now[0] += call_queue.OPEN_SECONDS
        failures = await asyncio.gather(*(outage(directory) for _ in range(5)))
        assert sum("not asked again yet" in str(failure) for failure in failures) == 4  # one has tried
        assert server.connections == connections + 1
        await directory.close()


async def test_too_many_at_once_are_refused_at_once() -> None:
    async with listener() as server:
        directory = plain(server.port, timeout=1.0, connections=2)
        results = await asyncio.gather(*(outage(directory) for _ in range(20)))
        texts = [str(result) for result in results]
        assert texts.count("too many logins wait for the directory") == 20 - 2 - 2 * call_queue.WAITING_FOR_EACH
        assert server.connections <= 2
        await directory.close()


async def test_a_login_that_is_given_up_frees_its_place(slapd: Slapd, open_directory: Open) -> None:
    async with Relay(slapd.tls_port) as relay:
        directory = open_directory(urls=(f"ldaps://127.0.0.1:{relay.port}",), connections=1, timeout=60.0)
        assert (await directory.check_password("carol", PASSWORD)).correct
        relay.open.clear()
        login = asyncio.create_task(directory.check_password("carol", PASSWORD))
        await async_wait_until(relay.holds, "the relay holds the search back")
        login.cancel()
        with pytest.raises(asyncio.CancelledError):
            await login
        relay.open.set()
        assert (await directory.check_password("carol", PASSWORD)).correct


async def test_no_more_connections_than_allowed(slapd: Slapd, open_directory: Open) -> None:
    async with Relay(slapd.tls_port) as relay:
        directory = open_directory(urls=(f"ldaps://127.0.0.1:{relay.port}",), connections=3, timeout=60.0)
        await asyncio.gather(*(directory.check_password("carol", PASSWORD) for _ in range(12)))
        assert relay.most_open == 3
        assert await directory.find("carol") is not None


async def test_a_wrong_service_password_is_an_outage_and_is_not_tried_by_every_login(open_directory: Open) -> None:
    directory = open_directory("wrong")
    failure = await outage(directory)
    assert (failure.step, "bind DN" in str(failure)) == ("bind", True)
    assert "not asked again yet" in str(await outage(directory))
    assert (await outage(open_directory(""))).step == "bind"


async def test_a_base_that_is_not_there_is_an_outage(open_directory: Open) -> None:
    failure = await outage(open_directory(base="dc=nowhere"))
    assert (failure.step, "No such object" in str(failure)) == ("search", True)


async def test_a_filter_that_is_none_is_an_outage(open_directory: Open) -> None:
    assert (await outage(open_directory(user_filter="(&(objectClass=person"))).step == "search"


@pytest.mark.parametrize("kind", [0x65, 0x78, 0x6B])  # of a search, an extended operation, a deletion
async def test_a_success_of_something_else_is_no_bind(kind: int) -> None:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1024)
        writer.write(SUCCESSFUL_BIND.replace(b"\x61", bytes([kind])))
        await reader.read()

    async with listener(handle) as server:
        connection = await Connection.open(server_address(f"ldap://127.0.0.1:{server.port}", allow_plain=True), None)
        with pytest.raises(ConnectionBroken, match="wrong kind"):
            await connection.bind(SERVICE, PASSWORD)
        connection.close()


async def test_libldap_never_connects_by_itself(slapd: Slapd) -> None:
    """That would be past our TLS."""
    server = server_address(slapd.tls_url, allow_plain=False)
    connection = await Connection.open(server, tls_context(slapd.ca_file))
    await connection.bind(SERVICE, PASSWORD)
    connection.link.close()
    for _ in range(2):
        with pytest.raises(ConnectionBroken):
            await connection.search(BASE, "(uid=carol)", ["1.1"])
    connection.close()


def test_nothing_is_left_of_a_directory_that_was_used_and_closed(run: Run) -> None:
    server = new_slapd()
    try:
        server.start()

        async def use() -> None:
            directory = LdapDirectory(DirectoryConfig(**server.settings()), PASSWORD)
            await asyncio.gather(*(directory.check_password(name, PASSWORD) for name in ["carol", "nobody"] * 8))
            assert [person.name async for person in directory.people()]
            assert all([step.works async for step in directory.test("carol")])
            await directory.close()
            await settled()

        async def work() -> None:
            await use()
            with nothing_left():
                await use()

        run(work())
    finally:
        server.remove()
