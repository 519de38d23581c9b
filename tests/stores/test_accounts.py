"""Accounts in SQL, on every engine: what one writes another reads, rules of the schema hold, migrations run once."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import text, update

from gatehouse.management.bootstrap import bootstrap
from gatehouse.stores.database import migrate, schema
from gatehouse.stores.database import sql_engine as accounts_database
from gatehouse.stores.database.account_transactions import AccountTransaction, AccountTransactions
from gatehouse.stores.database.audit_trail import AuditEntry, AuditTrail
from gatehouse.stores.database.departments import DepartmentChange, Departments
from gatehouse.stores.database.roles import NewRole, RoleChange, Roles
from gatehouse.stores.database.schema import metadata
from gatehouse.stores.database.service_keys import ServiceKeyStore
from gatehouse.stores.database.signing_keys import Keys, StoredKey
from gatehouse.stores.database.sql_engine import Database
from gatehouse.stores.database.users import NewUser, UserChange, Users
from gatehouse.stores.errors import Duplicate, InUse, LastAdministrator, Missing, StoreUnavailable
from tests.support.engines import Postgres


async def somebody(database: Database, username: str = "Ann", **values: object) -> int:
    departments = Departments(database)
    known = await departments.all()
    department = known[0].id if known else await departments.add("Root", None)
    new = NewUser(username, "Nick", "hash", department, 1_800_000_000.125, **values)  # type: ignore[arg-type]
    return await Users(database).add(new)


def changing(database: Database) -> AbstractAsyncContextManager[AccountTransaction]:
    """A change among people none of whom is an administrator."""
    return AccountTransactions(database, lambda code, perms: code == "ADMIN").begin()


async def test_a_user_reads_back_as_it_was_added(database: Database) -> None:
    user = await somebody(database, "Änn 漢", avatar="https://example.com/a.png", captcha_exempt=True)
    found = await Users(database).by_name("äNN 漢")
    assert found is not None
    assert (found.id, found.username, found.avatar, found.enabled, found.captcha_exempt, found.created) == (
        user, "Änn 漢", "https://example.com/a.png", True, True, 1_800_000_000.125,
    )  # fmt: skip
    assert await Users(database).by_name("ann") is None


async def test_names_are_unique_without_regard_to_case(database: Database) -> None:
    await somebody(database, "Ann")
    other = await somebody(database, "Bob")
    with pytest.raises(Duplicate):
        await somebody(database, "aNN")
    with pytest.raises(Duplicate):
        async with changing(database) as transaction:
            await transaction.set_user(other, UserChange(username="ANN"))
    assert await Users(database).count() == 2


async def test_a_number_is_never_given_to_another_user(database: Database) -> None:
    first = await somebody(database, "Ann")
    async with changing(database) as transaction:
        await transaction.delete_users([first])
    assert await somebody(database, "Bob") > first


async def test_of_two_adding_the_same_name_at_once_one_succeeds(database: Database) -> None:
    await somebody(database, "first")
    outcomes = await asyncio.gather(*(somebody(database, "Ann") for _ in range(6)), return_exceptions=True)
    assert sum(isinstance(outcome, int) for outcome in outcomes) == 1
    assert sum(isinstance(outcome, Duplicate) for outcome in outcomes) == 5


async def test_a_profile_has_the_perms_of_enabled_roles(database: Database) -> None:
    users, roles = Users(database), Roles(database)
    user = await somebody(database)
    b = await roles.add(NewRole("B", "B"), ["x:y:b", "x:y:a"])
    a = await roles.add(NewRole("A", "A"), ["x:y:c", "x:y:a"])
    off = await roles.add(NewRole("OFF", "Off", enabled=False), ["x:y:off"])
    async with changing(database) as transaction:
        await transaction.replace_roles(user, [a, b, off, a])
    profile = await users.profile(user)
    assert profile is not None
    assert (profile.roles, profile.perms) == (("A", "B"), ("x:y:a", "x:y:b", "x:y:c"))
    async with changing(database) as transaction:
        await transaction.replace_roles(user, [a, off])
        await transaction.deny(a, ["x:y:c"])
    profile = await users.profile(user)
    assert profile is not None
    assert (profile.roles, profile.perms) == (("A",), ("x:y:a",))
    with pytest.raises(Missing):
        async with changing(database) as transaction:
            await transaction.roles_by_code(["A", "NONE"])


async def test_a_role_goes_and_its_holders_stay(database: Database) -> None:
    users, roles = Users(database), Roles(database)
    user = await somebody(database)
    role = await roles.add(NewRole("A", "A"), ["x:y:z"])
    async with changing(database) as transaction:
        await transaction.replace_roles(user, [role])
        assert list(await transaction.holders(role)) == [user]
    async with changing(database) as transaction:
        await transaction.delete_roles([role])
    profile = await users.profile(user)
    assert profile is not None
    assert profile.roles == ()
    with pytest.raises(Missing):
        async with changing(database) as transaction:
            await transaction.roles([role])


async def test_one_administrator_remains_whatever_happens_at_once(database: Database) -> None:
    """Two administrators, each demoted, disabled or deleted at the same moment: one of the two changes is refused."""
    role = await Roles(database).add(NewRole("ADMIN", "Admin"))
    first, second = await somebody(database, "Ann"), await somebody(database, "Bob")
    await somebody(database, "Cyd", enabled=False)
    for user in (first, second):
        async with changing(database) as transaction:
            await transaction.replace_roles(user, [role])

    async def demote(user: int) -> None:
        async with changing(database) as transaction:
            await transaction.replace_roles(user, [])

    async def disable(user: int) -> None:
        async with changing(database) as transaction:
            await transaction.set_user(user, UserChange(enabled=False))

    outcomes = await asyncio.gather(demote(first), disable(second), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes if outcome is not None] == [LastAdministrator]
    async with changing(database) as transaction:
        targets = await transaction.targets([first, second])
    assert sum(bool(target.roles) and target.user.enabled for target in targets) == 1


@pytest.mark.parametrize("how", ["delete", "role", "perms", "department", "above", "password"])
async def test_the_last_administrator_cannot_be_lost_in_any_way(database: Database, how: str) -> None:
    departments = Departments(database)
    top = await departments.add("Top", None)
    department = await departments.add("Below", top)
    role = await Roles(database).add(NewRole("ADMIN", "Admin"), ["x:y:z"])
    user = await Users(database).add(NewUser("Ann", "Ann", "hash", department, 0), ["ADMIN"])
    transactions = AccountTransactions(database, lambda code, perms: code == "ADMIN" and "x:y:z" in perms)

    async def lose() -> None:
        async with transactions.begin() as transaction:
            match how:
                case "delete":
                    await transaction.delete_users([user])
                case "role":
                    await transaction.set_role(role, RoleChange(enabled=False))
                case "perms":
                    await transaction.deny(role, ["x:y:z"])
                case "department" | "above":
                    place = department if how == "department" else top
                    await transaction.db.execute(update(schema.departments).filter_by(id=place).values(enabled=False))
                case "password":
                    await transaction.set_user(user, UserChange(password_hash=""))

    with pytest.raises(LastAdministrator):
        await lose()
    profile = await Users(database).profile(user)
    assert profile is not None
    assert profile.perms == ("x:y:z",)


async def test_roles_of_one_user_are_replaced_as_a_whole(database: Database) -> None:
    """Many at once, each with a set of its own: what is left is one of the sets, and never a mixture."""
    user = await somebody(database)
    ids = [await Roles(database).add(NewRole(f"R{number}", "R")) for number in range(6)]
    sets = [[ids[0], ids[1]], [ids[1], ids[2], ids[3]], [ids[4]], [], [ids[5], ids[0]]]

    async def replace(wanted: list[int]) -> None:
        async with changing(database) as transaction:
            await transaction.replace_roles(user, wanted)

    await asyncio.gather(*(replace(wanted) for wanted in sets * 3))
    async with changing(database) as transaction:
        [target] = await transaction.targets([user])
    assert sorted(role.id for role in target.roles) in [sorted(wanted) for wanted in sets]


async def test_users_come_in_pages(database: Database) -> None:
    ids = [await somebody(database, f"user{number}") for number in range(5)]
    users = Users(database)
    assert [one.user.id for one in await users.page(limit=2)] == ids[:2]
    assert [one.user.id for one in await users.page(after=ids[1], limit=9)] == ids[2:]
    assert [one.user.username for one in await users.page(search="SER3")] == ["user3"]
    assert list(await users.page(search="%")) == []


async def test_a_hash_is_replaced_only_if_it_is_still_the_old_one(database: Database) -> None:
    users = Users(database)
    user = await somebody(database)
    assert await users.replace_password_hash(user, "hash", "new")
    assert not await users.replace_password_hash(user, "hash", "late")
    found = await users.by_name("ann")
    assert found is not None
    assert found.password_hash == "new"


async def test_departments_are_a_tree(database: Database) -> None:
    departments = Departments(database)
    root = await departments.add("Root", None)
    child = await departments.add("Child", root)
    transactions = AccountTransactions(database, lambda code, perms: False)
    with pytest.raises(InUse):
        async with transactions.begin() as transaction:
            await transaction.set_department(root, DepartmentChange(parent=child))
    with pytest.raises(InUse):
        async with transactions.begin() as transaction:
            await transaction.delete_departments([root])
    with pytest.raises(Missing):
        await departments.add("Lost", 99)
    async with transactions.begin() as transaction:
        await transaction.delete_departments([child])
    assert [one.name for one in await departments.all()] == ["Root"]


async def test_keys_are_kept_as_bytes(database: Database) -> None:
    keys = Keys(database)
    await keys.add(StoredKey("one", b"\x00\xff", b"sealed", 1.5, None))
    assert await keys.replace("one", StoredKey("two", b"\x01", b"sealed", 2.5, None), 2.5)
    assert [(key.kid, key.public, key.signs_until) for key in await keys.all()] == [
        ("one", b"\x00\xff", 2.5),
        ("two", b"\x01", None),
    ]
    await keys.reseal({"one": b"new"})
    assert (await keys.all())[0].sealed == b"new"
    await ServiceKeyStore(database).add("app", b"digest", 1.0)
    with pytest.raises(Duplicate):
        await ServiceKeyStore(database).add("app", b"other", 1.0)


async def test_of_several_nodes_at_once_exactly_one_replaces_a_key(database: Database, accounts_url: str) -> None:
    await Keys(database).add(StoredKey("old", b"", b"", 1.0, None))
    nodes = [Database(accounts_url) for _ in range(4)]
    try:
        new = [StoredKey(f"new-{number}", b"", b"", 2.0, None) for number in range(8)]
        won = await asyncio.gather(*(Keys(nodes[n % 4]).replace("old", key, 22.0) for n, key in enumerate(new)))
    finally:
        for node in nodes:
            await node.close()
    assert sum(won) == 1
    assert [(key.kid, key.signs_until) for key in await Keys(database).all()] == [
        ("old", 22.0),
        (new[won.index(True)].kid, None),
    ]


async def test_events_come_back_in_order(database: Database) -> None:
    trail = AuditTrail(database)
    await trail.append(
        [AuditEntry(0, 10.0 + n, "login", n, f"{n}-s", "192.0.2.1", "r", None, '{"a":1}') for n in range(5)]
    )
    assert [entry.user for entry in await trail.read()] == [0, 1, 2, 3, 4]
    assert [entry.user for entry in await trail.read(newest=2)] == [3, 4]
    assert [entry.at for entry in await trail.read(user=3, events=["login"], since=12)] == [13.0]
    assert await trail.prune(12.0) == 2
    assert len(await trail.read()) == 3


async def test_a_failed_block_leaves_nothing(database: Database) -> None:
    with pytest.raises(Missing):
        await Users(database).add(NewUser("Ann", "n", "h", 12345, 1.0))
    assert await Users(database).count() == 0


async def test_the_engine_answers(database: Database) -> None:
    await database.ping()
    assert all("fsync" in str(line) for line in await database.configuration_warnings())  # off in the tests' own server


async def test_patience_with_postgresql_has_an_end_too(
    postgres_server: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accounts_database, "TRANSACTION_SECONDS", 0.01)
    url = postgres_server.url("postgres")
    patient, unlimited = Database(url, patience=10), Database(url, patience=10, time_limit=False)
    try:
        with pytest.raises(StoreUnavailable, match="TimeoutError"):
            async with patient.reading() as connection:
                await connection.execute(text("SELECT pg_sleep(60)"))
        async with unlimited.reading() as connection:
            await connection.execute(text("SELECT pg_sleep(0.2)"))
    finally:
        await patient.close()
        await unlimited.close()


async def test_a_database_is_migrated_once_however_many_try(accounts_url: str) -> None:
    nodes = [Database(accounts_url) for _ in range(4)]
    try:
        with pytest.raises(migrate.MigrationNeeded, match="gatehouse migrate"):
            await migrate.check(nodes[0])
        before = await asyncio.gather(*(migrate.migrate(node) for node in nodes))
        assert sorted(str(done.before) for done in before) == [*[migrate.HEAD] * 3, "None"]
        await migrate.check(nodes[0])
    finally:
        for node in nodes:
            await node.close()


async def test_migrations_make_the_schema_of_the_code(database: Database) -> None:
    def differences(connection: object) -> list[object]:
        return list(compare_metadata(MigrationContext.configure(connection), metadata))  # type: ignore[arg-type]

    async with database.reading() as connection:
        assert await connection.run_sync(differences) == []


async def test_of_several_first_starts_one_makes_the_administrator(database: Database) -> None:
    async def first_start() -> str | None:
        async with migrate.exclusive(database) as unlimited:
            return await bootstrap(
                users=Users(unlimited),
                roles=Roles(unlimited),
                departments=Departments(unlimited),
                keys=Keys(unlimited),
                secret=b"x" * 32,
                algorithm="ES256",
                password="",
                now=1.0,
            )

    passwords = await asyncio.gather(*(first_start() for _ in range(4)))
    assert sum(password is not None for password in passwords) == 1
    assert (await Users(database).count(), len(await Keys(database).all())) == (1, 1)
