"""Every adapter refuses each bad token of one table, takes good ones of all three algorithms, and hears of a logout.

`make examples` runs this. An adapter whose toolchain is not installed is left out, and the summary says so.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

from tests.examples.adapters import ADAPTERS, BY_NAME, Adapter, build, started
from tests.examples.issuer import assert_answers_of_the_table, running_issuer
from tests.support.conversation import LOGOUT, bearer, login
from tests.support.people import add_user, service_key
from tests.support.running import TLS, Running, free_port
from tests.support.waiting import PATIENCE, wait_until

pytestmark = pytest.mark.full

# One for each of gatehouse.verify and the packages. Which answer a guard makes of it, the table of tokens shows.
ONE_FOR_EACH_FOLLOWER = [BY_NAME[name] for name in ("fastapi", "express", "gin", "spring-boot")]
LEEWAY = 11.0  # the adapters allow clocks to differ by ten seconds


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("adapters")


class Gatehouse(NamedTuple):
    running: Running
    refused: dict[str, str]  # its own tokens that no service may take


@pytest.fixture(scope="module")
def gatehouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gatehouse]:
    """The tokens for another audience and those that live a second come from the same keys, before the service runs."""
    data, port = tmp_path_factory.mktemp("gatehouse") / "data", free_port()
    settings = {"port": port, "workers": 1, "token_perms": "on", "token_claims": "youlai"}
    refused = {}
    for name, change in (("expired", {"access_ttl": 1}), ("another audience", {"audience": "another-service"})):
        with Running(data, **settings, **change) as earlier, earlier.client() as client:
            refused[name] = login(client)["accessToken"]
    expired = time.time() + 1 + LEEWAY
    with Running(data, **settings) as running:
        add_user(running, "guest")
        wait_until(lambda: time.time() > expired, "the end of a token's life")
        yield Gatehouse(running, refused)


@pytest.fixture(scope="module")
def jwt_gatehouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    data = tmp_path_factory.mktemp("jwt") / "data"
    with Running(data, workers=1, token_type="JWT", token_claims="youlai") as gatehouse:
        yield gatehouse


@pytest.fixture(scope="module", params=ADAPTERS, ids=lambda adapter: adapter.name)
def adapter(request: pytest.FixtureRequest) -> Adapter:
    chosen: Adapter = request.param
    build(chosen)
    return chosen


def test_the_table_of_tokens(adapter: Adapter, logs: Path) -> None:
    with ExitStack() as of_the_issuer:
        issuer = of_the_issuer.enter_context(running_issuer(logs))
        with started(adapter, issuer.url, "ghs_any", logs) as service:
            assert_answers_of_the_table(issuer, service, adapter.name)

            of_the_issuer.close()
            # The check cannot be made: nobody is let in, and nobody is told to log in again. youlai-boot knows no 503.
            closed = 401 if adapter.name == "youlai-boot" else 503
            assert answer_when_stale(f"{service}/hello", bearer(issuer.tokens["good, ES256"])) == closed


def answer_when_stale(url: str, headers: dict[str, str]) -> int:
    """The first answer that is not 200: a feed is stale after seconds of silence."""

    def other_answer() -> int:
        status = httpx.get(url, headers=headers, timeout=PATIENCE, verify=TLS).status_code
        return 0 if status == 200 else status

    return wait_until(other_answer, "a refusal without a feed")


def test_the_token_type_is_a_setting(adapter: Adapter, logs: Path, jwt_gatehouse: Running) -> None:
    url, key = jwt_gatehouse.url, service_key(jwt_gatehouse)
    with jwt_gatehouse.client() as client:
        token = bearer(login(client))
    with started(adapter, url, key, logs, token_type="JWT") as service:
        assert httpx.get(f"{service}/hello", headers=token, timeout=PATIENCE).status_code == 200


@pytest.mark.parametrize("adapter", ONE_FOR_EACH_FOLLOWER, indirect=True, ids=lambda adapter: adapter.name)
def test_a_wrong_service_key_lets_nobody_in_and_the_log_says_why(
    adapter: Adapter, gatehouse: Gatehouse, logs: Path
) -> None:
    with gatehouse.running.client() as client:
        token = bearer(login(client))
    earlier = set(logs.glob("*.log"))
    with started(adapter, gatehouse.running.url, "ghs_wrong", logs) as service:
        answer = httpx.get(f"{service}/hello", headers=token, timeout=PATIENCE)
        assert answer.status_code == 503
    if adapter.name != "fastapi":  # gatehouse.verify leaves the log to the service; its text has a test of its own
        (log,) = set(logs.glob("*.log")) - earlier
        assert "401: check the service key" in log.read_text()


def test_a_running_gatehouse(adapter: Adapter, gatehouse: Gatehouse, logs: Path) -> None:
    running = gatehouse.running
    with (
        started(adapter, running.url, service_key(running), logs) as service,
        running.client() as client,
        httpx.Client(base_url=service, timeout=PATIENCE) as caller,
    ):
        admin, guest, leaver = login(client), login(client, username="guest"), login(client)
        assert caller.get("/hello", headers=bearer(admin)).status_code == 200
        assert caller.get("/hello", headers=bearer(guest)).status_code == 200
        assert caller.post("/users", headers=bearer(admin)).status_code == 200
        assert caller.post("/users", headers=bearer(guest)).status_code == 403

        refused = {**gatehouse.refused, **changed(admin["accessToken"]), "refresh token": admin["refreshToken"]}
        for name, token in refused.items():
            assert (name, caller.get("/hello", headers=bearer(token)).status_code) == (name, 401)
        assert caller.get("/hello").status_code == 401

        assert caller.get("/hello", headers=bearer(leaver)).status_code == 200
        assert client.post(LOGOUT, headers=bearer(leaver)).status_code == 200
        # Long before the token expires. How soon is measured by `benchmarks.ended_sessions`.
        wait_until(lambda: caller.get("/hello", headers=bearer(leaver)).status_code == 401, "a refusal")
        assert caller.get("/hello", headers=bearer(admin)).status_code == 200


def changed(token: str) -> dict[str, str]:
    """What an attacker can make of a good token."""
    head, body, mark = token.split(".")
    header, claims = unpacked(head), unpacked(body)
    return {
        "alg none": f"{packed({**header, 'alg': 'none'})}.{body}.",
        "another algorithm": f"{packed({**header, 'alg': 'HS256'})}.{body}.{mark}",
        "another user": f"{head}.{packed({**claims, 'sub': '2'})}.{mark}",
        "signature cut short": token[:-9],
        "no signature": f"{head}.{body}.",
    }


def unpacked(part: str) -> dict[str, object]:
    return dict(json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))))


def packed(part: dict[str, object]) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()
