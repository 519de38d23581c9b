"""A console at work: somebody with a token, on each pair of engines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gatehouse.auth.passwords.hashing import hash_password
from gatehouse.stores.database.users import NewUser
from tests.support.inprocess import Answer, InProcess
from tests.support.running import ANSWER, PASSWORD

HASH = hash_password(PASSWORD)


class Console:
    """Calls below `/api/v1` with the bearer of one user."""

    def __init__(self, gatehouse: InProcess, username: str = "admin", password: str = PASSWORD) -> None:
        self.gatehouse = gatehouse
        self.token = str(gatehouse.login(username, password).data["accessToken"])

    def call(self, method: str, path: str, body: object = None, **query: Any) -> Answer:
        return self.gatehouse.request(method, f"/api/v1/{path}", body=body, query=query, token=self.token)

    def get(self, path: str, **query: Any) -> Any:
        answer = self.call("GET", path, **query)
        assert answer.status == 200, answer.content
        return answer.json["data"]

    def done(self, method: str, path: str, body: object = None, **query: Any) -> None:
        answer = self.call(method, path, body, **query)
        assert (answer.status, answer.code) == (200, "00000"), answer.content
        assert "data" not in answer.json

    def refused(self, code: str, method: str, path: str, body: object = None, **query: Any) -> str:
        answer = self.call(method, path, body, **query)
        assert answer.code == code, answer.content
        assert answer.status >= 400
        return str(answer.json["msg"])


class FormConsole(Console):
    """Logs in by a form, as consoles before 4.3 do."""

    def __init__(self, gatehouse: InProcess) -> None:
        self.gatehouse = gatehouse
        captcha = gatehouse.service.captcha_challenges.issue(gatehouse.clock())
        answer = gatehouse.request(
            "POST",
            "/api/v1/auth/login",
            content=f"username=admin&password={PASSWORD}&captchaKey={captcha.id}&captchaCode={ANSWER}".encode(),
            headers={"content-type": "application/x-www-form-urlencoded"},
        )
        self.token = str(answer.data["accessToken"])


class OlderConsole(FormConsole):
    """Asks for the dictionaries at once, as 2.18 does."""

    def __init__(self, gatehouse: InProcess) -> None:
        super().__init__(gatehouse)
        self.get("dict/list")


@pytest.fixture
def gatehouse(engines: None, tmp_path: Path) -> Iterator[InProcess]:
    with InProcess(tmp_path / "data") as running:
        yield running


@pytest.fixture
def console(gatehouse: InProcess) -> Console:
    return Console(gatehouse)


@pytest.fixture
def user(gatehouse: InProcess) -> Callable[..., Console]:
    """Makes a user whose one role gives these perms, and logs in."""

    def make(name: str, *perms: str) -> Console:
        accounts = gatehouse.service.accounts
        if perms:
            gatehouse.run(accounts.add_role(name.upper(), name, perms))
        new = NewUser(name, name, HASH, 1, 0)
        gatehouse.run(accounts.add_user(new, [name.upper()] if perms else []))
        return Console(gatehouse, name)

    return make
