"""Queries over the tables of a youlai console. What the values mean is decided in `transfer/youlai_mapping.py`."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select

from gatehouse.stores.import_sources.connection import connect
from gatehouse.stores.import_sources.youlai_tables import OPTIONAL, TABLES

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from gatehouse.stores.import_sources.connection import FoundTable, SourceDatabase

    Row = dict[str, Any]


@asynccontextmanager
async def connect_youlai(url: str) -> AsyncIterator[YoulaiDatabase]:
    async with connect(url) as database:
        yield YoulaiDatabase(database, await database.find(TABLES, OPTIONAL))


class YoulaiDatabase:
    """Rows are mappings with the field names of `TABLES`; a field whose column does not exist is left out."""

    def __init__(self, database: SourceDatabase, tables: Mapping[str, FoundTable]) -> None:
        self._database = database
        self._tables = tables

    def has_table(self, table: str) -> bool:
        return table in self._tables

    def has_field(self, table: str, field: str) -> bool:
        return field in self._tables[table].names

    async def all(self, table: str) -> list[Row]:
        return await self._database.rows(self._tables[table].select())

    async def count_users(self) -> int:
        users = self._tables["sys_user"]
        [row] = await self._database.rows(select(func.count().label("number")).select_from(users.table))
        return int(row["number"])

    async def user_batches(self, size: int) -> AsyncIterator[list[Row]]:
        """All users in the order of their ids, `size` at a time."""
        users = self._tables["sys_user"]
        key = users.column("id")
        query = users.select().order_by(key).limit(size)
        rows = await self._database.rows(query)
        while rows:
            yield rows
            rows = await self._database.rows(query.where(key > rows[-1]["id"]))

    async def user_roles(self, first: object, last: object) -> list[Row]:
        """Which roles the users with ids from `first` to `last` have."""
        links = self._tables["sys_user_role"]
        return await self._database.rows(links.select().where(links.column("user").between(first, last)))
