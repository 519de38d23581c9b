"""`gatehouse move`: everything arrives, a kill in the middle costs nothing, and nobody is logged out."""

from __future__ import annotations

import asyncio
import json
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from sqlalchemy import delete, func, insert, select, update

from gatehouse.server.preparation import prepare
from gatehouse.settings import load
from gatehouse.stores.database.database_copy import TABLES
from gatehouse.stores.database.schema import (
    audit_events,
    consents,
    departments,
    external_identities,
    grants,
    identity_sources,
    menus,
    oauth_client_secrets,
    oauth_clients,
    provider_sessions,
    recovery_codes,
    user_roles,
    users,
)
from gatehouse.stores.database.sql_engine import Database
from gatehouse.stores.state.protocol import GRANT_OWNERS, Session
from gatehouse.stores.state.sqlite.engine import SQLiteState
from tests.support.conversation import ME, bearer, login, refresh
from tests.support.engines import Postgres, Redis
from tests.support.running import Running

pytestmark = pytest.mark.full

PEOPLE = 12_000
GRANT = f"{GRANT_OWNERS + 2}-x"
DB = 59


async def populate(path: Path) -> None:
    """Users with odd texts, a row below one with a higher number, keys of bytes, a user whose number is used up."""
    database = Database(f"sqlite:///{path}")
    try:
        async with database.writing() as db:
            for number, name in ((2, "Below"), (3, "Above")):
                await db.execute(insert(departments).values(id=number, name=name))
            await db.execute(update(departments).where(departments.c.id == 2).values(parent=3))
            rows = [
                {
                    "id": number, "username": f"user{number} é漢\U0001f600", "name_key": f"user{number}",
                    "nickname": "'\"\\%", "avatar": "", "department": 2, "password_hash": "x",
                    "enabled": number % 2 == 0, "captcha_exempt": False, "created": number + 0.125,
                }
                for number in range(2, PEOPLE + 2)
            ]  # fmt: skip
            await db.execute(insert(users), rows)
            for number in (902, 901):
                await db.execute(insert(menus).values(id=number, name="Menu", type="C"))
            await db.execute(update(menus).where(menus.c.id == 901).values(parent=902))
            codes = [{"user": 2 + n // 10, "digest": n.to_bytes(32)} for n in range(2500)]
            await db.execute(insert(recovery_codes), codes)
            source = {"kind": "directory", "enabled": False, "sort": 0, "origin": "operator", "config": "{}"}
            made = {"title": "漢", "sealed": b"\x00\xff", "created": 1.5, "changed": 1.5}
            await db.execute(insert(identity_sources).values(id=5, name="corp", **source, **made))
            await db.execute(insert(user_roles).values(user=2, role=1, source=5))
            who = {"source": 5, "issuer": "", "subject": "漢"}
            await db.execute(insert(external_identities).values(user=2, name="é", linked=1.5, **who))
            await db.execute(
                insert(provider_sessions).values(session="2-x", sid="", sealed=b"\x00", created=1.5, **who)
            )
            await db.execute(
                insert(oauth_clients).values(
                    id=7, client_id="wiki", name="漢", enabled=True, config="{}", created=1.5, changed=1.5
                )
            )
            await db.execute(
                insert(oauth_client_secrets).values(client=7, digest=b"\x00\xff", hint="abcd", created=1.5)
            )
            await db.execute(
                insert(grants).values(id=GRANT, session="2-x", user=2, client=7, scopes="openid", created=1.5)
            )
            await db.execute(insert(consents).values(user=2, client=7, scopes="openid", given=1.5))
            await db.execute(insert(audit_events), [{"at": float(n), "event": "login", "user": n} for n in range(3000)])
            await db.execute(insert(users).values({**rows[0], "id": 99_999, "name_key": "gone"}))
            await db.execute(delete(users).where(users.c.id == 99_999))
    finally:
        await database.close()


async def open_grant(path: Path) -> None:
    """The row that counts the refresh tokens of an application."""
    state, now = SQLiteState(path), time.time()
    try:
        await state.open_session(Session(GRANT, GRANT_OWNERS + 2, 3, now, now, now + 999, now + 999, "", ""), 10)
    finally:
        await state.close()


async def counts(url: str) -> dict[str, int]:
    database = Database(url)
    try:
        async with database.reading() as db:
            return {table.name: await db.scalar(select(func.count()).select_from(table)) or 0 for table in TABLES}
    finally:
        await database.close()


async def killed_on_the_way(after: Running) -> int:
    """Kill a move once some more of the users have arrived; returns its exit code.

    It stands still while they are counted: on a busy machine it would be done before the count is.
    """
    database = Database(after.env["GATEHOUSE_DATABASE_URL"])

    async def arrived() -> int:
        async with database.reading() as db:
            return await db.scalar(select(func.count()).select_from(users)) or 0

    try:
        goal = await arrived() + random.randrange(1, PEOPLE // 4)
        move = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "gatehouse", "move"),
            env=after.env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        with suppress(ProcessLookupError):  # it has ended by itself
            while True:
                move.send_signal(signal.SIGSTOP)
                if await arrived() >= goal:
                    break
                move.send_signal(signal.SIGCONT)
                await asyncio.sleep(0.005)
            move.kill()
        return await move.wait()
    finally:
        await database.close()


def started(running: Running) -> None:
    """What the first start does, without serving."""
    asyncio.run(prepare(load(environ=running.env)))


@pytest.fixture(params=["redis", "postgres"])
def house(
    request: pytest.FixtureRequest, tmp_path: Path, postgres_server: Postgres, redis_server: Redis
) -> tuple[Running, Running]:
    """An embedded service with people in it, stopped; and the one that is to follow it."""
    data = tmp_path / "data"
    before = Running(data, issuer="http://move.localhost")
    database = postgres_server.copy("moved")
    urls = {"database_url": database, "state_url": redis_server.emptied(DB) if request.param == "redis" else database}
    return before, Running(data, issuer="http://move.localhost", **urls)


def test_everything_arrives_and_nobody_is_logged_out(house: tuple[Running, Running]) -> None:
    before, after = house
    with before, before.client() as client:
        tokens = login(client)
    asyncio.run(populate(before.data / "accounts.db"))
    asyncio.run(open_grant(before.data / "state.db"))
    sent = asyncio.run(counts(f"sqlite:///{before.data / 'accounts.db'}"))
    assert sent["users"] == PEOPLE + 1
    assert {sent[table.name] for table in (oauth_clients, oauth_client_secrets, grants, consents)} == {1}

    done = after.cli("move", "--json")
    assert done.returncode == 0, done.stderr
    assert {each["table"]: each["rows"] for each in json.loads(done.stdout)["tables"]} == sent
    assert json.loads(done.stdout)["sessions"] == 2, "of the login, and of a grant"
    assert asyncio.run(counts(after.env["GATEHOUSE_DATABASE_URL"])) == sent

    with after, after.client() as client:
        assert client.get(ME, headers=bearer(tokens)).json()["data"]["username"] == "admin"
        assert refresh(client, tokens).status_code == 200
        login(client)
        added = after.cli("user", "add", "newcomer", "--password-stdin", stdin="a good long password\n")
        assert added.returncode == 0, added.stderr
        shown = json.loads(after.cli("user", "show", "newcomer", "--json").stdout)
        assert shown["id"] == 100_000, "a number that was used is not given again"

    again = after.cli("move")
    assert again.returncode == 2
    assert "empty" in again.stderr


def test_a_move_that_was_killed_goes_on_where_it_stood(house: tuple[Running, Running]) -> None:
    before, after = house
    started(before)
    asyncio.run(populate(before.data / "accounts.db"))
    sent = asyncio.run(counts(f"sqlite:///{before.data / 'accounts.db'}"))
    url = after.env["GATEHOUSE_DATABASE_URL"]
    for _ in range(2):
        assert asyncio.run(killed_on_the_way(after)) == -signal.SIGKILL, "it must be killed before its end"
    partly = asyncio.run(counts(url))
    assert 0 < partly["users"] < sent["users"], "the kill must come in the middle"

    done = after.cli("move", "--json")
    assert done.returncode == 0, done.stderr
    assert asyncio.run(counts(url)) == sent


def test_a_target_with_accounts_of_its_own_is_refused(house: tuple[Running, Running]) -> None:
    before, after = house
    started(before)
    started(after)  # its first start makes an administrator there
    refused = after.cli("move")
    assert refused.returncode == 2
    assert "empty database" in refused.stderr


def test_what_differs_at_the_end_is_not_called_moved(house: tuple[Running, Running], postgres_server: Postgres) -> None:
    before, after = house
    started(before)
    postgres_server.execute(
        "CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql"
        " AS 'BEGIN NEW.nickname := ''spoilt''; RETURN NEW; END'",
        "CREATE TRIGGER spoil BEFORE INSERT ON users FOR EACH ROW EXECUTE FUNCTION spoil()",
        name="moved",
    )
    refused = after.cli("move")
    assert refused.returncode == 2
    assert "users" in refused.stderr
    assert "differ" in refused.stderr


def test_without_a_target_it_says_which_setting(house: tuple[Running, Running]) -> None:
    before, _ = house
    refused = before.cli("move")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "GATEHOUSE_DATABASE_URL" in refused.stderr
