"""The SQL engine: its pool, its transactions, and what its failures mean to the caller."""

from __future__ import annotations

import asyncio
import os
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import create_engine, event, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, SQLAlchemyError
from sqlalchemy.pool import StaticPool

from gatehouse.stores.async_engine import AsyncConnection, AsyncEngine, create_async_engine
from gatehouse.stores.errors import StoreUnavailable, UnstorableValue

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence

    from sqlalchemy import CompoundSelect, Select
    from sqlalchemy.engine import URL, CursorResult, Engine

# Connections of one worker. PostgreSQL must allow workers x nodes x this, and some for operators.
POOL_SIZE = 8
# How long a request may wait for a connection, for the connection to open, and for the whole transaction.
WAIT_SECONDS = 2.0
TRANSACTION_SECONDS = 3.0
# A start and a migration, which keep no request waiting, have this many times as long.
PATIENCE = 10
RECYCLE_SECONDS = 1800
SQLITE_BUSY_SECONDS = 5.0


def engine_for(url: str, wait: float) -> AsyncEngine:
    """An engine for `sqlite:///path` or `postgresql://…`, whichever driver the URL names or omits.

    `wait`: seconds for a connection to PostgreSQL.
    """
    try:
        parsed = make_url(url)
    except SQLAlchemyError:
        raise ValueError("expected postgresql://user:password@host/name") from None  # not repeated: a password
    kind = parsed.get_backend_name()
    if kind == "sqlite":
        return _sqlite(str(parsed.database))
    if kind == "postgresql":
        return _postgresql(parsed, wait)
    raise ValueError(f"expected postgresql://user:password@host/name, got {kind}")


def _postgresql(url: URL, wait: float) -> AsyncEngine:
    # What everyone writes for libpq, `?sslmode=require`, the driver calls ssl.
    query = {"ssl" if name == "sslmode" else name: value for name, value in url.query.items()}
    engine = create_async_engine(
        url.set(drivername="postgresql+asyncpg", query=query),
        pool_size=POOL_SIZE,
        max_overflow=0,
        pool_timeout=wait,
        pool_pre_ping=True,
        pool_recycle=RECYCLE_SECONDS,
        connect_args={"timeout": wait, "server_settings": {"application_name": "gatehouse"}},
    )

    @event.listens_for(engine.sync_engine, "invalidate")
    def _on_invalidate(connection: Any, _record: object, _problem: object) -> None:
        # Terminated, not closed: to close a connection waits for the server, which may not answer.
        connection.driver_connection.terminate()

    return engine


def _sqlite(path: str) -> AsyncEngine:
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    engine = create_async_engine(
        f"sqlite+aiosqlite:///{path}",
        pool_size=2,
        max_overflow=0,
        pool_timeout=WAIT_SECONDS,
        connect_args={"timeout": SQLITE_BUSY_SECONDS},
    )

    @event.listens_for(engine.sync_engine, "connect")
    def _prepare(connection: Any, _record: object) -> None:
        # The driver must not begin transactions implicitly: `_begin` below does it, and takes the write lock at
        # once, so that the second of two writers waits instead of failing half-way.
        connection.isolation_level = None
        cursor = connection.cursor()
        for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    @event.listens_for(engine.sync_engine, "begin")
    def _begin(connection: Any) -> None:
        reading = connection.get_execution_options().get("reading", False)
        connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")

    return engine


def _sqlite_sync_engine(path: str) -> Engine:
    """One connection for `fetch_rows`, in autocommit: each statement sees all that was committed before it."""
    return create_engine(
        f"sqlite:///{path}",
        poolclass=StaticPool,
        pool_reset_on_return=None,
        isolation_level="AUTOCOMMIT",
        connect_args={"timeout": SQLITE_BUSY_SECONDS, "check_same_thread": False},
    )


class Database:
    """Transactions over one engine, and single statements. Every query of the accounts runs inside one of these."""

    def __init__(self, url: str, *, patience: float = 1, time_limit: bool = True) -> None:
        """On PostgreSQL, waits and transactions have the limits of a request times `patience`.

        Without `time_limit` a transaction may take any time. `ValueError` for a bad URL.
        """
        self.engine = engine_for(url, WAIT_SECONDS * patience)
        self._autocommit_engine = self.engine.execution_options(isolation_level="AUTOCOMMIT")
        self._sync_engine = _sqlite_sync_engine(str(self.path)) if self.path else None
        limited = time_limit and self.engine.dialect.name == "postgresql"
        self._timeout = TRANSACTION_SECONDS * patience if limited else None
        self._outages: tuple[type[Exception], ...] = (
            SQLAlchemyError,
            OSError,
            TimeoutError,
            *_driver_errors(self.engine.dialect.name),
        )

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncConnection]:
        async with self._connected(reading=True) as connection, connection.begin():
            yield connection

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[AsyncConnection]:
        """Commits at the end of the block; any exception rolls back."""
        async with self._connected(reading=False) as connection, connection.begin():
            yield connection

    async def fetch_rows(self, query: Select[Any] | CompoundSelect[Any], **values: Any) -> Sequence[Any]:
        """The rows of one statement that finds a few by a key.

        In an SQLite file that takes fifty microseconds. A thread for it would take twenty times as long, so it runs
        synchronously, on the thread of the event loop.
        """
        with self._failures():
            if self._sync_engine is not None:
                with self._sync_engine.connect() as sync_connection:
                    return sync_connection.execute(query, values).all()
            async with asyncio.timeout(self._timeout), self._autocommit_engine.connect() as connection:
                rows: Sequence[Any] = (await connection.execute(query, values)).all()
                return rows

    @asynccontextmanager
    async def _connected(self, *, reading: bool) -> AsyncIterator[AsyncConnection]:
        with self._failures():
            async with asyncio.timeout(self._timeout), self.engine.connect() as connection:
                yield await connection.execution_options(reading=reading)

    @contextmanager
    def _failures(self) -> Iterator[None]:
        """Translate errors of the driver into `StoreError`."""
        try:
            yield
        except IntegrityError:
            raise  # a rule of the schema was broken: the caller knows which, and what to say
        except self._outages as problem:
            # The driver's text may hold values; the type alone says enough.
            cause = problem.orig if isinstance(problem, DBAPIError) else problem
            kind = UnstorableValue if _is_unstorable(problem) else StoreUnavailable
            raise kind(f"accounts database: {type(cause).__name__}") from problem

    async def ping(self) -> None:
        async with self.reading() as connection:
            await connection.execute(text("SELECT 1"))

    async def clock(self) -> float:
        """The time by the clock of a PostgreSQL server."""
        async with self.reading() as connection:
            return float(await connection.scalar(text("SELECT extract(epoch FROM clock_timestamp())")) or 0)

    async def configuration_warnings(self) -> list[str]:
        """Warnings about the server's configuration, a sentence each; empty if all is well."""
        if self.path:
            return []
        async with self.reading() as connection:
            rows = await connection.execute(
                text(
                    "SELECT name, setting FROM pg_settings WHERE name IN"
                    " ('fsync', 'full_page_writes', 'synchronous_commit', 'max_connections')"
                )
            )
            settings = {row.name: row.setting for row in rows}
        allowed = int(settings.pop("max_connections"))
        found = [
            f"{name} is off: a crash of the server can lose acknowledged changes; set it on"
            for name, value in sorted(settings.items())
            if value == "off"
        ]
        if allowed < 2 * POOL_SIZE:
            found.append(f"max_connections is {allowed}: each worker opens up to {POOL_SIZE}")
        return found

    async def close(self) -> None:
        if self._sync_engine is not None:
            self._sync_engine.dispose()
        await self.engine.dispose()

    @property
    def path(self) -> Path | None:
        """The file of an SQLite database."""
        url = self.engine.url
        return Path(str(url.database)) if url.get_backend_name() == "sqlite" else None


def _driver_errors(dialect: str) -> tuple[type[Exception], ...]:
    """While a connection opens, what the driver raises reaches us as it is."""
    if dialect != "postgresql":
        return ()
    import asyncpg  # noqa: PLC0415 - an extra: not everybody has it

    return (asyncpg.PostgresError, asyncpg.InterfaceError)


def _is_unstorable(problem: BaseException) -> bool:
    """Whether the database, or its driver, complains of the values and not of itself."""
    cause = problem.orig if isinstance(problem, DBAPIError) else problem
    state = str(getattr(cause, "sqlstate", None) or "")
    # Class 22 of SQL is "data exception". The drivers find some of them before they send anything.
    return state.startswith("22") or isinstance(cause, DataError) or isinstance(_origin(cause), ValueError)


def _origin(cause: BaseException | None) -> BaseException | None:
    return cause.__cause__ if cause is not None else None


def new_id(result: CursorResult[Any]) -> int:
    """The number the database gave to the row just inserted."""
    key = result.inserted_primary_key
    if key is None:
        raise StoreUnavailable("accounts database: no id for a new row")
    return int(key[0])
