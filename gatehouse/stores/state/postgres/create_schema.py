"""Makes the tables and functions of the state where they are missing, once, however many nodes start together.

The functions live in a schema named after their text: a node of another release has its own beside them, and neither
changes what the other runs. Tables are shared, and only ever added to.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from gatehouse.stores.errors import StoreUnavailable

if TYPE_CHECKING:
    import asyncpg

VERSION = 1
# Any number will do, as long as every release of Gatehouse uses the same one.
ADVISORY_LOCK = 7_267_802

_TABLES, _FUNCTIONS = ((Path(__file__).parent / f"{name}.sql").read_text() for name in ("tables", "functions"))

TABLES_SCHEMA = "gatehouse_state"
FUNCTIONS_SCHEMA = f"{TABLES_SCHEMA}_{hashlib.sha256((_TABLES + _FUNCTIONS).encode()).hexdigest()[:8]}"
SEARCH_PATH = f"{FUNCTIONS_SCHEMA}, {TABLES_SCHEMA}"

_INSTALLED = "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)"
_STORED_VERSION = "SELECT value FROM meta WHERE name = 'version'"


async def install(connection: asyncpg.Connection[asyncpg.Record]) -> None:
    """Raises `StoreUnavailable` if the tables are those of a newer release."""
    if await connection.fetchval(_INSTALLED, FUNCTIONS_SCHEMA):
        return
    async with connection.transaction():
        await connection.execute(f"SELECT pg_advisory_xact_lock({ADVISORY_LOCK})")
        if await connection.fetchval(_INSTALLED, FUNCTIONS_SCHEMA):
            return
        if await connection.fetchval(_INSTALLED, TABLES_SCHEMA) is False:
            await connection.execute(f"CREATE SCHEMA {TABLES_SCHEMA}")
        await connection.execute(_TABLES)
        version = int(await connection.fetchval(_STORED_VERSION) or VERSION)
        if version > VERSION:
            raise StoreUnavailable(f"the state is at version {version}, newer than this release ({VERSION})")
        await connection.execute("INSERT INTO meta VALUES ('version', $1) ON CONFLICT DO NOTHING", str(VERSION))
        await connection.execute(f"CREATE SCHEMA {FUNCTIONS_SCHEMA}")
        await connection.execute(_FUNCTIONS)
