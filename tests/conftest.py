"""Fixtures: one running service on each pair of engines is shared by the tests that only talk to it."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import httpx
import pytest

from gatehouse.auth.passwords import hash_pool
from tests.support import store_limits
from tests.support.engines import (
    PostgresServer,
    RedisServer,
    fresh_database,
    fresh_stores,
    postgres_server,
    redis_server,
)
from tests.support.inprocess import InProcess
from tests.support.running import Running
from tests.support.store_limits import service_limits

__all__ = ["postgres_server", "redis_server", "service_limits"]


def pytest_configure() -> None:
    # A shell starts what runs in its background with Ctrl-C ignored, and that would go on to what the tests start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # The tests keep every core busy, so a hash at idle priority would wait until it counts as starved. Services in
    # processes of their own keep it.
    hash_pool._lower_priority = lambda: None
    store_limits.extend()


@pytest.fixture(scope="session")
def embedded_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with Running(tmp_path_factory.mktemp("service") / "data", workers=2) as running:
        yield running


@pytest.fixture(scope="session")
def engines_service(
    tmp_path_factory: pytest.TempPathFactory, postgres_server: PostgresServer, redis_server: RedisServer
) -> Iterator[Running]:
    urls = {"database_url": postgres_server.create("api_tests"), "state_url": redis_server.url()}
    with Running(tmp_path_factory.mktemp("service") / "data", workers=2, **urls) as running:
        yield running


@pytest.fixture(scope="session")
def postgres_service(tmp_path_factory: pytest.TempPathFactory, postgres_server: PostgresServer) -> Iterator[Running]:
    url = postgres_server.create("alone_tests")
    with Running(tmp_path_factory.mktemp("service") / "data", workers=2, database_url=url, state_url=url) as running:
        yield running


@pytest.fixture(scope="session", params=["embedded", "engines", "postgres"])
def service(request: pytest.FixtureRequest) -> Running:
    """Two workers, limits off, a fixed captcha answer: on the embedded default, PostgreSQL and Redis, PostgreSQL alone.

    It only hands out one of those above, which stay: what has parameters is made anew whenever they change.
    """
    running: Running = request.getfixturevalue(f"{request.param}_service")
    return running


@pytest.fixture(params=["embedded", "engines", "postgres"])
def engines(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every `InProcess` of the test remembers in the embedded default, PostgreSQL and Redis, or PostgreSQL alone."""
    if request.param == "engines":
        postgres: PostgresServer = request.getfixturevalue("postgres_server")
        redis: RedisServer = request.getfixturevalue("redis_server")
        monkeypatch.setattr(
            InProcess, "engines", staticmethod(lambda started: fresh_stores(postgres, redis, started=started))
        )
    elif request.param == "postgres":
        alone: PostgresServer = request.getfixturevalue("postgres_server")
        monkeypatch.setattr(InProcess, "engines", staticmethod(lambda started: fresh_database(alone, started=started)))


@pytest.fixture
def client(service: Running) -> Iterator[httpx.Client]:
    with service.client() as client:
        yield client
