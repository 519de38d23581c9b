"""Fixtures: one running service on each pair of engines is shared by the tests that only talk to it."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import httpx
import pytest

from tests.engines import PostgresServer, RedisServer, fresh_stores, postgres_server, redis_server
from tests.inprocess import InProcess
from tests.running import Running

__all__ = ["postgres_server", "redis_server"]


@pytest.fixture(scope="session", params=["embedded", "engines"])
def service(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Two workers, limits off, a fixed captcha answer: once on the embedded default, once on PostgreSQL and Redis."""
    data = tmp_path_factory.mktemp("service") / "data"
    urls = engine_urls(request) if request.param == "engines" else {}
    with Running(data, workers=2, **urls) as running:
        yield running


def engine_urls(request: pytest.FixtureRequest) -> dict[str, str]:
    postgres: PostgresServer = request.getfixturevalue("postgres_server")
    redis: RedisServer = request.getfixturevalue("redis_server")
    redis.say("FLUSHDB")  # users of an earlier start have the same numbers
    return {"database_url": postgres.create(f"api_tests_{uuid4().hex}"), "state_url": redis.url()}


@pytest.fixture(params=["embedded", "engines"])
def engines(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every `InProcess` of the test remembers in the embedded default, or in PostgreSQL and Redis."""
    if request.param == "engines":
        postgres: PostgresServer = request.getfixturevalue("postgres_server")
        redis: RedisServer = request.getfixturevalue("redis_server")
        monkeypatch.setattr(InProcess, "engines", staticmethod(lambda: fresh_stores(postgres, redis)))


@pytest.fixture
def client(service: Running) -> Iterator[httpx.Client]:
    with service.client() as client:
        yield client
