"""Migrates the accounts database to the schema of this release, once, however many processes try at the same time.

What each release changes is in `migrations/versions/`; `management/account_upgrade.py` does what needs the rules.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import sqlite3
import time
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import inspect, text

from gatehouse.stores.database.sql_engine import PATIENCE, Database
from gatehouse.stores.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from alembic.config import Config
    from sqlalchemy import Connection

HEAD = "0005"
# Any number will do, as long as every release of Gatehouse uses the same one.
ADVISORY_LOCK = 7_267_801


class MigrationNeeded(StoreError):
    """The database is not at the schema of this release."""


class Migrated(NamedTuple):
    """The version before and after, and where the file was copied to before it was changed."""

    before: str | None
    after: str
    backup: Path | None = None


async def current(database: Database) -> str | None:
    """The version of the database, or None if it is empty."""

    def read(connection: Connection) -> str | None:
        if not inspect(connection).has_table("alembic_version"):
            return None
        version: str | None = connection.scalar(text("SELECT version_num FROM alembic_version"))
        return version

    async with database.reading() as connection:
        return await connection.run_sync(read)


async def check(database: Database) -> None:
    found = await current(database)
    if found != HEAD:
        raise MigrationNeeded(
            f"the accounts database is at version {found or 'none'}, this release needs {HEAD}: run `gatehouse migrate`"
        )


async def migrate(database: Database) -> Migrated:
    """Apply the missing migrations. An SQLite file is backed up first."""
    found = await current(database)
    if found == HEAD:
        return Migrated(found, HEAD)
    async with exclusive(database) as unlimited:
        found = await current(unlimited)
        if found == HEAD:
            return Migrated(found, HEAD)
        if found is not None and found > HEAD:
            raise MigrationNeeded(f"the accounts database is at version {found}, newer than this release ({HEAD})")
        backup = back_up(unlimited.path, found) if unlimited.path and found is not None else None
        async with unlimited.writing() as connection:
            await connection.run_sync(_upgrade)
    return Migrated(found, HEAD, backup)


@asynccontextmanager
async def exclusive(database: Database) -> AsyncIterator[Database]:
    """One process at a time: a file lock beside an SQLite file, an advisory lock in PostgreSQL.

    Long work is allowed inside, on the database that is yielded: it has no time limit.
    """
    if database.path:
        handle = os.open(database.path.with_suffix(".lock"), os.O_CREAT | os.O_RDWR, 0o600)
        try:
            await asyncio.to_thread(fcntl.flock, handle, fcntl.LOCK_EX)
            yield database
        finally:
            os.close(handle)
        return
    unlimited = Database(database.engine.url.render_as_string(hide_password=False), patience=PATIENCE, time_limit=False)
    try:
        # Held by the transaction, so that it is released with the connection even if this process is killed.
        async with unlimited.reading() as connection:
            await connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": ADVISORY_LOCK})
            yield unlimited
    finally:
        await unlimited.close()


def back_up(path: Path, version: str) -> Path:
    """A consistent copy of a database that may be in use, readable by the owner only."""
    target = path.with_name(f"{path.stem}.{version}.{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}.backup.db")
    os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o600))
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(target)) as copy:
        source.backup(copy)
    return target


def alembic_config() -> Config:
    from alembic.config import Config  # noqa: PLC0415 - takes a third of the start, needed only to migrate

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.set_main_option("path_separator", "os")
    return config


def _upgrade(connection: Connection) -> None:
    from alembic import command  # noqa: PLC0415 - as above

    config = alembic_config()
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
