"""Fixtures that all folders share: a service in the process, one over a socket, and the engines below them."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import httpx
import pytest

from gatehouse.auth.passwords import hash_pool
from gatehouse.common import logs
from tests.support import hash_cost, selection, store_limits
from tests.support.engines import NotInstalled, Postgres, Redis, fresh_database, fresh_stores
from tests.support.hash_cost import real_hash_cost
from tests.support.inprocess import InProcess
from tests.support.keycloak import KeycloakServer
from tests.support.local import Local
from tests.support.running import Running
from tests.support.selection import (
    pytest_addoption,
    pytest_collection_modifyitems,
    pytest_generate_tests,
    pytest_terminal_summary,
    pytest_xdist_make_scheduler,
)
from tests.support.shared import Asker, Keeper, shared
from tests.support.store_limits import service_limits

__all__ = [
    "pytest_addoption",
    "pytest_collection_modifyitems",
    "pytest_generate_tests",
    "pytest_terminal_summary",
    "pytest_xdist_make_scheduler",
    "real_hash_cost",
    "service_limits",
]

# Now, and not when pytest is configured: the conftest of a folder may make a hash before that.
hash_cost.lower()

SERVERS = {"embedded": "embedded_server", "redis": "redis_server_pair", "postgres": "postgres_server_alone"}


def pytest_configure(config: pytest.Config) -> None:
    # A shell starts what runs in its background with Ctrl-C ignored, and that would go on to what the tests start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # The tests keep every core busy, so a hash at idle priority would wait until it counts as starved. Services in
    # processes of their own keep it.
    hash_pool._lower_priority = lambda: None
    selection.configure(config)
    _log_warnings_alone()
    store_limits.extend()
    told = getattr(config, "workerinput", None)
    if told:
        Asker(told["shared"], told["shared_key"])
    else:
        config.add_cleanup(Keeper().close)


def _log_warnings_alone() -> None:
    """As commands do: what services in this process do meanwhile must not get into what a command prints."""
    logs.configure("warning", "json")


@pytest.fixture(autouse=True)
def _logs_of_the_next_test() -> Iterator[None]:
    yield
    _log_warnings_alone()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: object) -> None:
    """pytest-xdist is about to start a worker."""
    keeper = shared()
    assert isinstance(keeper, Keeper)
    node.workerinput |= {"shared": keeper.address, "shared_key": keeper.key}  # type: ignore[attr-defined]


def _share() -> int:
    """The number of this test process among those of the run."""
    return int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))


def _port(name: str, config: pytest.Config) -> int:
    try:
        return int(shared().get(name))
    except NotInstalled as missing:
        if config.getoption("all"):
            pytest.fail(str(missing))
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def redis_server(pytestconfig: pytest.Config) -> Redis:
    return Redis(_port("redis", pytestconfig), _share())


@pytest.fixture(scope="session")
def postgres_server(pytestconfig: pytest.Config) -> Postgres:
    return Postgres(_port("postgres", pytestconfig), _share())


@pytest.fixture(scope="session")
def keycloak() -> Iterator[KeycloakServer]:
    """For tests in files with `keycloak` in their names, see `tests/support/keycloak.py`."""
    try:
        server = KeycloakServer()
    except NotInstalled as missing:
        pytest.skip(str(missing))
    try:
        server.start()
        yield server
    finally:
        server.remove()


@pytest.fixture(scope="session")
def engine_set(request: pytest.FixtureRequest) -> str:
    """The embedded default, unless `selection` has chosen others for the test."""
    return str(getattr(request, "param", selection.EMBEDDED))


@pytest.fixture(scope="session")
def embedded_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Local]:
    with Local(tmp_path_factory.mktemp("service") / "data") as local:
        yield local


@pytest.fixture(scope="session")
def redis_service(
    tmp_path_factory: pytest.TempPathFactory, postgres_server: Postgres, redis_server: Redis
) -> Iterator[Local]:
    urls = fresh_stores(postgres_server, redis_server, started=True)
    with Local(tmp_path_factory.mktemp("service") / "data", **urls) as local:
        yield local


@pytest.fixture(scope="session")
def postgres_service(tmp_path_factory: pytest.TempPathFactory, postgres_server: Postgres) -> Iterator[Local]:
    urls = fresh_database(postgres_server, started=True)
    with Local(tmp_path_factory.mktemp("service") / "data", **urls) as local:
        yield local


@pytest.fixture(scope="session")
def service(request: pytest.FixtureRequest, engine_set: str) -> Local:
    """In this process, limits off, a fixed captcha answer. Tests that only talk to it share it.

    It only hands out one of those above, which stay: what has parameters is made anew whenever they change.
    """
    local: Local = request.getfixturevalue(f"{engine_set}_service")
    return local


@pytest.fixture
def client(service: Local) -> Iterator[httpx.Client]:
    with service.client() as client:
        yield client


@pytest.fixture(scope="session")
def embedded_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with Running(tmp_path_factory.mktemp("server") / "data", workers=2) as running:
        yield running


@pytest.fixture(scope="session")
def redis_server_pair(
    tmp_path_factory: pytest.TempPathFactory, postgres_server: Postgres, redis_server: Redis
) -> Iterator[Running]:
    urls = {"database_url": postgres_server.copy("server"), "state_url": redis_server.emptied(1)}
    with Running(tmp_path_factory.mktemp("server") / "data", workers=2, **urls) as running:
        yield running


@pytest.fixture(scope="session")
def postgres_server_alone(tmp_path_factory: pytest.TempPathFactory, postgres_server: Postgres) -> Iterator[Running]:
    url = postgres_server.copy("server_alone")
    with Running(tmp_path_factory.mktemp("server") / "data", workers=2, database_url=url, state_url=url) as running:
        yield running


@pytest.fixture(scope="session")
def server(request: pytest.FixtureRequest, engine_set: str) -> Running:
    """The same in processes of its own, two workers, on a port: for what only a socket or several workers show."""
    running: Running = request.getfixturevalue(SERVERS[engine_set])
    return running


@pytest.fixture
def engines(request: pytest.FixtureRequest, engine_set: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every `InProcess` of the test remembers in the embedded default, PostgreSQL and Redis, or PostgreSQL alone."""
    if engine_set == selection.EMBEDDED:
        return
    postgres: Postgres = request.getfixturevalue("postgres_server")
    if engine_set == "postgres":
        monkeypatch.setattr(
            InProcess, "engines", staticmethod(lambda started: fresh_database(postgres, started=started))
        )
    else:
        redis: Redis = request.getfixturevalue("redis_server")
        monkeypatch.setattr(
            InProcess, "engines", staticmethod(lambda started: fresh_stores(postgres, redis, started=started))
        )
