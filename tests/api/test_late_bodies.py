"""What a caller may do is checked again once the body has arrived, which may be seconds after the headers."""

from __future__ import annotations

import json
import secrets
import socket
from collections.abc import Awaitable, Callable

import pytest

from gatehouse.composition import Service
from tests.support.conversation import login
from tests.support.people import add_user, with_stores
from tests.support.running import Running
from tests.support.waiting import PATIENCE

Change = Callable[[Service, str], Awaitable[object]]

CHANGES: dict[str, tuple[Change, str]] = {
    "disabled": (lambda service, name: service.accounts.disable_user(name), "A0230"),
    "role taken": (lambda service, name: service.accounts.revoke(name, ["ADMIN"]), "A0301"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_caller_who_lost_the_right_meanwhile_is_refused(server: Running, change: str) -> None:
    name, ghost = (f"{word}{secrets.token_hex(4)}" for word in ("late", "ghost"))
    add_user(server, name, ("ADMIN",))
    with server.client() as client:
        token = login(client, username=name)["accessToken"]
    body = json.dumps({"username": ghost, "nickname": ghost}).encode()
    head = (
        f"POST /api/v1/users HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
        connection.sendall(head.encode() + body[:5])
        with_stores(server, lambda parts: CHANGES[change][0](parts, name))
        connection.sendall(body[5:])
        answer = b"".join(iter(lambda: connection.recv(65_536), b""))
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["code"] == CHANGES[change][1]
    assert with_stores(server, lambda parts: parts.accounts.users.credentials(ghost)) is None
