"""A store is lost: nothing is let in, every question is answered, and its return is enough to go on.

How soon is in `docs/measurements.md`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.support.conversation import CAPTCHA, LOGIN, LOGOUT, ME, assert_failure, bearer, credentials, login, refresh
from tests.support.engines import DURABLE, PostgresServer, RedisServer
from tests.support.running import Running
from tests.support.waiting import PATIENCE, wait_until

pytestmark = pytest.mark.full  # and with the real time limits: the services run in processes of their own


class House:
    """A service of its own, with servers that may be stopped."""

    def __init__(self, running: Running, postgres: PostgresServer, redis: RedisServer | None) -> None:
        self.running = running
        self.postgres = postgres
        self._redis = redis
        self.client = httpx.Client(base_url=running.url, timeout=PATIENCE)

    @property
    def redis(self) -> RedisServer:
        assert self._redis is not None
        return self._redis


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    postgres, redis = PostgresServer(), RedisServer(*DURABLE)
    try:
        postgres.start()
        redis.start()
        urls = {"database_url": postgres.create("outages"), "state_url": redis.url()}
        with Running(tmp_path_factory.mktemp("outages") / "data", workers=1, **urls) as running:
            house = House(running, postgres, redis)
            yield house
            house.client.close()
    finally:
        postgres.remove()
        redis.remove()


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """The same on PostgreSQL alone."""
    postgres = PostgresServer()
    try:
        postgres.start()
        url = postgres.create("outages")
        with Running(tmp_path_factory.mktemp("alone") / "data", workers=1, database_url=url, state_url=url) as running:
            house = House(running, postgres, None)
            yield house
            house.client.close()
    finally:
        postgres.remove()


def assert_unavailable(answer: httpx.Response) -> None:
    assert_failure(answer, 503, "C0300")
    assert int(answer.headers["retry-after"]) >= 1


def assert_not_ready(house: House, store: str) -> None:
    ready = house.client.get("/health/ready")
    assert (ready.status_code, ready.json()[store]) == (503, "down")
    assert house.client.get("/health/live").status_code == 200


def first_answer(ask: Callable[[], httpx.Response]) -> httpx.Response:
    """The first that is no 503."""

    def answered() -> httpx.Response | None:
        answer = ask()
        return None if answer.status_code == 503 else answer

    answer = wait_until(answered, "an answer other than 503")
    assert answer is not None
    return answer


@contextmanager
def lost(server: PostgresServer | RedisServer, loss: str = "stop") -> Iterator[None]:
    getattr(server, loss)()
    try:
        yield
    finally:
        if loss == "pause":
            server.resume()
        else:
            server.start()


LOSSES = ["stop", "kill", "pause"]


@pytest.mark.parametrize("loss", LOSSES)
def test_redis_is_lost_and_comes_back(house: House, loss: str) -> None:
    client, tokens, ended = house.client, login(house.client), login(house.client)
    assert client.post(LOGOUT, headers=bearer(ended)).status_code == 200
    prepared = credentials(client)
    with lost(house.redis, loss):
        for answer in (
            client.get(ME, headers=bearer(tokens)),
            refresh(client, tokens),
            client.post(LOGIN, json=prepared),
            client.post(LOGOUT, headers=bearer(tokens)),
            client.get(ME, headers=bearer(ended)),
        ):
            assert_unavailable(answer)
        assert client.get(CAPTCHA).status_code == 200, "a captcha needs no store"
        assert_failure(client.get(ME, headers=bearer("forged")), 401, "A0230")
        assert_not_ready(house, "state")

    assert first_answer(lambda: client.get("/health/ready")).status_code == 200
    assert_failure(client.get(ME, headers=bearer(ended)), 401, "A0230")
    login(client)
    if loss != "pause":  # a paused server still does what it had been sent: the logout, unanswered
        assert client.get(ME, headers=bearer(tokens)).status_code == 200
        assert refresh(client, tokens).status_code == 200


@pytest.mark.parametrize("loss", LOSSES)
def test_postgresql_is_lost_and_comes_back(house: House, loss: str) -> None:
    client, tokens = house.client, login(house.client)
    assert client.get(ME, headers=bearer(tokens)).status_code == 200
    prepared = credentials(client)
    with lost(house.postgres, loss):
        assert client.get(ME, headers=bearer(tokens)).status_code == 200, "the profile is remembered"
        renewed = refresh(client, tokens)
        assert renewed.status_code == 200, "a refresh needs Redis alone while the profile is remembered"
        assert_unavailable(client.post(LOGIN, json=prepared))
        assert_not_ready(house, "accounts")
        assert client.post(LOGOUT, headers=bearer(renewed.json()["data"])).status_code == 200
        assert_failure(client.get(ME, headers=bearer(tokens)), 401, "A0230")

    assert first_answer(lambda: client.get("/health/ready")).status_code == 200
    login(client)


@pytest.mark.parametrize("loss", LOSSES)
def test_postgresql_alone_is_lost_and_comes_back(alone: House, loss: str) -> None:
    client, tokens, ended = alone.client, login(alone.client), login(alone.client)
    assert client.post(LOGOUT, headers=bearer(ended)).status_code == 200
    prepared = credentials(client)
    with lost(alone.postgres, loss):
        for answer in (
            client.get(ME, headers=bearer(tokens)),
            refresh(client, tokens),
            client.post(LOGIN, json=prepared),
            client.get(ME, headers=bearer(ended)),
        ):
            assert_unavailable(answer)
        assert client.get(CAPTCHA).status_code == 200, "a captcha needs no store"
        assert_not_ready(alone, "state")

    assert first_answer(lambda: client.get("/health/ready")).status_code == 200
    assert_failure(client.get(ME, headers=bearer(ended)), 401, "A0230")
    assert client.get(ME, headers=bearer(tokens)).status_code == 200
    assert refresh(client, tokens).status_code == 200
    login(client)


def test_a_profile_that_is_not_remembered_needs_postgresql(house: House) -> None:
    tokens = login(house.client)
    house.running.stop()
    house.running.start()
    with lost(house.postgres):
        assert_unavailable(house.client.get(ME, headers=bearer(tokens)))
        assert_unavailable(refresh(house.client, tokens))
    answer = first_answer(lambda: house.client.get(ME, headers=bearer(tokens)))
    assert answer.status_code == 200, "the outage has ended no session"
    assert refresh(house.client, tokens).status_code == 200


def test_a_worker_that_starts_without_postgresql_serves_when_it_is_back(house: House) -> None:
    tokens = login(house.client)
    with lost(house.postgres):
        house.running.kill_workers()
        house.running.wait_until_live()
        assert_unavailable(house.client.get(ME, headers=bearer(tokens)))
    assert first_answer(lambda: house.client.get(ME, headers=bearer(tokens))).status_code == 200
    login(house.client)


def test_a_start_waits_for_postgresql_that_answers_late(house: House) -> None:
    house.running.stop()
    house.postgres.pause()
    late = threading.Timer(4, house.postgres.resume)  # later than a request would wait
    late.start()
    try:
        house.running.start()
    finally:
        late.join()
    login(house.client)


def test_a_service_starts_without_redis_and_serves_when_it_is_back(house: House) -> None:
    with lost(house.redis):
        house.running.stop()
        house.running.start()
        assert_not_ready(house, "state")
    assert first_answer(lambda: house.client.get("/health/ready")).status_code == 200
    login(house.client)


def test_serving_on_an_empty_database_says_what_to_run(house: House, tmp_path: Path) -> None:
    url = house.postgres.create("not_migrated", migrated=False)
    running = Running(tmp_path / "data", database_url=url, state_url=house.redis.url(5))
    with pytest.raises(RuntimeError, match="gatehouse migrate"):
        running.start()


def test_the_first_start_on_postgresql_makes_the_administrator(house: House, tmp_path: Path) -> None:
    url = house.postgres.create("first_start")
    options = {"database_url": url, "state_url": house.redis.url(6)}
    with Running(tmp_path / "data", admin_password="", **options) as running:
        password = running.output().split("password  ")[1].split()[0]
        with running.client() as client:
            login(client, password=password)
    with Running(tmp_path / "data", admin_password="", **options) as running, running.client() as client:
        assert "first start" not in running.output()
        login(client, password=password)
