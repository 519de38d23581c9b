"""Connects to the database of another system, read-only, and finds the tables and columns to read.

Everything is read in one transaction, so the rows are consistent while the other system keeps working.
"""

from __future__ import annotations

from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import column, inspect, select, table
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError
from sqlalchemy.ext.asyncio import create_async_engine

from gatehouse.stores.errors import Missing, StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence

    from sqlalchemy import URL, ColumnClause, Connection, Select, TableClause
    from sqlalchemy.ext.asyncio import AsyncConnection

CONNECT_SECONDS = 10


class ColumnNames(NamedTuple):
    """The names that a column has in different versions, the usual one first."""

    names: tuple[str, ...]
    required: bool = True


class FoundTable(NamedTuple):
    """A table, and the name in this database of each field that was asked for."""

    table: TableClause
    names: dict[str, str]

    def column(self, field: str) -> ColumnClause[Any]:
        return self.table.c[self.names[field]]

    def select(self) -> Select[Any]:
        """All rows, each a mapping from field to value."""
        return select(*(self.table.c[name].label(field) for field, name in self.names.items()))


@asynccontextmanager
async def connect(url: str) -> AsyncIterator[SourceDatabase]:
    address = _address(url)
    engine = create_async_engine(address, connect_args=_connect_args(address))
    try:
        connection = engine.connect()
        with _errors_named(address):
            await connection.start()
            if address.get_backend_name() == "sqlite":
                await connection.exec_driver_sql("BEGIN")  # its driver starts no transaction for reads
            else:
                await connection.execution_options(isolation_level="REPEATABLE READ")
        try:
            yield SourceDatabase(connection, address)
        finally:
            await connection.close()
    finally:
        await engine.dispose()


class SourceDatabase:
    """One read transaction."""

    def __init__(self, connection: AsyncConnection, address: URL) -> None:
        self._connection = connection
        self._address = address

    async def rows(self, query: Select[Any]) -> list[dict[str, Any]]:
        with _errors_named(self._address):
            return [dict(row) for row in (await self._connection.execute(query)).mappings()]

    async def find(
        self, tables: Mapping[str, Mapping[str, ColumnNames]], optional: Collection[str] = ()
    ) -> dict[str, FoundTable]:
        """The tables that exist. Raises `Missing`, which names every required table and column that does not."""
        with _errors_named(self._address):
            existing = await self._connection.run_sync(_columns, tuple(tables))
        missing = []
        found = {}
        for name, columns in tables.items():
            if name not in existing and name in optional:
                continue
            if name not in existing:
                missing.append(f"table {name}")
                continue
            names: dict[str, str] = {}
            for field, wanted in columns.items():
                match = next((each for each in wanted.names if each in existing[name]), None)
                if match:
                    names[field] = match
                elif wanted.required:
                    missing.append(f"column {name}.{' or '.join(wanted.names)}")
            found[name] = FoundTable(table(name, *(column(each) for each in names.values())), names)
        if missing:
            raise Missing(f"the source has no {', no '.join(missing)}")
        return found


def _columns(connection: Connection, tables: Sequence[str]) -> dict[str, set[str]]:
    inspector = inspect(connection)
    return {
        name: {each["name"] for each in inspector.get_columns(name)} for name in tables if inspector.has_table(name)
    }


@contextmanager
def _errors_named(address: URL) -> Iterator[None]:
    """Errors name the URL, without its password."""
    try:
        yield
    except (SQLAlchemyError, OSError, TimeoutError) as problem:
        cause = problem.orig if isinstance(problem, DBAPIError) else problem
        message = f"{type(cause).__name__}: {cause}".partition("\n")[0]
        raise StoreUnavailable(f"cannot read {address.render_as_string(hide_password=True)}: {message}") from problem


def _address(url: str) -> URL:
    try:
        address = make_url(url)
    except ArgumentError:
        raise ValueError("expected a URL such as mysql://user:password@host/name") from None
    match address.get_backend_name():
        case "mysql" | "mariadb":
            charset = {"charset": "utf8mb4", **address.query}
            return address.set(drivername="mysql+aiomysql", query=charset)
        case "postgresql":
            return address.set(drivername="postgresql+asyncpg")
        case "sqlite":
            # Read-only, so that a mistyped file name does not create an empty database.
            if not address.database or not Path(address.database).is_file():
                raise StoreUnavailable(f"there is no file {address.database}")
            query = {"mode": "ro", "uri": "true"}
            return address.set(
                drivername="sqlite+aiosqlite", database=f"file:{Path(address.database).resolve()}", query=query
            )
        case other:
            raise ValueError(f"can read MySQL, MariaDB, PostgreSQL and SQLite, not {other!r}")


def _connect_args(address: URL) -> dict[str, Any]:
    match address.get_backend_name():
        case "mysql":
            return {"connect_timeout": CONNECT_SECONDS}
        case "postgresql":
            return {"timeout": CONNECT_SECONDS}
    return {}
