"""Whether a name exists shows in nothing a caller sees: not in a limit, a header, or the work that a login takes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from gatehouse.auth.passwords import hash_pool
from gatehouse.auth.passwords.hashing import PasswordCheck, hash_password, verify_password
from gatehouse.stores.database.users import NewUser
from tests.support.inprocess import Answer, InProcess
from tests.support.people import change_user
from tests.support.running import PASSWORD

NAMES = ("known", "disabled", "passkeys-only", "unknown")
VARIES = {"x-request-id"}


@pytest.fixture
def gatehouse(tmp_path: Path, engines: None) -> Iterator[InProcess]:
    with InProcess(
        tmp_path / "data", limits="on", limit_login_name="3/minute", limit_login_address="1000/minute"
    ) as running:
        for name in NAMES[:3]:
            user = running.run(running.accounts.add_user(NewUser(name, name, hash_password(PASSWORD), 1, 0)))
        running.run(change_user(running.service.stores.database, user, password_login=False))
        running.run(running.accounts.disable_user("disabled"))
        running.login("warm-up", "wrong")  # counts the bcrypt users, once in ten minutes
        yield running


def visible(answer: Answer) -> tuple[int, dict[str, str], bytes]:
    return answer.status, {name: text for name, text in answer.headers.items() if name not in VARIES}, answer.content


def test_limits_and_headers_are_the_same_for_every_name(gatehouse: InProcess) -> None:
    """Through free failures, the lock, its end and the longer lock after it."""
    walks = []
    for name in NAMES:
        walk = []
        for pause in (0, 0, 0, 0, 0, 31, 0, 61, 0):
            gatehouse.clock.move(pause)
            walk.append(visible(gatehouse.login(name, "wrong")))
        walks.append(walk)
    assert all(walk == walks[0] for walk in walks)
    assert [status for status, _, _ in walks[0]] == [400, 400, 400, 429, 429, 400, 429, 400, 429]


@pytest.mark.parametrize("failures", [0, 4], ids=["free", "locked"])
def test_a_login_takes_the_same_work_for_every_name(
    gatehouse: InProcess, failures: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time is what the work takes: hashes of one cost, questions to state, questions to the accounts."""
    hashed: list[str] = []
    asked: list[str] = []
    check, fetch_rows = verify_password, gatehouse.service.stores.database.fetch_rows

    def counted(stored: str, password: str) -> PasswordCheck:
        hashed.append(stored.rpartition("$")[0].rpartition("$")[0])
        return check(stored, password)

    async def looked_up(query: object, **values: object) -> object:
        if not {"outbox", "grants"} & set(str(query).split()):  # asked for every few seconds, whoever logs in
            asked.append(str(query))
        return await fetch_rows(query, **values)  # type: ignore[arg-type]

    monkeypatch.setattr(hash_pool, "verify_password", counted)
    monkeypatch.setattr(hash_pool, "STARVED_SECONDS", math.inf)  # on a busy machine a hash may be done twice
    monkeypatch.setattr(
        type(gatehouse.service.stores.database), "fetch_rows", lambda _self, query, **v: looked_up(query, **v)
    )
    works = []
    for name in NAMES:
        for _ in range(failures):
            gatehouse.login(name, "wrong")
        hashed.clear()
        asked.clear()
        before = Counter(gatehouse.service.stores.state.counts())
        gatehouse.login(name, "wrong")
        works.append((list(hashed), list(asked), Counter(gatehouse.service.stores.state.counts()) - before))
    assert all(work == works[0] for work in works)
    assert len(works[0][0]) == (0 if failures else 1)
