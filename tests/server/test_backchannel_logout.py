"""Applications hear of every logout from services in their own processes: on one node and two, killed and restarted."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import TypeVar

import httpx
import jwt
import pytest
from sqlalchemy import select

from gatehouse.auth.outbox import MAX_FOR_RECIPIENT
from gatehouse.stores.database.schema import outbox
from gatehouse.stores.database.sql_engine import Database
from tests.support.applications import Applications, LogoutReceiver
from tests.support.conversation import LOGOUT, bearer, login
from tests.support.engines import Postgres, Redis
from tests.support.running import Running
from tests.support.waiting import wait_until

pytestmark = pytest.mark.full

T = TypeVar("T")
SECRET = "Zr4kW8mT1xQ9vB6nJ3pL7sD5gH2yF0cA"
BOTH = ("grafana", "gitea")


class Accounts:
    """The database below the services, in which the test writes what a code flow would."""

    def __init__(self, url: str, receiver: LogoutReceiver) -> None:
        self._url = url
        self.clients = self._run(lambda applications: add_both(applications, receiver))

    def _run(self, work: Callable[[Applications], Awaitable[T]]) -> T:
        async def run() -> T:
            database = Database(self._url)
            try:
                return await work(Applications(database))
            finally:
                await database.close()

        return asyncio.run(run())

    def log_in(self, client: httpx.Client) -> Login:
        """A session in which both applications were granted something."""
        tokens = login(client)
        session = str(jwt.decode(tokens["accessToken"], options={"verify_signature": False})["sid"])

        async def grant(applications: Applications) -> None:
            for number in self.clients:
                await applications.grant(session, number)

        self._run(grant)
        return Login(session, bearer(tokens))


async def add_both(applications: Applications, receiver: LogoutReceiver) -> list[int]:
    return [await applications.add(name, logout=receiver.uri(name)) for name in BOTH]


class Login:
    def __init__(self, session: str, headers: dict[str, str]) -> None:
        self.session = session
        self.headers = headers


@pytest.fixture
def receiver() -> Iterator[LogoutReceiver]:
    with LogoutReceiver() as server:
        yield server


def heard_by_both(receiver: LogoutReceiver, logins: list[Login]) -> bool:
    return all(set(receiver.heard(name)) >= {each.session for each in logins} for name in BOTH)


def wait_until_heard(receiver: LogoutReceiver, logins: list[Login], *running: Running) -> None:
    wait_until(
        lambda: heard_by_both(receiver, logins),
        lambda: f"{[receiver.heard(name) for name in BOTH]}\n" + "\n".join(each.output()[-3000:] for each in running),
    )


def once(logins: list[Login]) -> dict[str, dict[str, int]]:
    return {name: {each.session: 1 for each in logins} for name in BOTH}


def test_a_logout_a_command_and_a_restart(tmp_path: Path, receiver: LogoutReceiver) -> None:
    """Heard within seconds; the command line ends sessions in another process; what waits survives stop and kill."""
    service = Running(tmp_path / "data", workers=2).start()
    try:
        accounts = Accounts(f"sqlite:///{tmp_path / 'data' / 'accounts.db'}", receiver)
        with service.client() as client:
            logins = [accounts.log_in(client) for _ in range(4)]
            assert client.post(LOGOUT, headers=logins[0].headers).status_code == 200
            wait_until_heard(receiver, logins[:1], service)
            assert service.cli("session", "end", logins[1].session).returncode == 0
            wait_until_heard(receiver, logins[:2], service)
            receiver.stop()
            assert client.post(LOGOUT, headers=logins[2].headers).status_code == 200
            wait_until(lambda: "application grafana has not taken 1 logout" in service.cli("doctor").stdout)
            service.kill()
            assert service.cli("session", "end", logins[3].session).returncode == 0, "nobody serves"
        receiver.start()
        service.start()
        wait_until_heard(receiver, logins, service)
        service.stop()
        service.start()
    finally:
        service.stop()
    assert {name: receiver.heard(name) for name in BOTH} == once(logins)


def test_a_stop_in_the_middle_of_a_delivery_does_not_repeat_it(tmp_path: Path, receiver: LogoutReceiver) -> None:
    with Running(tmp_path / "data", workers=2) as service:
        accounts = Accounts(f"sqlite:///{tmp_path / 'data' / 'accounts.db'}", receiver)
        receiver.go_on = {f"/{name}": threading.Event() for name in BOTH}
        with service.client() as client:
            logins = [accounts.log_in(client)]
            client.post(LOGOUT, headers=logins[0].headers)
        wait_until_heard(receiver, logins, service)
        for event in receiver.go_on.values():
            threading.Timer(1.0, event.set).start()
        assert service.stop() == 0
    with Running(tmp_path / "data", workers=2) as service:
        wait_until(lambda: "nothing waits to be delivered" in service.cli("doctor").stdout)
        assert "has not taken" not in service.cli("doctor").stdout
    assert {name: receiver.heard(name) for name in BOTH} == once(logins)


@pytest.fixture(params=["redis", "postgres"])
def nodes(
    request: pytest.FixtureRequest, tmp_path: Path, postgres_server: Postgres, redis_server: Redis
) -> Iterator[tuple[str, list[Running]]]:
    """Two on one PostgreSQL, whose state is in Redis or there as well."""
    url = postgres_server.create(f"logouts_{request.param}")
    state = redis_server.emptied(59) if request.param == "redis" else url
    given = {
        "database_url": url,
        "state_url": state,
        "secret": SECRET,
        "issuer": "http://nodes.localhost",
        "workers": 1,
    }
    running = [Running(tmp_path / name, **given).start() for name in "ab"]
    yield url, running
    for node in running:
        node.stop()


def test_a_node_that_is_killed_between_a_logout_and_its_delivery_loses_nothing(
    nodes: tuple[str, list[Running]], receiver: LogoutReceiver
) -> None:
    """Whichever of the two follows and delivers: the one that has answered the logouts is gone right after the last."""
    url, (first, second) = nodes
    accounts = Accounts(url, receiver)
    logins: list[Login] = []
    for killed, other in ((first, second), (second, first)):
        with killed.client() as client:
            new = [accounts.log_in(client) for _ in range(6)]
            receiver.stop()
            for each in new:
                assert client.post(LOGOUT, headers=each.headers).status_code == 200
        killed.kill()
        receiver.start()
        logins += new
        wait_until_heard(receiver, logins, other)
        killed.start()
    assert {name: receiver.heard(name) for name in BOTH} == once(logins), "nothing was under way when it was killed"


@pytest.mark.parametrize("nodes", ["redis"], indirect=True)
def test_a_node_that_is_killed_in_the_middle_of_deliveries_repeats_only_those(
    nodes: tuple[str, list[Running]], receiver: LogoutReceiver
) -> None:
    """At least once: what was sent when the node died, and nobody has written down, is sent again with its `jti`."""
    url, (first, second) = nodes
    accounts = Accounts(url, receiver)
    receiver.go_on = {f"/{name}": threading.Event() for name in BOTH}
    with first.client() as client:
        logins = [accounts.log_in(client) for _ in range(10)]
        for each in logins:
            assert client.post(LOGOUT, headers=each.headers).status_code == 200
    wait_until(lambda: all(receiver.tokens(name) for name in BOTH))
    first.kill()
    for name in BOTH:
        receiver.go_on.pop(f"/{name}").set()
    wait_until_heard(receiver, logins, second)
    wait_until(lambda: not waiting(second), lambda: second.output()[-3000:])
    for name in BOTH:
        sent: dict[str, list[str]] = {}
        for claims in receiver.tokens(name):
            sent.setdefault(claims["jti"], []).append(claims["sid"])
        assert len(sent) == len(logins), "one notice for each session, however often it was sent"
        repeated = [sids for sids in sent.values() if len(sids) > 1]
        assert len(repeated) <= MAX_FOR_RECIPIENT, "that many are under way at a time"
        assert all(sids[1:] == sids[:1] for sids in repeated)
    first.start()


def waiting(running: Running) -> bool:
    async def any_row() -> bool:
        database = Database(running.env["GATEHOUSE_DATABASE_URL"])
        try:
            return bool(await database.fetch_rows(select(outbox.c.id).limit(1)))
        finally:
            await database.close()

    return asyncio.run(any_row())
