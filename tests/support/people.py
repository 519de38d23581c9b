"""Users and service keys for a running service, made with the parts that the command line uses."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from typing import TypeVar

from sqlalchemy import update

from gatehouse.auth.keys.service_keys import digest, new_service_key
from gatehouse.auth.passwords.hashing import hash_password
from gatehouse.composition import Service
from gatehouse.settings import load
from gatehouse.stores.database.schema import users
from gatehouse.stores.database.service_keys import ServiceKeyStore
from gatehouse.stores.database.sql_engine import Database
from gatehouse.stores.database.users import NewUser
from tests.support.accounts import Accounts
from tests.support.running import PASSWORD, Installation

T = TypeVar("T")

_numbers = itertools.count(1)


def with_stores(running: Installation, work: Callable[[Service], Awaitable[T]]) -> T:
    """Run something on the same stores, in this process, as the command line does."""

    async def opened() -> T:
        service = Service(load(environ=running.env))
        try:
            return await work(service)
        finally:
            await service.stop()

    return asyncio.run(opened())


async def change_user(database: Database, user: int, **columns: object) -> None:
    """Only the row: no audit event, and no session ends."""
    async with database.writing() as db:
        await db.execute(update(users).where(users.c.id == user).values(**columns))


def add_user(running: Installation, username: str, roles: tuple[str, ...] = ()) -> int:
    """A user with the password of all test users."""
    new = NewUser(username, username, hash_password(PASSWORD), 1, 0)
    return with_stores(running, lambda service: Accounts(service).add_user(new, roles))


def service_key(running: Installation) -> str:
    key = new_service_key()
    name = f"test-{next(_numbers)}"
    with_stores(running, lambda service: ServiceKeyStore(service.stores.database).add(name, digest(key), 0))
    return key
