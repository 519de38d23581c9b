"""Reading somebody else's database: which driver, which tables and columns, and values of loose types.

Nothing is written there: all is read in one transaction, so that the rows fit together while others go on working.
"""

from __future__ import annotations

from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import column, inspect, table
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError
from sqlalchemy.ext.asyncio import create_async_engine

from gatehouse.stores.errors import Missing, StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence

    from sqlalchemy import URL, Connection, Select, TableClause
    from sqlalchemy.ext.asyncio import AsyncConnection

CONNECT_SECONDS = 10


class Wanted(NamedTuple):
    """A column under any of its names, the usual one first."""

    names: tuple[str, ...]
    required: bool = True


@asynccontextmanager
async def reading(url: str) -> AsyncIterator[Foreign]:
    address = _address(url)
    engine = create_async_engine(address, connect_args=_connect_args(address))
    try:
        connection = engine.connect()
        with _told(address):
            await connection.start()
            if address.get_backend_name() == "sqlite":
                await connection.exec_driver_sql("BEGIN")  # its driver begins none for reading
            else:
                await connection.execution_options(isolation_level="REPEATABLE READ")
        try:
            yield Foreign(connection, address)
        finally:
            await connection.close()
    finally:
        await engine.dispose()


class Foreign:
    """One transaction over there."""

    def __init__(self, connection: AsyncConnection, address: URL) -> None:
        self._connection = connection
        self._address = address

    async def rows(self, query: Select[Any]) -> list[dict[str, Any]]:
        with _told(self._address):
            return [dict(row) for row in (await self._connection.execute(query)).mappings()]

    async def find(
        self, tables: Mapping[str, Mapping[str, Wanted]], optional: Collection[str] = ()
    ) -> dict[str, tuple[TableClause, dict[str, str]]]:
        """Each table with the names its columns have here. `Missing` names everything that is not there.

        Optional tables may be missing as a whole.
        """
        with _told(self._address):
            there = await self._connection.run_sync(_columns, tuple(tables))
        missing = []
        found = {}
        for name, columns in tables.items():
            if name not in there and name in optional:
                continue
            if name not in there:
                missing.append(f"table {name}")
                continue
            names: dict[str, str] = {}
            for meaning, wanted in columns.items():
                match = next((each for each in wanted.names if each in there[name]), None)
                if match:
                    names[meaning] = match
                elif wanted.required:
                    missing.append(f"column {name}.{' or '.join(wanted.names)}")
            found[name] = (table(name, *(column(each) for each in names.values())), names)
        if missing:
            raise Missing(f"the source has no {', no '.join(missing)}")
        return found


def _columns(connection: Connection, tables: Sequence[str]) -> dict[str, set[str]]:
    inspector = inspect(connection)
    return {
        name: {each["name"] for each in inspector.get_columns(name)} for name in tables if inspector.has_table(name)
    }


@contextmanager
def _told(address: URL) -> Iterator[None]:
    """What goes wrong over there is told with its address, without the password."""
    try:
        yield
    except (SQLAlchemyError, OSError, TimeoutError) as problem:
        cause = problem.orig if isinstance(problem, DBAPIError) else problem
        said = f"{type(cause).__name__}: {cause}".partition("\n")[0]
        raise StoreUnavailable(f"cannot read {address.render_as_string(hide_password=True)}: {said}") from problem


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
            # Read-only: a name that was mistyped must not become an empty database.
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


def number(value: object) -> int | None:
    """Whole numbers of every kind that drivers return; `BIT(1)` comes as a byte."""
    match value:
        case None:
            return None
        case bytes():
            return int.from_bytes(value)
        case int():
            return int(value)
    try:
        return int(str(value))
    except ValueError:
        return None


def moment(value: object) -> float | None:
    """Seconds since the epoch. A time without a zone is taken as UTC."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if not isinstance(value, datetime):
        return None
    return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
