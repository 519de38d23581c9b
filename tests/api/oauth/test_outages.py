"""A store is away: applications are told to try again, get nothing, and lose nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.api.oauth.application import CALLBACK, Application
from tests.support.engines import DURABLE, PostgresServer, RedisServer
from tests.support.inprocess import Answer, InProcess
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.full, pytest.mark.usefixtures("service_limits")]


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[PostgresServer, RedisServer]]:
    postgres, redis = PostgresServer(), RedisServer(*DURABLE)
    try:
        postgres.start()
        redis.start()
        yield postgres, redis
    finally:
        postgres.remove()
        redis.remove()


@pytest.fixture
def app(
    servers: tuple[PostgresServer, RedisServer], tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[Application]:
    postgres, redis = servers
    name = f"oauth_{request.node.callspec.id}"
    with InProcess(tmp_path / "data", database_url=postgres.create(name), state_url=redis.url()) as gatehouse:
        yield Application(gatehouse)


@pytest.mark.parametrize("store", ["accounts", "state"])
def test_nothing_is_let_in_and_nothing_is_lost(
    servers: tuple[PostgresServer, RedisServer], app: Application, store: str
) -> None:
    session = app.session()
    code, tokens = app.code(session), app.tokens(session)
    asked = {"response_type": "code", "redirect_uri": CALLBACK, "scope": "openid", "nonce": "n"}
    secret = {"client_id": "app", "client_secret": app.secret}
    calls: dict[str, Callable[[], Answer]] = {
        "token": lambda: app.exchange(code, **secret),
        "refresh": lambda: app.refresh(tokens["refresh_token"], **secret),
        "userinfo": lambda: app.userinfo(tokens["access_token"]),
        "introspect": lambda: app.call("/oauth2/introspect", token=tokens["access_token"], **secret),
        "revoke": lambda: app.call("/oauth2/revoke", token=tokens["access_token"], **secret),
    }
    if store == "accounts":
        calls["par"] = lambda: app.call("/oauth2/par", **asked, **secret)
    server = servers[0] if store == "accounts" else servers[1]
    server.stop()
    try:
        for name, call in calls.items():
            answer = call()
            assert (answer.status, answer.json["error"]) == (503, "temporarily_unavailable"), name
            assert int(answer.headers["retry-after"]) > 0
            assert answer.headers["content-type"] == "application/json"
    finally:
        server.start()
    wait_until(lambda: app.userinfo(tokens["access_token"]).status == 200, "the store answers again")
    assert app.refresh(tokens["refresh_token"]).status == 200
    assert app.exchange(code).status == 200, "the code was not used up"
