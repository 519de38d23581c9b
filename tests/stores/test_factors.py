"""TOTP secrets and recovery codes in the accounts, on every engine."""

from __future__ import annotations

import asyncio

import pytest
from sqlalchemy import delete

from gatehouse.auth.factors.totp_secrets import TotpSecrets, open_totp, seal_totp
from gatehouse.auth.keys.key_ring import KeyRing
from gatehouse.auth.keys.sealing import WrongSecret
from gatehouse.stores.database.departments import Departments
from gatehouse.stores.database.schema import users
from gatehouse.stores.database.signing_keys import Keys
from gatehouse.stores.database.sql_engine import Database
from gatehouse.stores.database.totp_and_recovery_codes import Factors, StoredTotp
from gatehouse.stores.database.users import NewUser, Users

DIGESTS = [bytes([n]) * 32 for n in range(10)]


@pytest.fixture
async def user(database: Database) -> int:
    department = await Departments(database).add("Top", None)
    return await Users(database).add(NewUser("ann", "Ann", "hash", department, 0.0))


async def test_nothing_is_on_until_it_is_confirmed(database: Database, user: int) -> None:
    factors, users = Factors(database), Users(database)
    assert await factors.begin_totp(user, b"first", 1.0)
    assert await factors.begin_totp(user, b"second", 2.0), "a new attempt replaces the first"
    assert await factors.totp(user) == StoredTotp(b"second", 2.0, None)
    before = await users.credentials("Ann")
    assert before is not None
    assert before.totp is None
    assert not await factors.confirm_totp(user, b"first", 3.0, DIGESTS)
    assert await factors.recovery_codes_left(user) == 0
    assert await factors.confirm_totp(user, b"second", 3.0, DIGESTS)
    assert not await factors.confirm_totp(user, b"second", 4.0, DIGESTS)
    assert not await factors.begin_totp(user, b"third", 5.0), "what is on is not replaced"
    credentials = await users.credentials("Ann")
    assert credentials is not None
    assert (credentials.user.id, credentials.totp, credentials.password_login) == (user, b"second", True)
    assert await users.credentials("nobody") is None
    assert await factors.end_totp(user)
    assert not await factors.end_totp(user)
    assert await factors.recovery_codes_left(user) == 0


async def test_a_recovery_code_is_used_once(database: Database, user: int) -> None:
    factors = Factors(database)
    await factors.replace_recovery_codes(user, DIGESTS)
    assert await factors.has_recovery_code(user, DIGESTS[0])
    used = await asyncio.gather(*(factors.use_recovery_code(user, DIGESTS[0], 1.0) for _ in range(8)))
    assert sum(used) == 1
    assert not await factors.has_recovery_code(user, DIGESTS[0])
    assert await factors.recovery_codes_left(user) == 9
    assert not await factors.use_recovery_code(user + 1, DIGESTS[1], 1.0)
    await factors.replace_recovery_codes(user, DIGESTS)
    assert await factors.recovery_codes_left(user) == 10


async def test_a_deleted_user_takes_them_along(database: Database, user: int) -> None:
    factors = Factors(database)
    await factors.begin_totp(user, b"x", 1.0)
    await factors.confirm_totp(user, b"x", 1.0, DIGESTS)
    async with database.writing() as db:
        await db.execute(delete(users).where(users.c.id == user))
    assert await factors.totp(user) is None
    assert await factors.recovery_codes_left(user) == 0


async def test_secrets_are_sealed_anew_when_the_master_secret_changes(database: Database, user: int) -> None:
    old, new, content = b"o" * 32, b"n" * 32, b"the shared secret..."
    factors = Factors(database)
    vault = TotpSecrets(KeyRing(Keys(database), [old], lambda: 0.0, 60), factors)
    await factors.begin_totp(user, vault.seal(user, content), 1.0)
    assert await vault.reseal(new) == 1
    stored = await factors.totp(user)
    assert stored is not None
    assert open_totp([new], user, stored.sealed) == content
    with pytest.raises(WrongSecret):
        vault.open(user, stored.sealed)
    with pytest.raises(WrongSecret):
        open_totp([old], user + 1, seal_totp(old, user, content))
