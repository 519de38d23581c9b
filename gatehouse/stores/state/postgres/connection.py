"""Opens connections to the PostgreSQL server that takes writes.

    postgresql://[user:password@]host[:port][,host[:port]]/name[?sslmode=…]

With several hosts the one that takes writes is found, so a failover needs no change here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import asyncpg

from gatehouse.stores.errors import StoreUnavailable
from gatehouse.stores.state.postgres.create_schema import SEARCH_PATH, install

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatehouse.stores.state.postgres.statements import Statement

CONNECT_SECONDS = 2.0
# Bounds what the server runs for a client that has gone. PostgreSQL does not count the wait for a standby at commit.
STATEMENT_MILLISECONDS = 5_000

# Every table is read by key, so the best plan is known. A plan that was made while a table was empty would scan the
# whole table when it is full.
_PLAN_ONCE_AND_BY_INDEX = {
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "jit": "off",
}
SERVER_SETTINGS = {
    "search_path": SEARCH_PATH,
    "default_transaction_isolation": "read committed",
    "statement_timeout": str(STATEMENT_MILLISECONDS),
    **_PLAN_ONCE_AND_BY_INDEX,
}
# A commit that waits for a standby is left alone: terminated, it would show before the standby has it, and a repeated
# logout would be acknowledged that a failover can still undo. So these are counted instead, and bounded.
_END_ABANDONED = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND pid = ANY ($2::integer[])"
    " AND wait_event IS DISTINCT FROM 'SyncRep'"
)
_WAITING_COMMITS = "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1 AND wait_event = 'SyncRep'"
WAITING_COMMITS_LIMIT = 16
_SCHEMES = {"postgresql", "postgres", "postgresql+asyncpg"}

# What the driver raises for anything that keeps it from an answer.
DRIVER_ERRORS = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError, TimeoutError)


def driver_url(url: str) -> str:
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
        self.ticks = 0  # of the pool, since the current statement was sent

    @classmethod
    async def open(cls, url: str, name: str, abandoned: Sequence[int]) -> Connection:
        """Open under the pool's own application name, and terminate the `abandoned` backends of that name.

        Nobody waits for them any more, and each would keep its locks and one of the server's connections.
        """
        try:
            driver = await asyncpg.connect(
                url,
                timeout=CONNECT_SECONDS,
                server_settings={**SERVER_SETTINGS, "application_name": name},
                statement_cache_size=0,
                target_session_attrs="read-write",
            )
        except DRIVER_ERRORS as problem:
            raise unavailable(problem) from problem
        try:
            await install(driver)
            if abandoned:
                await driver.fetch(_END_ABANDONED, name, abandoned)
                if await driver.fetchval(_WAITING_COMMITS, name) >= WAITING_COMMITS_LIMIT:
                    raise StoreUnavailable("state database: commits wait for a synchronous standby")
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
        return rows

    def abort(self) -> None:
        """Close without telling the server, which may not be reading."""
        self._driver.terminate()


def unavailable(problem: Exception) -> StoreUnavailable:
    """The driver's text may hold values; what the server says of itself does not."""
    safe = isinstance(problem, asyncpg.PostgresError) and (problem.sqlstate or "")[:2] in {"28", "3D", "42", "53", "57"}
    return StoreUnavailable(f"state database: {problem if safe else type(problem).__name__}")
