"""Login by QR code: two browsers, one ticket, on every engine."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from gatehouse.auth.audit import ClientInfo, SessionEndReason
from gatehouse.auth.passwords.hashing import hash_password
from gatehouse.stores.database.users import NewUser
from gatehouse.stores.state.protocol import Session
from tests.support.inprocess import Answer, InProcess
from tests.support.running import PASSWORD

pytestmark = pytest.mark.usefixtures("engines")

PATH = "/api/v1/auth/qr-code"
DESK: dict[str, Any] = {
    "address": "192.0.2.7",
    "headers": {"User-Agent": "Mozilla/5.0 (Windows NT 10.0) Firefox/140.0"},
}
PHONE: dict[str, Any] = {"address": "198.51.100.9", "headers": {"User-Agent": "Mozilla/5.0 (Android 16) Firefox/140.0"}}


@pytest.fixture
def gatehouse(tmp_path: Path) -> Iterator[InProcess]:
    with InProcess(tmp_path / "data", issuer="https://login.localhost/sso") as running:
        running.run(running.accounts.add_user(NewUser("ann", "Ann", hash_password(PASSWORD), 1, 0)))
        yield running


@pytest.fixture
def ticket(gatehouse: InProcess) -> str:
    return str(gatehouse.request("POST", f"{PATH}/generate", **DESK).data["ticket"])


def status(gatehouse: InProcess, ticket: str, **who: Any) -> dict[str, Any]:
    return gatehouse.request("GET", f"{PATH}/status", query={"ticket": ticket}, **(who or DESK)).data


def exchange(gatehouse: InProcess, ticket: str, **who: Any) -> Answer:
    return gatehouse.request("POST", f"{PATH}/login", body={"ticket": ticket}, **(who or DESK))


def on_phone(gatehouse: InProcess, what: str, ticket: str, token: str) -> Answer:
    return gatehouse.request("POST", f"{PATH}/{what}", body={"ticket": ticket}, token=token, **PHONE)


def test_the_whole_way(gatehouse: InProcess, ticket: str) -> None:
    phone = gatehouse.login("ann").data["accessToken"]
    url = urlsplit(ticket)
    assert (url.scheme, url.netloc, url.path) == ("https", "login.localhost", "/sso/qr")
    assert status(gatehouse, ticket) == {
        "ticket": ticket,
        "status": "WAITING",
        "expireSeconds": 120,
        "nickname": None,
        "avatar": None,
    }
    assert exchange(gatehouse, ticket).code == "A0242"
    gatehouse.clock.move(20)
    asked = on_phone(gatehouse, "scan", ticket, phone).data
    assert (asked["browser"], asked["address"]) == ("Firefox on Windows", "192.0.2.7")
    assert asked["askedAt"] == "2030-03-17T17:46:40Z"
    shown = status(gatehouse, ticket)
    assert (shown["status"], shown["nickname"], shown["expireSeconds"]) == ("SCANNED", "Ann", 100)
    assert shown["avatar"].startswith("https://")
    assert exchange(gatehouse, ticket).code == "A0242"
    assert on_phone(gatehouse, "confirm", ticket, phone).status == 200
    assert status(gatehouse, ticket)["status"] == "CONFIRMED"
    tokens = exchange(gatehouse, ticket).data
    assert gatehouse.me(tokens["accessToken"]).data["username"] == "ann"
    assert status(gatehouse, ticket)["status"] == "LOGGED_IN"
    assert exchange(gatehouse, ticket).code == "A0242"
    sessions = gatehouse.request("GET", "/api/v1/users/me/sessions", token=phone).data["sessions"]
    assert {session["address"] for session in sessions} == {"127.0.0.1", "192.0.2.7"}


def test_guesses_at_tickets_end_and_are_recorded(tmp_path: Path) -> None:
    with InProcess(tmp_path / "data", limits="on", limit_login_address="4/minute") as gatehouse:
        phone = gatehouse.login(**PHONE).data["accessToken"]
        guesses = [on_phone(gatehouse, what, "made-up", phone).code for what in ("scan", "confirm", "refuse") * 3]
        assert (guesses[0], guesses[-1]) == ("A0242", "A0502")
        assert exchange(gatehouse, "made-up").code == "A0242"
        assert gatehouse.service.audit.counts["ticket.refused", "qr"] == guesses.count("A0242") + 1


def test_refused_on_the_phone(gatehouse: InProcess, ticket: str) -> None:
    phone = gatehouse.login("ann").data["accessToken"]
    on_phone(gatehouse, "scan", ticket, phone)
    assert on_phone(gatehouse, "refuse", ticket, phone).status == 200
    assert status(gatehouse, ticket)["status"] == "CANCELED"
    assert on_phone(gatehouse, "confirm", ticket, phone).code == "A0242"
    assert exchange(gatehouse, ticket).code == "A0242"
    counts = gatehouse.service.audit.counts
    assert (counts["qr.refused", ""], counts["qr.confirmed", ""]) == (1, 0)


def test_nothing_is_confirmed_that_was_not_looked_at(gatehouse: InProcess, ticket: str) -> None:
    phone = gatehouse.login("ann").data["accessToken"]
    assert on_phone(gatehouse, "confirm", ticket, phone).code == "A0242"
    assert on_phone(gatehouse, "refuse", ticket, phone).code == "A0242"
    assert status(gatehouse, ticket)["status"] == "WAITING"


def test_only_who_scanned_it_can_confirm_it(gatehouse: InProcess, ticket: str) -> None:
    ann, admin = (gatehouse.login(name).data["accessToken"] for name in ("ann", "admin"))
    assert on_phone(gatehouse, "scan", ticket, ann).status == 200
    assert on_phone(gatehouse, "scan", ticket, ann).status == 200, "a page that is loaded again"
    for what in ("scan", "confirm", "refuse"):
        assert on_phone(gatehouse, what, ticket, admin).code == "A0242"
        assert gatehouse.request("POST", f"{PATH}/{what}", body={"ticket": ticket}).code == "A0230"
    assert on_phone(gatehouse, "confirm", ticket, ann).status == 200


def test_it_is_worth_nothing_to_whoever_else_holds_it(gatehouse: InProcess, ticket: str) -> None:
    phone = gatehouse.login("ann").data["accessToken"]
    on_phone(gatehouse, "scan", ticket, phone)
    on_phone(gatehouse, "confirm", ticket, phone)
    others = [
        DESK | {"address": "192.0.2.8"},
        DESK | {"headers": {"User-Agent": "another"}},
        PHONE,
    ]
    for other in others:
        shown = status(gatehouse, ticket, **other)
        assert (shown["status"], shown["nickname"], shown["expireSeconds"]) == ("EXPIRED", None, 0)
        assert exchange(gatehouse, ticket, **other).code == "A0242"
    assert exchange(gatehouse, ticket).status == 200


def test_it_expires(gatehouse: InProcess, ticket: str) -> None:
    phone = gatehouse.login("ann").data["accessToken"]
    on_phone(gatehouse, "scan", ticket, phone)
    on_phone(gatehouse, "confirm", ticket, phone)
    gatehouse.clock.move(120)
    assert status(gatehouse, ticket)["status"] == "EXPIRED"
    assert exchange(gatehouse, ticket).code == "A0242"
    assert on_phone(gatehouse, "scan", ticket, phone).code == "A0242"


@pytest.mark.parametrize(
    "text", ["x", "https://login.localhost/sso/qr?ticket=x", "http://[", "é", "?ticket=a&ticket=b"]
)
def test_unknown_tickets_have_expired(gatehouse: InProcess, text: str) -> None:
    """And are answered with success, or the console would ask for ever."""
    shown = status(gatehouse, text)
    assert (shown["ticket"], shown["status"]) == (text, "EXPIRED")
    assert exchange(gatehouse, text).code == "A0242"


def test_the_ticket_alone_will_do(gatehouse: InProcess, ticket: str) -> None:
    assert status(gatehouse, ticket.partition("=")[2])["status"] == "WAITING"


def test_a_user_disabled_meanwhile_gets_nothing(gatehouse: InProcess, ticket: str) -> None:
    phone = gatehouse.login("ann").data["accessToken"]
    on_phone(gatehouse, "scan", ticket, phone)
    on_phone(gatehouse, "confirm", ticket, phone)
    gatehouse.run(gatehouse.accounts.disable_user("ann"))
    assert exchange(gatehouse, ticket).code == "A0242"


@pytest.mark.parametrize("end", ["logout", "new password", "ended by an operator"])
def test_what_ended_sessions_confirmed_is_void(gatehouse: InProcess, ticket: str, end: str) -> None:
    """A thief with an access token must not have a session left once the owner has ended the one it belongs to."""
    stolen = gatehouse.login("ann").data["accessToken"]
    on_phone(gatehouse, "scan", ticket, stolen)
    on_phone(gatehouse, "confirm", ticket, stolen)
    accounts, sessions = gatehouse.accounts, gatehouse.service.sessions
    user = gatehouse.run(accounts.user("ann")).user.id
    if end == "logout":
        gatehouse.logout(stolen)
    elif end == "new password":
        gatehouse.run(accounts.set_password("ann", hash_password("a wholly different phrase")))
    else:
        gatehouse.run(sessions.end_all(user, SessionEndReason.OPERATOR, ClientInfo()))
    assert exchange(gatehouse, ticket).code == "A0242"
    assert gatehouse.run(sessions.of_user(user)) == []


@pytest.mark.parametrize("end", ["new password", "logout", "ended by an operator"])
def test_what_ends_sessions_during_the_exchange_leaves_none(
    gatehouse: InProcess, ticket: str, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    stolen = gatehouse.login("ann").data["accessToken"]
    on_phone(gatehouse, "scan", ticket, stolen)
    on_phone(gatehouse, "confirm", ticket, stolen)
    accounts, sessions = gatehouse.accounts, gatehouse.service.sessions
    open_session = sessions.open

    async def slow_open(user: int, client: ClientInfo, methods: Sequence[str]) -> tuple[Session, Sequence[Session]]:
        if end == "new password":
            await accounts.set_password("ann", hash_password("a wholly different phrase"))
        elif end == "logout":
            await gatehouse.send("POST", "/api/v1/auth/logout", token=stolen)
        else:
            await sessions.end_all(user, SessionEndReason.OPERATOR, ClientInfo())
        return await open_session(user, client, methods)

    monkeypatch.setattr(sessions, "open", slow_open)
    assert exchange(gatehouse, ticket).code == "A0242"
    assert gatehouse.run(sessions.of_user(gatehouse.run(accounts.user("ann")).user.id)) == []


def test_the_session_of_the_phone_may_be_the_one_that_makes_room(tmp_path: Path) -> None:
    with InProcess(tmp_path / "single", sessions_per_user=1) as gatehouse:
        phone = gatehouse.login().data["accessToken"]
        ticket = gatehouse.request("POST", f"{PATH}/generate", **DESK).data["ticket"]
        on_phone(gatehouse, "scan", ticket, phone)
        on_phone(gatehouse, "confirm", ticket, phone)
        assert gatehouse.me(exchange(gatehouse, ticket).data["accessToken"]).status == 200
        assert gatehouse.me(phone).status == 401


def test_of_a_thousand_exchanges_one_opens_a_session(gatehouse: InProcess, ticket: str) -> None:
    phone = gatehouse.login("ann").data["accessToken"]
    on_phone(gatehouse, "scan", ticket, phone)
    on_phone(gatehouse, "confirm", ticket, phone)

    async def race() -> list[Answer]:
        body = {"ticket": ticket}
        return list(
            await asyncio.gather(*(gatehouse.send("POST", f"{PATH}/login", body=body, **DESK) for _ in range(1000)))
        )

    codes = sorted(answer.code for answer in gatehouse.run(race()))
    assert codes == ["00000"] + ["A0242"] * 999
    sessions = gatehouse.request("GET", "/api/v1/users/me/sessions", token=phone).data["sessions"]
    assert len(sessions) == 2


def test_asking_for_a_ticket_writes_nothing(gatehouse: InProcess) -> None:
    before = dict(gatehouse.service.stores.state.counts())
    for _ in range(20):
        assert gatehouse.request("POST", f"{PATH}/generate", **DESK).status == 200
    assert dict(gatehouse.service.stores.state.counts()) == before
