"""Passwords: the hash scheme, what is brought along from elsewhere, and the bounds of the pool."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import argon2
import bcrypt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatehouse.auth.passwords.hash_pool import HashPool
from gatehouse.auth.passwords.hashing import PasswordCheck, hash_password, verify_password
from gatehouse.auth.passwords.password_policy import common_passwords, password_problem
from gatehouse.auth.refusals import PasswordProblem, TooBusy
from gatehouse.stores.database.users import NewUser
from tests.support.inprocess import InProcess
from tests.support.selection import cases


@pytest.fixture
def gatehouse(tmp_path: Path, engines: None) -> Iterator[InProcess]:
    with InProcess(tmp_path / "data") as running:
        yield running


def add(gatehouse: InProcess, name: str, hashed: str) -> None:
    gatehouse.run(gatehouse.service.accounts.add_user(NewUser(name, name, hashed, 1, 0)))


def stored(gatehouse: InProcess, name: str) -> str:
    return gatehouse.run(gatehouse.service.accounts.user(name)).user.password_hash


def test_new_hashes_are_argon2id_at_the_agreed_cost(real_hash_cost: None) -> None:
    assert hash_password("x").startswith("$argon2id$v=19$m=19456,t=2,p=1$")


@pytest.fixture
def checked(gatehouse: InProcess, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The hashes that passwords are checked against from now on."""
    against: list[str] = []
    check = HashPool.check

    async def noted(pool: HashPool, stored: str, password: str) -> PasswordCheck:
        against.append(stored)
        return await check(pool, stored, password)

    monkeypatch.setattr(HashPool, "check", noted)
    return against


def test_an_unknown_name_costs_one_hash(gatehouse: InProcess, checked: list[str]) -> None:
    """The parameters decide the cost: they are the same, whatever the length of the password."""
    for password in ("x", "x" * 60_000):
        for name in ("admin", "nobody"):
            assert gatehouse.login(name, password).code == "A0210"
    assert [hashed.split("$")[:4] for hashed in checked] == [hash_password("x").split("$")[:4]] * 4


def test_unknown_names_take_the_time_that_known_ones_take(gatehouse: InProcess, checked: list[str]) -> None:
    """Half of the users came with bcrypt: so about half of the unknown names are checked by it, always the same."""
    add(gatehouse, "ann", bcrypt.hashpw(b"old password", bcrypt.gensalt(4)).decode())
    names = [f"nobody{n}" for n in range(24)]
    for name in names + names:
        assert gatehouse.login(name, "x").code == "A0210"
    schemes = [hashed[:7] for hashed in checked]
    assert schemes[:24] == schemes[24:]
    assert 4 <= schemes[:24].count("$2b$04$") <= 20


def test_unknown_names_take_every_time_that_known_ones_take(gatehouse: InProcess, checked: list[str]) -> None:
    """Users were imported with hashes of several costs: none of these times belongs to known names alone."""
    cheap = argon2.PasswordHasher(time_cost=1, memory_cost=1024, parallelism=1)
    add(gatehouse, "ann", bcrypt.hashpw(b"old password", bcrypt.gensalt(4)).decode())
    add(gatehouse, "bob", bcrypt.hashpw(b"old password", bcrypt.gensalt(5)).decode())
    add(gatehouse, "cat", cheap.hash("old password"))
    for number in range(48):
        gatehouse.login(f"nobody{number}", "x")
    costs = {hashed[:7] if hashed.startswith("$2") else hashed.rsplit("$", 2)[0] for hashed in checked}
    own = hash_password("x").rsplit("$", 2)[0]
    assert costs == {"$2b$04$", "$2b$05$", "$argon2id$v=19$m=1024,t=1,p=1", own}


@settings(max_examples=cases(15), deadline=None)
@given(st.text(min_size=1, max_size=200), st.text(min_size=1, max_size=200))
def test_a_hash_opens_for_its_password_and_for_no_other(password: str, other: str) -> None:
    hashed = hash_password(password)
    assert verify_password(hashed, password).correct
    assert verify_password(hashed, other).correct is (password == other)


def test_passwords_are_never_cut(gatehouse: InProcess) -> None:
    long = "a" * 100
    add(gatehouse, "ann", hash_password(long))
    assert gatehouse.login("ann", long).status == 200
    assert gatehouse.login("ann", long[:72]).code == "A0210"
    assert gatehouse.login("ann", long + " ").code == "A0210"


@pytest.mark.parametrize("prefix", [b"2a", b"2b"])
def test_a_bcrypt_user_logs_in_and_is_hashed_anew(gatehouse: InProcess, prefix: bytes) -> None:
    add(gatehouse, "ann", bcrypt.hashpw(b"old password", bcrypt.gensalt(4, prefix)).decode())
    assert gatehouse.login("ann", "wrong").code == "A0210"
    assert stored(gatehouse, "ann").startswith("$2")
    assert gatehouse.login("ann", "old password").status == 200
    assert stored(gatehouse, "ann").startswith("$argon2id$")
    assert gatehouse.login("ann", "old password").status == 200


def test_a_bcrypt_user_with_a_php_prefix(gatehouse: InProcess) -> None:
    add(gatehouse, "ann", bcrypt.hashpw(b"old password", bcrypt.gensalt(4)).decode().replace("$2b$", "$2y$"))
    assert gatehouse.login("ann", "old password").status == 200


def test_over_72_bytes_a_bcrypt_user_neither_crashes_nor_stays_cut(gatehouse: InProcess) -> None:
    long = "b" * 80
    add(gatehouse, "ann", bcrypt.hashpw(long.encode()[:72], bcrypt.gensalt(4)).decode())
    assert gatehouse.login("ann", long).status == 200
    assert gatehouse.login("ann", long[:72]).code == "A0210", "from now on the whole password counts"


@pytest.mark.parametrize("broken", ["", "plain", "$2b$nonsense", "$argon2id$nonsense", "{noop}x", "$2b$99$" + "a" * 53])
def test_a_hash_that_cannot_be_read_opens_for_nobody(gatehouse: InProcess, broken: str) -> None:
    add(gatehouse, "ann", broken)
    for guess in (broken or "x", "plain", "x"):
        assert gatehouse.login("ann", guess).code == "A0210"


def test_weaker_argon2_hashes_are_made_anew(real_hash_cost: None, gatehouse: InProcess) -> None:
    import argon2  # noqa: PLC0415 - only here

    add(gatehouse, "ann", argon2.PasswordHasher(time_cost=1, memory_cost=1024, parallelism=1).hash("old password"))
    assert gatehouse.login("ann", "old password").status == 200
    assert "m=19456,t=2,p=1" in stored(gatehouse, "ann")


async def test_a_full_queue_is_told_so_and_drains() -> None:
    pool = HashPool(threads=1, queue=2)
    running = [asyncio.create_task(pool.hash("x")) for _ in range(3)]
    await asyncio.sleep(0)
    with pytest.raises(TooBusy):
        await pool.hash("x")
    await asyncio.gather(*running)
    assert pool.pending == 0
    assert await pool.hash("x")
    pool.close()


def test_a_full_queue_is_a_503_that_says_when_to_come_back(tmp_path: Path) -> None:
    with InProcess(tmp_path / "data", hash_threads=1, hash_queue=1) as gatehouse:

        async def storm() -> list[tuple[int, str, str | None]]:
            answers = await asyncio.gather(*(gatehouse.attempt() for _ in range(8)))
            return [(answer.status, answer.code, answer.headers.get("retry-after")) for answer in answers]

        results = gatehouse.run(storm())
        assert results.count((200, "00000", None)) == 2
        assert results.count((503, "B0210", "2")) == 6


def test_one_name_leaves_places_to_the_others(tmp_path: Path) -> None:
    with InProcess(tmp_path / "data", hash_threads=1, hash_queue=7) as gatehouse:

        async def storm() -> list[str]:
            names = ["admin"] * 20 + ["nobody", "nobody else"]
            return [answer.code for answer in await asyncio.gather(*(gatehouse.attempt(name) for name in names))]

        codes = gatehouse.run(storm())
        assert codes[:20] == ["00000"] * 6 + ["B0210"] * 14
        assert codes[20:] == ["A0210"] * 2


@pytest.mark.parametrize(
    ("password", "username", "problem"),
    [
        ("1234567", "ann", PasswordProblem.SHORT),
        ("password", "ann", PasswordProblem.COMMON),
        ("QWERTYUIOP", "ann", PasswordProblem.COMMON),
        ("my-ANNabel-99", "annabel", PasswordProblem.NAME),
        ("x" * 1025, "ann", PasswordProblem.LONG),
        ("tulip rain lamp", "ann", None),
        ("        ", "ann", None),
        ("汉字密码汉字密码", "ann", None),
        ("x" * 64, "ann", None),
    ],
)
def test_the_policy(password: str, username: str, problem: PasswordProblem | None) -> None:
    assert password_problem(password, username) is problem


def test_over_ten_thousand_common_passwords_are_known() -> None:
    assert len(common_passwords()) > 10_000
    assert {"password", "12345678", "qwertyuiop", "iloveyou"} <= common_passwords()
