"""Changing one's own password: it never undoes an operator's reset, and is no weapon against the other users."""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from gatehouse.auth.audit import ClientInfo, SessionEndReason
from gatehouse.auth.passwords.hashing import hash_password
from gatehouse.management.account_changes import AccountChanges
from gatehouse.stores.database.users import NewUser
from gatehouse.stores.errors import StoreUnavailable
from tests.support.conversation import LOGIN, assert_failure, bearer, credentials, login
from tests.support.inprocess import Answer, InProcess
from tests.support.meanwhile import during
from tests.support.people import add_user, change_user
from tests.support.running import PASSWORD, TLS, Running
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.every_engine

PATH = "/api/v1/users/me/password"
NEW = "a quite new password"
RESET = "what the operator chose"


@pytest.fixture
def gatehouse(tmp_path: Path, engines: None) -> Iterator[InProcess]:
    with InProcess(
        tmp_path / "data", limits="on", limit_login_name="5/5minutes", limit_login_address="1000/minute"
    ) as running:
        yield running


async def change(gatehouse: InProcess, token: str, current: str = PASSWORD, new: str = NEW, **options: str) -> Answer:
    body = {"currentPassword": current, "newPassword": new}
    return await gatehouse.send("PUT", PATH, token=token, body=body, headers=options)


def test_a_reset_by_an_operator_wins_over_a_change_in_flight(
    gatehouse: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = gatehouse.login().data["accessToken"]
    reset = hash_password(RESET)
    # Written and not yet followed by the end of the sessions: the narrowest moment of a reset.
    during(
        monkeypatch, "hash", gatehouse, lambda: change_user(gatehouse.service.stores.database, 1, password_hash=reset)
    )
    assert gatehouse.run(change(gatehouse, token)).code == "A0210"
    assert gatehouse.login(password=RESET).status == 200
    assert gatehouse.login(password=NEW).code == "A0210"


def test_a_store_that_fails_right_after_the_write_leaves_no_other_session(
    gatehouse: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    stolen, token = (gatehouse.login().data["accessToken"] for _ in range(2))
    raise_epochs = gatehouse.service.stores.state.raise_epochs

    async def unavailable(users: Sequence[int], now: float) -> None:
        raise StoreUnavailable("state server: no answer")

    monkeypatch.setattr(gatehouse.service.stores.state, "raise_epochs", unavailable)
    assert gatehouse.run(change(gatehouse, token)).code == "C0300"
    monkeypatch.setattr(gatehouse.service.stores.state, "raise_epochs", raise_epochs)
    gatehouse.clock.move(1)
    assert gatehouse.login(password=NEW).status == 200, "it was written"
    assert gatehouse.me(stolen).code == "A0230"


def test_a_login_whose_password_changes_meanwhile_leaves_no_session(
    gatehouse: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has checked the old password, and opens its session after those of the user have ended."""
    reset = hash_password(RESET)
    during(monkeypatch, "check", gatehouse, lambda: gatehouse.accounts.set_password("admin", reset))
    assert gatehouse.login().code == "A0210"
    assert gatehouse.run(gatehouse.service.sessions.of_user(1)) == []


def test_a_login_just_before_the_new_password_is_written_ends_with_the_others(
    gatehouse: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sessions before it have ended by then, and the old password is still right."""
    mine, end_before = gatehouse.login().data["accessToken"], AccountChanges.end_sessions_before
    late: list[Answer] = []

    async def then_a_login(changes: AccountChanges, *given: Any, **named: Any) -> None:
        await end_before(changes, *given, **named)
        late.append(await gatehouse.attempt())

    monkeypatch.setattr(AccountChanges, "end_sessions_before", then_a_login)
    assert gatehouse.run(change(gatehouse, mine)).code == "00000"
    assert gatehouse.me(late[0].data["accessToken"]).code == "A0230"
    assert gatehouse.me(mine).status == 200


def test_a_session_that_ends_meanwhile_changes_nothing(gatehouse: InProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    token, service = gatehouse.login().data["accessToken"], gatehouse.service
    during(monkeypatch, "hash", gatehouse, lambda: service.sessions.end_all(1, SessionEndReason.OPERATOR, ClientInfo()))
    assert gatehouse.run(change(gatehouse, token)).code == "A0230"
    assert gatehouse.login().status == 200


def test_a_right_password_is_not_confirmed_while_the_name_must_wait(
    gatehouse: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = gatehouse.login().data["accessToken"]

    async def guesses() -> None:
        for _ in range(5):
            await gatehouse.attempt(password="wrong")

    during(monkeypatch, "check", gatehouse, guesses)
    assert gatehouse.run(change(gatehouse, token)).code == "A0211"
    gatehouse.clock.move(30)
    assert gatehouse.login().status == 200, "the password is what it was"


def test_the_new_password_differs_from_the_current_one(gatehouse: InProcess) -> None:
    token = gatehouse.login().data["accessToken"]
    refused = gatehouse.run(change(gatehouse, token, new=PASSWORD))
    assert (refused.status, refused.code) == (400, "A0421")
    assert refused.json["msg"] == "The new password must differ from the current one"
    chinese = gatehouse.run(change(gatehouse, token, new=PASSWORD, **{"Accept-Language": "zh"}))
    assert chinese.json["msg"] == "新密码不能与当前密码相同"


def test_each_user_may_try_so_many_changes(tmp_path: Path) -> None:
    with InProcess(tmp_path / "data", limits="on", limit_password_user="2/hour") as gatehouse:
        gatehouse.run(gatehouse.accounts.add_user(NewUser("ann", "Ann", hash_password(PASSWORD), 1, 0)))
        token, hers = (gatehouse.login(name).data["accessToken"] for name in ("admin", "ann"))
        assert gatehouse.run(change(gatehouse, token)).code == "00000"
        assert gatehouse.run(change(gatehouse, token, NEW, PASSWORD)).code == "00000"
        refused = gatehouse.run(change(gatehouse, token))
        assert (refused.status, refused.code, refused.headers["retry-after"]) == (429, "A0502", "1800")
        assert gatehouse.run(change(gatehouse, hers)).code == "00000", "each has a count of its own"


@pytest.mark.parametrize("limits", ["on", "off"])
def test_one_user_leaves_hashing_capacity_to_the_others(tmp_path: Path, limits: str) -> None:
    with InProcess(tmp_path / "data", limits=limits, hash_threads=1, hash_queue=10) as gatehouse:
        gatehouse.run(gatehouse.accounts.add_user(NewUser("ann", "Ann", hash_password(PASSWORD), 1, 0)))
        token = gatehouse.login("ann").data["accessToken"]

        async def storm() -> tuple[list[Answer], list[Answer]]:
            changes = [asyncio.create_task(change(gatehouse, token)) for _ in range(14)]
            await asyncio.sleep(0)
            logins = await asyncio.gather(*(gatehouse.attempt("admin") for _ in range(9)))
            return list(await asyncio.gather(*changes)), logins

        changes, logins = gatehouse.run(storm())
        assert [answer.code for answer in logins] == ["00000"] * 9
        assert sorted(answer.code for answer in changes) == ["00000"] + ["A0502"] * 13


@pytest.mark.full  # each takes six connections and many hashes; the rule itself is tested above, step by step
@pytest.mark.every_engine
@pytest.mark.parametrize("choices", [(PASSWORD,), (PASSWORD, NEW)], ids=["to the same", "to and fro"])
def test_a_loop_of_changes_does_not_undo_an_operators_reset(
    server: Running, choices: tuple[str, ...], request: pytest.FixtureRequest
) -> None:
    """The attack: somebody knows the password, holds a session, and changes the password on six connections."""
    name = f"looper-{abs(hash(request.node.name))}"
    add_user(server, name)
    with server.client() as client:
        with Attack(server, bearer(login(client, username=name)), choices):
            done = server.cli("user", "password", name, "--password-stdin", stdin=f"{RESET}\n")
        assert done.returncode == 0, done.stderr
        for known in choices:
            answer = client.post(LOGIN, json=credentials(client, username=name, password=known))
            assert_failure(answer, 400, "A0210")
        assert login(client, username=name, password=RESET)


class Attack:
    """Six connections that change the password in a loop, until the block ends."""

    def __init__(self, service: Running, headers: dict[str, str], choices: tuple[str, ...]) -> None:
        self._service, self._headers = service, headers
        self._steps = itertools.cycle(itertools.product(choices, choices))
        self._stopped, self._under_way = threading.Event(), threading.Event()
        self._threads = [threading.Thread(target=self._loop) for _ in range(6)]

    def _loop(self) -> None:
        # Patient: the test is about who wins, not about how fast a busy machine hashes.
        with httpx.Client(base_url=self._service.url, timeout=PATIENCE, verify=TLS) as client:
            while not self._stopped.is_set():
                current, new = next(self._steps)
                body = {"currentPassword": current, "newPassword": new}
                answer = client.put(PATH, json=body, headers=self._headers)
                if answer.status_code == 200 or answer.json()["code"] == "A0421":
                    self._under_way.set()
                if answer.status_code == 429:
                    self._stopped.wait(0.02)  # another connection's turn; the operator needs some of the core, too

    def __enter__(self) -> None:
        for thread in self._threads:
            thread.start()
        if not self._under_way.wait(120):
            self.__exit__()
            raise AssertionError("the current password was never taken as right")

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        for thread in self._threads:
            thread.join()
