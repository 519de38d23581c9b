"""Every phase of a connection is bounded: whoever says nothing, or says it slowly, is not waited for."""

from __future__ import annotations

import re
import select
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from gatehouse.api.http import request
from gatehouse.server import connection_timeouts
from tests.server.limits import with_limits
from tests.support.running import Running
from tests.support.waiting import PATIENCE, wait_until

# The bounds that these tests wait for; the real ones are longer, and in the documentation.
BOUND = 2
BOUNDS = dict.fromkeys(
    (
        "gatehouse.server.connection_timeouts.HEADER_SECONDS",
        "gatehouse.server.connection_timeouts.UNREAD_SECONDS",
        "gatehouse.api.http.request.BODY_SECONDS",
    ),
    BOUND,
)
POST = b"POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
GET = b"GET /health/live HTTP/1.1\r\nHost: x\r\n"

# What is sent at first, and what follows every half second.
PHASES = {
    "silence": (b"", b""),
    "half a request line": (b"GET /hea", b""),
    "slow headers": (GET, b"X-A: b\r\n"),
    "no body": (POST + b"Content-Length: 1000\r\n\r\n", b""),
    "slow body": (POST + b"Content-Length: 1000\r\n\r\n", b"x"),
    "slow chunks": (POST + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
    "idle keep-alive": (GET + b"\r\n", b""),
    "half an HTTP/2 preface": (b"PRI * HT", b""),
    "an HTTP/2 preface": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b""),
    "idle HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0", b""),
    "TLS": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b""),
}


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with with_limits(tmp_path_factory.mktemp("connections") / "data", BOUNDS) as running:
        yield running


def wait_until_closed(port: int, first: bytes, then: bytes) -> None:
    """Until the service ends a connection that sends this."""
    with socket.create_connection(("127.0.0.1", port)) as connection:

        def is_closed() -> bool:
            try:
                if select.select([connection], [], [], 0.5)[0] and not connection.recv(65536):
                    return True
                connection.sendall(then)
            except ConnectionError:
                return True
            return False

        connection.sendall(first)
        wait_until(is_closed, f"the end of a connection that sends {first!r}")


@pytest.mark.full
def test_no_phase_of_a_connection_lasts(impatient: Running) -> None:
    with ThreadPoolExecutor(len(PHASES)) as pool:
        list(pool.map(lambda phase: wait_until_closed(impatient.port, *phase), PHASES.values()))


@pytest.mark.full
def test_an_answer_that_is_not_read_ends_the_connection(impatient: Running) -> None:
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(1)
        connection.connect(("127.0.0.1", impatient.port))
        ours = connection.getsockname()[1]
        try:
            for _ in range(500):
                connection.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n" * 10)
        except TimeoutError:
            pass  # it reads no further until its answers are read
        wait_until(lambda: ours not in _ports_connected_to(impatient), "the end of the connection")


def _ports_connected_to(service: Running) -> set[int]:
    return {each.raddr.port for worker in service.workers() for each in worker.net_connections() if each.raddr}


def test_headers_have_a_size(server: Running) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
        with suppress(ConnectionError):  # hung up before it had read everything
            connection.sendall(GET + b"X-A: " + b"a" * 4 * connection_timeouts.HEADER_BYTES + b"\r\n\r\n")
        try:
            answer = connection.recv(65536)
        except ConnectionError:
            answer = b""
    assert not answer or answer.startswith(b"HTTP/1.1 431 ")


@pytest.mark.parametrize(
    "malformed",
    [
        b"hello\r\n\r\n",
        GET + b"no colon\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01",
    ],
)
def test_a_malformed_request_is_answered_before_the_connection_ends(server: Running, malformed: bytes) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
        connection.sendall(malformed)
        assert connection.recv(65536).startswith(b"HTTP/1.1 400 ")


def test_headers_that_grow_too_large_are_answered(server: Running) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
        connection.sendall(GET + b"X-A: ")
        for _ in range(4 * connection_timeouts.HEADER_BYTES // 1024):
            connection.sendall(b"a" * 1024)
            if select.select([connection], [], [], 0.005)[0]:
                break
        assert connection.recv(65536).startswith(b"HTTP/1.1 431 ")


def answer_of(connection: socket.socket) -> tuple[bytes, bytes]:
    """The status line and the rest of the head of the next answer, whose body is read as well."""
    with connection.makefile("rb") as stream:
        status, head = stream.readline(), b"".join(iter(stream.readline, b"\r\n"))
        length = re.search(rb"^content-length: (\d+)\r$", head, re.MULTILINE)
        stream.read(int(length[1]) if length else 0)
    return status, head


@pytest.mark.full
@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("PUT /api/v1/users/me/password", "401"),
        ("POST /api/v1/nothing", "404"),
        ("PUT /api/v1/auth/captcha", "405"),
        ("GET /api/v1/auth/captcha", "200"),
    ],
)
@pytest.mark.parametrize("framing", ["length", "chunks"])
def test_an_answer_without_a_look_at_the_body_keeps_the_connection(
    server: Running, line: str, status: str, framing: str
) -> None:
    """The body comes after the head, as many clients send it: the next request must not meet a closed connection."""
    header, body = {
        "length": ("Content-Length: 2", b"{}"),
        "chunks": ("Transfer-Encoding: chunked", b"2\r\n{}\r\n0\r\n\r\n"),
    }[framing]
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
        for _ in range(3):
            connection.sendall(f"{line} HTTP/1.1\r\nHost: x\r\n{header}\r\n\r\n".encode())
            select.select([connection], [], [], 0.1)  # long enough for an answer that does not wait for the body
            connection.sendall(body)
            answered, head = answer_of(connection)
            assert answered.startswith(f"HTTP/1.1 {status} ".encode())
            assert b"connection: close" not in head


@pytest.mark.full
@pytest.mark.parametrize(
    ("headers", "body"),
    [
        (b"Content-Length: 2\r\nExpect: 100-continue\r\n\r\n", b""),
        (b"Content-Length: 2\r\n\r\n", b""),
        (b"Content-Length: %d\r\n\r\n" % (request.DRAIN_LIMIT * 3), bytes(request.DRAIN_LIMIT * 2)),
    ],
    ids=["not asked for", "never sent", "endless"],
)
@pytest.mark.parametrize("line", [b"POST /api/v1/auth/login", b"PUT /api/v1/users/me/password"], ids=["read", "unread"])
def test_a_connection_that_ends_over_its_body_says_so(
    impatient: Running, line: bytes, headers: bytes, body: bytes
) -> None:
    with socket.create_connection(("127.0.0.1", impatient.port), timeout=PATIENCE) as connection:
        connection.sendall(line + b" HTTP/1.1\r\nHost: x\r\n" + headers)
        with suppress(ConnectionError):  # hung up before it had read everything
            connection.sendall(body)
        answered, head = answer_of(connection)
        if answered == b"HTTP/1.1 100 Continue\r\n":  # that one is asked for
            answered, head = answer_of(connection)
        assert answered.startswith(b"HTTP/1.1 4")
        assert b"connection: close" in head


def test_the_bounds_are_the_documented_ones() -> None:
    """Each stands in a row of the table with its number of seconds."""
    text = Path("docs/operations.md").read_text()
    rows = dict(re.findall(r"^\| ([^|]+) \| (\d+) s \|", text, re.MULTILINE))
    assert int(rows["silence, request line and headers, idle keep-alive"]) == connection_timeouts.HEADER_SECONDS
    assert int(rows["body"]) == request.BODY_SECONDS
    assert int(rows["an answer that is not read"]) == connection_timeouts.UNREAD_SECONDS
