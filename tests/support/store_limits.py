"""Longer time limits of the stores in a test process.

A service refuses when its store has not answered for a second or two. A test process on a busy machine may get no CPU
for as long, and then its store is not to blame. So the limits are longer here, and only `make test-all` runs with the
real ones: in the tests of what happens when a store does not answer, which ask for the fixture `service_limits`, and in
those with services in processes of their own (`tests/server/test_outages.py`, `tests/faults/`), where nothing is
changed.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gatehouse.stores.database import sql_engine as database
from gatehouse.stores.state.postgres import connection as postgres_connection
from gatehouse.stores.state.postgres import pool as postgres_pool
from gatehouse.stores.state.redis import connection as redis_connection
from gatehouse.stores.state.redis import servers as redis_servers

FACTOR = 20
_LIMITS = [
    (database, "TRANSACTION_SECONDS"),
    (database, "WAIT_SECONDS"),
    (postgres_connection, "CONNECT_SECONDS"),
    (postgres_pool, "TIMEOUT_TICKS"),
    (redis_servers, "CONNECT_SECONDS"),
    (redis_connection, "CONNECT_SECONDS"),
    (redis_connection, "TIMEOUT_TICKS"),
]
_OF_A_SERVICE = [(module, name, getattr(module, name)) for module, name in _LIMITS]


def extend() -> None:
    for module, name, value in _OF_A_SERVICE:
        setattr(module, name, value * FACTOR)


@pytest.fixture
def service_limits(pytestconfig: pytest.Config) -> Iterator[None]:
    """With --all the limits of a service, for one test; it must expect a refusal that nothing but slowness explains."""
    if pytestconfig.getoption("all"):
        for module, name, value in _OF_A_SERVICE:
            setattr(module, name, value)
    yield
    extend()
