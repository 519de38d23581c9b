"""The database of an old console: the tables of the youlai family, as several of its versions have them.

Used by the tests with a handful of people and by the benchmark with tens of thousands.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import bcrypt
from sqlalchemy import (
    BigInteger,
    Column,
    DateTime,
    Integer,
    MetaData,
    SmallInteger,
    String,
    Table,
    delete,
    insert,
    update,
)
from sqlalchemy.engine import make_url
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine

OLD_PASSWORD = "the old console's password"
DRIVERS = {"mysql": "mysql+aiomysql", "postgresql": "postgresql+asyncpg", "sqlite": "sqlite+aiosqlite"}


def old_hash(password: str = OLD_PASSWORD, rounds: int = 4) -> str:
    """As Spring Security writes it."""
    return bcrypt.hashpw(password.encode(), bcrypt.gensalt(rounds, prefix=b"2a")).decode()


HASH = old_hash()
CREATED = datetime(2023, 5, 20, 12, 30)  # noqa: DTZ001 - the columns know no zone


@dataclass(frozen=True)
class Version:
    """What differs between versions of the backends: names of columns, and what marks a button."""

    deleted: str = "is_deleted"
    perm: str = "perm"
    button: str | int = "B"
    page: str | int = "M"


NEW = Version()
OLD = Version(deleted="deleted", button=4, page=1)
OTHER = Version(perm="perms")


@dataclass
class Console:
    """Rows as dictionaries; `write` puts them all into the database, `change` alters them there."""

    url: str
    version: Version = NEW
    users: list[dict[str, Any]] = field(default_factory=list)
    roles: list[dict[str, Any]] = field(default_factory=list)
    menus: list[dict[str, Any]] = field(default_factory=list)
    departments: list[dict[str, Any]] = field(default_factory=list)
    user_roles: list[tuple[int, int]] = field(default_factory=list)
    role_menus: list[tuple[int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        key = BigInteger().with_variant(Integer, "sqlite")
        kind = String(1) if isinstance(self.version.button, str) else SmallInteger()
        deleted, metadata = self.version.deleted, MetaData()
        self.metadata = metadata
        self.tables = {
            "sys_user": Table(
                "sys_user", metadata, Column("id", key, primary_key=True), Column("username", String(64)),
                Column("nickname", String(64)), Column("gender", SmallInteger), Column("password", String(100)),
                Column("dept_id", Integer), Column("avatar", String(255)), Column("mobile", String(20)),
                Column("status", SmallInteger), Column("email", String(128)), Column("create_time", DateTime),
                Column(deleted, SmallInteger),
            ),
            "sys_role": Table(
                "sys_role", metadata, Column("id", key, primary_key=True), Column("name", String(64)),
                Column("code", String(32)), Column("sort", Integer), Column("status", SmallInteger),
                Column("data_scope", SmallInteger), Column(deleted, SmallInteger),
            ),
            "sys_menu": Table(
                "sys_menu", metadata, Column("id", key, primary_key=True), Column("parent_id", BigInteger),
                Column("name", String(64)), Column("type", kind),
                Column(self.version.perm, String(128)),
            ),
            "sys_dept": Table(
                "sys_dept", metadata, Column("id", key, primary_key=True), Column("name", String(100)),
                Column("parent_id", BigInteger), Column("status", SmallInteger), Column(deleted, SmallInteger),
            ),
            "sys_user_role": Table(
                "sys_user_role", metadata, Column("user_id", BigInteger, primary_key=True),
                Column("role_id", BigInteger, primary_key=True),
            ),
            "sys_role_menu": Table(
                "sys_role_menu", metadata, Column("role_id", BigInteger), Column("menu_id", BigInteger),
            ),
        }  # fmt: skip

    # Rows, with what is usual filled in

    def user(self, number: int, username: str | None, *roles: int, deleted: int | None = 0, **values: Any) -> None:
        usual = {
            "nickname": f"Nick {username}", "gender": 1, "password": HASH, "dept_id": 1, "avatar": "", "mobile": None,
            "status": 1, "email": None, "create_time": CREATED,
        }  # fmt: skip
        self.users.append({"id": number, "username": username, self.version.deleted: deleted, **usual, **values})
        self.user_roles += [(number, role) for role in roles]

    def role(
        self, number: int, code: str, *menus: int, status: int = 1, deleted: int = 0, scope: int | None = 0
    ) -> None:
        values = {"id": number, "code": code, "name": f"Role {code}", "sort": 1, "status": status, "data_scope": scope}
        self.roles.append({**values, self.version.deleted: deleted})
        self.role_menus += [(number, menu) for menu in menus]

    def menu(self, number: int, perm: str | None, kind: str | int | None = None) -> None:
        values = {"id": number, "parent_id": 0, "name": f"Menu {number}", self.version.perm: perm}
        self.menus.append({**values, "type": self.version.button if kind is None else kind})

    def department(self, number: int, name: str, parent: int = 0, deleted: int = 0) -> None:
        values = {"id": number, "name": name, "parent_id": parent, "status": 1}
        self.departments.append({**values, self.version.deleted: deleted})

    # The database

    def write(self) -> Console:
        async def work(db: AsyncConnection) -> None:
            await db.run_sync(self.metadata.create_all)
            for name, rows in self._rows():
                for start in range(0, len(rows), 5000):
                    await db.execute(insert(self.tables[name]), rows[start : start + 5000])

        asyncio.run(self._within(work))
        return self

    def change(self, table: str, number: int, **values: Any) -> None:
        there = self.tables[table]
        self._execute(update(there).where(there.c.id == number).values(**values))

    def unlink(self, user: int, role: int) -> None:
        there = self.tables["sys_user_role"]
        self._execute(delete(there).where(there.c.user_id == user, there.c.role_id == role))

    def link(self, user: int, role: int) -> None:
        self._execute(insert(self.tables["sys_user_role"]).values(user_id=user, role_id=role))

    def _execute(self, statement: Any) -> None:
        async def work(db: AsyncConnection) -> None:
            await db.execute(statement)

        asyncio.run(self._within(work))

    def _rows(self) -> Iterable[tuple[str, list[dict[str, Any]]]]:
        yield "sys_user", self.users
        yield "sys_role", self.roles
        yield "sys_menu", self.menus
        yield "sys_dept", self.departments
        yield "sys_user_role", [{"user_id": user, "role_id": role} for user, role in self.user_roles]
        yield "sys_role_menu", [{"role_id": role, "menu_id": menu} for role, menu in self.role_menus]

    async def _within(self, work: Any) -> None:
        address = make_url(self.url)
        engine = create_async_engine(address.set(drivername=DRIVERS[address.get_backend_name()]))
        try:
            async with engine.begin() as db:
                await work(db)
        finally:
            await engine.dispose()


def sample_console(url: str, version: Version = NEW) -> Console:
    """A small console like the one the family ships: root, admin and somebody; not yet written."""
    console = Console(url, version)
    console.department(1, "Company")
    console.department(2, "Research", 1)
    console.department(3, "Testing", 1)
    console.menu(1, None, version.page)
    for number, action in enumerate(("query", "add", "edit", "delete"), 11):
        console.menu(number, f"sys:user:{action}")
    console.role(1, "ROOT")
    console.role(2, "ADMIN", 1, 11, 12, 13, 14)
    console.role(3, "GUEST", 1, 11)
    console.user(1, "root", 1, dept_id=None)
    console.user(2, "admin", 2, avatar="https://cdn.example.com/a.gif")
    console.user(3, "test", 3, dept_id=3)
    return console
