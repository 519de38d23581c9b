"""Opens connections to the PostgreSQL server that takes writes.

    postgresql://[user:password@]host[:port][,host[:port]]/name[?sslmode=…]

With several hosts the one that takes writes is found, so a failover needs no change here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import asyncpg

from gatehouse.stores.errors import StoreUnavailable
from gatehouse.stores.state.postgres.schema import SEARCH_PATH, install

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatehouse.stores.state.postgres.statements import Statement

CONNECT_SECONDS = 2.0
# Ends what the server still does for a client that is gone. The wait for a standby at the commit is not counted.
STATEMENT_MILLISECONDS = 5_000

_SETTINGS = {
    "search_path": SEARCH_PATH,
    "default_transaction_isolation": "read committed",
    "statement_timeout": str(STATEMENT_MILLISECONDS),
    # Every table is asked by key and every statement is prepared, so the plan is known: by index, made once. Plans that
    # were made while a table was empty would read it from end to end when it is full.
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "jit": "off",
}
_END_ABANDONED = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND pid = ANY ($2::integer[])"
)
_SCHEMES = {"postgresql", "postgres", "postgresql+asyncpg"}

# What the driver raises for anything that keeps it from an answer.
DRIVER_ERRORS = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError, TimeoutError)


def read_url(url: str) -> str:
    """The URL as the driver takes it. Raises `ValueError` with a sentence that does not repeat it: a password."""
    parts = urlsplit(url)
    hosts = parts.netloc.rpartition("@")[2].split(",")
    ports = [host.rpartition(":")[2] for host in hosts if ":" in host.rpartition("]")[2]]
    if parts.scheme not in _SCHEMES or not parts.path.strip("/") or not all(port.isdecimal() for port in ports):
        raise ValueError("expected postgresql://user:password@host:port/name")
    # The accounts' driver calls ssl what everyone else calls sslmode; the same URL must do for both.
    query = [("sslmode" if name == "ssl" else name, value) for name, value in parse_qsl(parts.query)]
    return parts._replace(scheme="postgresql", query=urlencode(query)).geturl()


class Connection:
    """One connection. A statement is prepared when it is first run."""

    def __init__(self, driver: asyncpg.Connection[asyncpg.Record]) -> None:
        self._driver = driver
        self._prepared: dict[Statement, Any] = {}
        self.pid: int = driver.get_server_pid()
        self.ticks = 0  # how long it has been at work, by the pool's count

    @classmethod
    async def open(cls, url: str, name: str, abandoned: Sequence[int]) -> Connection:
        """Under a name of its pool's own. First of all it ends what the server may still do for the `abandoned` ones.

        Nobody waits for that any more, and each would hold its locks and a place among the server's connections.
        """
        try:
            driver = await asyncpg.connect(
                url,
                timeout=CONNECT_SECONDS,
                server_settings={**_SETTINGS, "application_name": name},
                statement_cache_size=0,
                target_session_attrs="read-write",
            )
        except DRIVER_ERRORS as problem:
            raise unavailable(problem) from problem
        try:
            await install(driver)
            if abandoned:
                await driver.fetch(_END_ABANDONED, name, abandoned)
        except DRIVER_ERRORS as problem:
            driver.terminate()
            raise unavailable(problem) from problem
        except BaseException:
            driver.terminate()
            raise
        return cls(driver)

    @property
    def closed(self) -> bool:
        return bool(self._driver.is_closed())

    async def run(self, statement: Statement, values: tuple[Any, ...]) -> list[Any]:
        prepared = self._prepared.get(statement)
        if prepared is None:
            prepared = self._prepared[statement] = await self._driver.prepare(statement.sql)
        rows: list[Any] = await prepared.fetch(*values)
        return rows[0][0] if statement.packed else rows

    def abort(self) -> None:
        """At once, without a word to the server: it may not be listening."""
        self._driver.terminate()


def unavailable(problem: Exception) -> StoreUnavailable:
    """The driver's text may hold values; what the server says of itself does not."""
    told = isinstance(problem, asyncpg.PostgresError) and (problem.sqlstate or "")[:2] in {"28", "3D", "42", "53", "57"}
    return StoreUnavailable(f"state database: {problem if told else type(problem).__name__}")
