"""Hostile requests: each gets its row of the failure table, and none of them a 5xx."""

from __future__ import annotations

import json
import socket
from typing import Any

import httpx
import pytest

from tests.support.conversation import CAPTCHA, LOGIN, LOGOUT, ME, REFRESH, assert_failure, bearer, credentials, login
from tests.support.running import Running
from tests.support.waiting import PATIENCE

JSON = {"content-type": "application/json"}
FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data; boundary="
PART = b'--x\r\nContent-Disposition: form-data; name="username"\r\n\r\nadmin\r\n--x--'

# Changes to a login body that works, and the row they must be answered with.
LOGIN_BODIES: list[tuple[str, dict[str, Any], int, str]] = [
    ("username missing", {"username": None}, 400, "A0410"),
    ("username empty", {"username": ""}, 400, "A0410"),
    ("username blank", {"username": "   "}, 400, "A0410"),
    ("username a number", {"username": 1}, 400, "A0421"),
    ("username true", {"username": True}, 400, "A0421"),
    ("username a list", {"username": ["admin"]}, 400, "A0421"),
    ("username an object", {"username": {"$ne": ""}}, 400, "A0421"),
    ("username of 65 characters", {"username": "a" * 65}, 400, "A0421"),
    ("username of 60,000 characters", {"username": "a" * 60_000}, 400, "A0421"),
    ("username with NUL", {"username": "admin\0"}, 400, "A0421"),
    ("username with a line break", {"username": "admin\r\nforged: line"}, 400, "A0421"),
    ("username with an escape", {"username": "\x1b[31madmin"}, 400, "A0421"),
    ("username with direction override", {"username": "\u202enimda"}, 400, "A0421"),
    ("username as SQL", {"username": "' OR 1=1 --"}, 400, "A0210"),
    ("username as a pattern", {"username": "adm%"}, 400, "A0210"),
    ("username in an unknown script", {"username": "админ"}, 400, "A0210"),
    ("password missing", {"password": None}, 400, "A0410"),
    ("password empty", {"password": ""}, 400, "A0410"),
    ("password a number", {"password": 12345678}, 400, "A0421"),
    ("password an object", {"password": {"$gt": ""}}, 400, "A0421"),
    ("password of 60,000 characters", {"password": "p" * 60_000}, 400, "A0210"),
    ("password with NUL", {"password": "a\0b"}, 400, "A0210"),
    ("password of four-byte characters", {"password": "🔑" * 10_000}, 400, "A0210"),
    ("password of one space", {"password": " "}, 400, "A0210"),
    ("captcha id missing", {"captchaId": None}, 400, "A0410"),
    ("captcha id empty", {"captchaId": ""}, 400, "A0410"),
    ("captcha id a number", {"captchaId": 5}, 400, "A0421"),
    ("captcha id too long", {"captchaId": "0" * 65}, 400, "A0421"),
    ("captcha id unknown", {"captchaId": "123e4567-e89b-42d3-a456-426614174000"}, 400, "A0242"),
    ("captcha id all zero", {"captchaId": "00000000-0000-0000-0000-000000000000"}, 400, "A0242"),
    ("captcha id of another form", {"captchaId": "nonsense"}, 400, "A0242"),
    ("captcha id with a path", {"captchaId": "../../etc/passwd"}, 400, "A0242"),
    ("captcha id with NUL", {"captchaId": "a\0b"}, 400, "A0242"),
    ("captcha ids that differ", {"captchaKey": "123e4567-e89b-42d3-a456-426614174000"}, 400, "A0421"),
    ("captcha key a list", {"captchaKey": []}, 400, "A0421"),
    ("captcha code missing", {"captchaCode": None}, 400, "A0410"),
    ("captcha code empty", {"captchaCode": ""}, 400, "A0410"),
    ("captcha code blank", {"captchaCode": "    "}, 400, "A0410"),
    ("captcha code a number", {"captchaCode": 1234}, 400, "A0421"),
    ("captcha code too long", {"captchaCode": "a" * 33}, 400, "A0421"),
    ("captcha code wrong", {"captchaCode": "zzzz"}, 400, "A0240"),
    ("captcha code one too many", {"captchaCode": "abcde"}, 400, "A0240"),
    ("captcha code one too few", {"captchaCode": "abc"}, 400, "A0240"),
    ("captcha code with full-width letters", {"captchaCode": "ａｂｃｄ"}, 400, "A0240"),
]

# Bodies as bytes, sent to login.
RAW_BODIES: list[tuple[str, bytes, dict[str, str], int, str]] = [
    ("no body", b"", JSON, 400, "A0410"),
    ("empty object", b"{}", JSON, 400, "A0410"),
    ("null", b"null", JSON, 400, "A0400"),
    ("list", b"[]", JSON, 400, "A0400"),
    ("string", b'"admin"', JSON, 400, "A0400"),
    ("number", b"5", JSON, 400, "A0400"),
    ("cut short", b'{"username": "admin', JSON, 400, "A0400"),
    ("two values", b"{}{}", JSON, 400, "A0400"),
    ("trailing comma", b'{"username": "admin",}', JSON, 400, "A0400"),
    ("single quotes", b"{'username': 'admin'}", JSON, 400, "A0400"),
    ("NaN", b'{"username": NaN}', JSON, 400, "A0400"),
    ("not UTF-8", b'{"username": "\xff\xfe"}', JSON, 400, "A0400"),
    ("UTF-16", '{"username": "admin"}'.encode("utf-16"), JSON, 400, "A0400"),
    ("byte order mark", b"\xef\xbb\xbf{}", JSON, 400, "A0400"),
    ("lone surrogate", b'{"username": "\\ud800", "password": "x"}', JSON, 400, "A0400"),
    ("control character in a string", b'{"username": "a\x01b"}', JSON, 400, "A0400"),
    ("lists 30,000 deep", b"[" * 30_000 + b"]" * 30_000, JSON, 400, "A0400"),
    ("objects 10,000 deep", b'{"a":' * 10_000 + b"1" + b"}" * 10_000, JSON, 400, "A0400"),
    ("deep in an unknown field", b'{"x":' + b"[" * 20_000 + b"]" * 20_000 + b"}", JSON, 400, "A0400"),
    ("a huge number", b'{"username": ' + b"9" * 5_000 + b"}", JSON, 400, "A0421"),
    ("same key twice", b'{"username": "a", "username": 5}', JSON, 400, "A0421"),
    ("66,000 bytes", b'{"username": "' + b"a" * 66_000 + b'"}', JSON, 413, "A0400"),
    ("two megabytes", b" " * 2_000_000, JSON, 413, "A0400"),
    ("a form that lacks fields", b"username=admin", {"content-type": FORM}, 400, "A0410"),
    ("a form in another charset", b"username=admin", {"content-type": f"{FORM}; charset=gbk"}, 415, "A0400"),
    ("a form of bytes", b"username=\xff", {"content-type": FORM}, 400, "A0400"),
    ("a form of encoded bytes", b"username=%ff", {"content-type": FORM}, 400, "A0400"),
    ("a form with a name twice", b"username=a&username=b", {"content-type": FORM}, 400, "A0421"),
    ("a form of many fields", b"&".join([b"x=1"] * 65), {"content-type": FORM}, 400, "A0400"),
    ("text", b"{}", {"content-type": "text/plain"}, 415, "A0400"),
    ("multipart with nothing in it", b"--x--", {"content-type": f"{MULTIPART}x"}, 400, "A0410"),
    ("multipart that breaks off", PART[:-5], {"content-type": f"{MULTIPART}x"}, 400, "A0400"),
    ("multipart with another boundary", PART, {"content-type": f"{MULTIPART}y"}, 400, "A0400"),
    ("multipart without a boundary", PART, {"content-type": "multipart/form-data"}, 400, "A0400"),
    ("multipart of bytes", PART.replace(b"admin", b"\xff"), {"content-type": f"{MULTIPART}x"}, 400, "A0400"),
    ("multipart of many parts", PART[:-5] * 70 + PART, {"content-type": f"{MULTIPART}x"}, 400, "A0400"),
    ("other multipart", PART, {"content-type": "multipart/mixed; boundary=x"}, 415, "A0400"),
    ("XML", b"<login/>", {"content-type": "application/xml"}, 415, "A0400"),
    ("JSON in another charset", b"{}", {"content-type": "application/json; charset=gbk"}, 415, "A0400"),
    ("nonsense media type", b"{}", {"content-type": ";;;"}, 415, "A0400"),
]

ACCESS_TOKENS = [
    ("no header", {}),
    ("empty", {"Authorization": ""}),
    ("scheme alone", {"Authorization": "Bearer"}),
    ("another scheme", {"Authorization": "Basic YWRtaW46YWRtaW4="}),
    ("no scheme", {"Authorization": "eyJhbGciOiJub25lIn0.e30."}),
    ("not a JWT", {"Authorization": "Bearer nonsense"}),
    ("two dots", {"Authorization": "Bearer .."}),
    ("alg none", {"Authorization": "Bearer eyJhbGciOiJub25lIiwidHlwIjoiYXQrand0In0.eyJzdWIiOiIxIn0."}),
    ("8,000 characters", {"Authorization": "Bearer " + "a" * 8_000}),
    ("8,000 dots", {"Authorization": "Bearer " + "." * 8_000}),
    ("header is a list", {"Authorization": "Bearer W10.W10.W10"}),
]

REFRESH_TOKENS = [
    ("nonsense", "nonsense"),
    ("of our form", "1.1-AAAAAAAAAAAAAAAAAAAAAA.1." + "A" * 43),
    ("a huge generation", "1.1-AAAAAAAAAAAAAAAAAAAAAA.99999999999." + "A" * 43),
    ("of a user that cannot be", "1.99999999999999999999-AAAAAAAAAAAAAAAAAAAAAA.1." + "A" * 43),
    ("with NUL", "1.1-\0"),
    ("with other digits", "1.١-AAAAAAAAAAAAAAAAAAAAAA.1." + "A" * 43),
]


@pytest.mark.parametrize(
    ("changes", "status", "code"), [row[1:] for row in LOGIN_BODIES], ids=[r[0] for r in LOGIN_BODIES]
)
def test_login_fields(client: httpx.Client, changes: dict[str, Any], status: int, code: str) -> None:
    assert_failure(client.post(LOGIN, json=credentials(client, **changes)), status, code)


@pytest.mark.parametrize(
    ("body", "headers", "status", "code"), [row[1:] for row in RAW_BODIES], ids=[row[0] for row in RAW_BODIES]
)
def test_bodies(client: httpx.Client, body: bytes, headers: dict[str, str], status: int, code: str) -> None:
    assert_failure(client.post(LOGIN, content=body, headers=headers), status, code)


@pytest.mark.parametrize("headers", [row[1] for row in ACCESS_TOKENS], ids=[row[0] for row in ACCESS_TOKENS])
def test_access_tokens(client: httpx.Client, headers: dict[str, str]) -> None:
    assert_failure(client.get(ME, headers=headers), 401, "A0230")
    assert_failure(client.post(LOGOUT, headers=headers), 401, "A0230")


@pytest.mark.parametrize("token", [row[1] for row in REFRESH_TOKENS], ids=[row[0] for row in REFRESH_TOKENS])
def test_refresh_tokens(client: httpx.Client, token: str) -> None:
    assert_failure(client.post(REFRESH, json={"refreshToken": token}), 401, "A0231")
    assert_failure(client.post(REFRESH, params={"refreshToken": token}), 401, "A0231")


@pytest.mark.parametrize(
    ("query", "code"),
    [("", "A0410"), ("?refreshToken=", "A0410"), ("?refreshtoken=x", "A0410"), ("?refreshToken=%ff%fe", "A0421"),
     ("?" + "a=b&" * 200, "A0421")],
)  # fmt: skip
def test_refresh_queries(client: httpx.Client, query: str, code: str) -> None:
    assert_failure(client.post(REFRESH + query), 400, code)


@pytest.mark.parametrize("value", [5, [], {}, True, "x" * 2000])
def test_refresh_token_of_the_wrong_type_or_length(client: httpx.Client, value: object) -> None:
    assert_failure(client.post(REFRESH, json={"refreshToken": value}), 400, "A0421")


def test_two_authorization_headers_are_none(client: httpx.Client) -> None:
    token = bearer(login(client))["Authorization"]
    answer = client.get(ME, headers=[("Authorization", token), ("Authorization", token)])
    assert_failure(answer, 401, "A0230")


@pytest.mark.parametrize(
    "path",
    ["/api/v1/../v1/users/me", "//api/v1/users/me", "/api/v1//users/me", "/API/v1/users/me", "/api/v1/users/me%00",
     "/api/v1/users/me;x", "/api/v1/users/me/../me", "/%61pi/v1/users/me/%2e%2e", "/api/v1/users/" + "a" * 4000],
)  # fmt: skip
def test_paths_are_taken_literally(server: Running, path: str) -> None:
    status, body = talk(server, f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
    assert status == 404
    if path.startswith("/api/v1/"):
        assert json.loads(body)["code"] == "C0113"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (b"Authorization", b"Bearer \xff\xfe"),
        (b"Accept-Language", b"\xff\xfezh"),
        (b"User-Agent", b"\x80" * 200),
        (b"X-Forwarded-For", b"1.2.3.4, nonsense, " + b"9" * 1000),
        (b"Content-Type", b"\xe9"),
        (b"Origin", b"\xff"),
    ],
)
def test_header_bytes_that_are_not_text(server: Running, name: bytes, value: bytes) -> None:
    request = b"GET /api/v1/users/me HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + name + b": " + value + b"\r\n\r\n"
    status, body = talk(server, request)
    assert status == 401
    assert json.loads(body)["code"] == "A0230"


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"GET / HTTP/9.9\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET /api/v1/users/me HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        b"GET /api/v1/users/me HTTP/1.1\r\nHost: x\r\nBad Header: x\r\n\r\n",
        b"GET /api/v1/users/me HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 500_000 + b"\r\n\r\n",
        b"GET /api/v1/users/me HTTP/1.1\r\n" + b"X: y\r\n" * 5_000 + b"\r\n",
    ],
)
def test_what_is_not_http_gets_no_5xx(server: Running, request_bytes: bytes) -> None:
    status, _ = talk(server, request_bytes, patience=3)
    assert status is None or 400 <= status < 500


def test_a_body_that_ends_before_its_length_is_unreadable(server: Running) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
        head = f"POST {LOGIN} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n"
        connection.sendall(head.encode() + b'{"username": "ann"}')
        connection.shutdown(socket.SHUT_WR)
        answer = connection.recv(65536)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b'"A0400"' in answer


def test_half_sent_requests_hold_up_nobody(server: Running) -> None:
    halves = []
    for number in range(200):
        half = socket.create_connection(("127.0.0.1", server.port))
        if number % 2:
            half.sendall(b"POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
        else:
            half.sendall(b"GET /api/v1/users/me HTTP/1.1\r\nHost:")
        halves.append(half)
    try:
        with server.client() as client:
            tokens = login(client)
            for _ in range(20):
                assert client.get(ME, headers=bearer(tokens)).status_code == 200
            assert client.get(CAPTCHA).status_code == 200
    finally:
        for half in halves:
            half.close()


def test_the_service_is_none_the_worse(client: httpx.Client, server: Running) -> None:
    assert client.get(ME, headers=bearer(login(client))).status_code == 200
    with server.client() as over_socket:
        assert over_socket.get(ME, headers=bearer(login(over_socket))).status_code == 200


def talk(server: Running, request: bytes, patience: float = PATIENCE) -> tuple[int | None, bytes]:
    """Send bytes as they are; the status and body of the answer, or None if the connection was just closed."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=patience) as connection:
        received = b""
        try:
            connection.sendall(request)
            while chunk := connection.recv(65536):
                received += chunk
        except OSError:
            pass  # it hung up on us or waits for more: what it said before counts
    if not received.startswith(b"HTTP/"):
        return None, received
    head, _, body = received.partition(b"\r\n\r\n")
    return int(head.split()[1]), body
