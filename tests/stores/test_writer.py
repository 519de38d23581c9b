"""The thread that writes to an SQLite file: who shares a commit, and what happens when it cannot or must not go on."""

from __future__ import annotations

import asyncio
import resource
import threading
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from gatehouse.stores.errors import StoreUnavailable
from gatehouse.stores.state.sqlite import writer_thread as writer
from gatehouse.stores.state.sqlite.engine import SQLiteState
from gatehouse.stores.state.sqlite.writer_thread import Writer
from tests.support.waiting import PATIENCE


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "numbers.db"
    apsw.Connection(str(path)).execute("CREATE TABLE numbers (number INTEGER PRIMARY KEY)")
    return path


@pytest.fixture
def writing(file: Path) -> Iterator[Writer]:
    opened = Writer(lambda: apsw.Connection(str(file)))
    yield opened
    opened.close()


def stored(file: Path) -> list[int]:
    return [number for (number,) in apsw.Connection(str(file)).execute("SELECT number FROM numbers ORDER BY number")]


def add(opened: Writer, number: int) -> asyncio.Future[apsw.Cursor]:
    return opened.write(lambda db: db.execute("INSERT INTO numbers VALUES (?)", (number,)))


async def test_what_is_asked_in_one_turn_is_one_commit(writing: Writer, file: Path) -> None:
    await asyncio.gather(*(add(writing, number) for number in range(100)))
    assert (writing.written, writing.commits) == (100, 1)
    await add(writing, 100)
    assert (writing.written, writing.commits) == (101, 2)
    assert stored(file) == list(range(101))


async def test_each_gets_its_own_result(writing: Writer) -> None:
    def doubled(number: int) -> asyncio.Future[int]:
        return writing.write(lambda _: 2 * number)

    assert await asyncio.gather(*map(doubled, range(50))) == [2 * number for number in range(50)]


async def test_who_shares_a_commit_shares_its_failure(writing: Writer, file: Path) -> None:
    failures = await asyncio.gather(add(writing, 1), add(writing, 1), return_exceptions=True)
    assert [type(failure) for failure in failures] == [StoreUnavailable, StoreUnavailable]
    await add(writing, 2)
    assert stored(file) == [2]


async def test_a_fault_of_ours_reaches_the_caller_and_ends_nothing(writing: Writer) -> None:
    with pytest.raises(ZeroDivisionError):
        await writing.write(lambda _: 1 / 0)
    assert await writing.write(lambda _: "goes on") == "goes on"


async def test_beyond_the_limit_a_write_is_refused_at_once(writing: Writer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "QUEUE_LIMIT", 3)
    waiting = [add(writing, number) for number in range(3)]
    with pytest.raises(StoreUnavailable, match="too many writes"):
        add(writing, 3)
    await asyncio.gather(*waiting)
    await add(writing, 4)


async def test_a_stop_writes_what_was_asked_in_the_same_turn(file: Path) -> None:
    opened = Writer(lambda: apsw.Connection(str(file)))
    waiting = [add(opened, number) for number in range(3)]
    opened.close()
    assert stored(file) == [0, 1, 2]
    await asyncio.gather(*waiting)


def test_a_loop_that_ended_in_mid_turn_holds_nobody_up(writing: Writer, file: Path) -> None:
    async def ask_and_leave() -> None:
        loop.stop()  # after this turn, and before what it leaves for the next
        add(writing, 1)

    loop = asyncio.new_event_loop()
    task = loop.create_task(ask_and_leave())
    loop.run_forever()
    loop.close()
    assert task.done()
    assert stored(file) == []

    async def ask() -> None:
        await add(writing, 2)

    asyncio.run(asyncio.wait_for(ask(), PATIENCE))
    assert stored(file) == [1, 2]


async def test_a_turn_with_very_much_in_it_is_cut(writing: Writer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "BATCH_LIMIT", 10)
    await asyncio.gather(*(add(writing, number) for number in range(100)))
    assert writing.written == 100
    assert writing.commits >= 5


async def test_a_stop_does_not_wait_for_ever(writing: Writer, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "CLOSE_SECONDS", 0.1)
    begun, slow = threading.Event(), threading.Event()

    def work(_: object) -> bool:
        begun.set()
        return slow.wait(PATIENCE)

    waiting = writing.write(work)
    assert await asyncio.to_thread(begun.wait, PATIENCE)
    assert writing.close() is False
    slow.set()
    assert await waiting is True
    assert writing.close() is True


async def test_a_disk_that_takes_nothing_is_told_by_a_ping_and_leaves_no_second_error(tmp_path: Path) -> None:
    state = SQLiteState(tmp_path / "state.db")
    try:
        await state.ping()
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))  # no file may grow, as on a full disk
        try:
            with pytest.raises(StoreUnavailable) as refused:
                await state.ping()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert "rollback" not in str(refused.value)
        await state.ping()
    finally:
        await state.close()


async def test_an_error_that_has_ended_the_transaction_is_the_one_that_is_told(writing: Writer) -> None:
    """A full disk rolls back by itself."""

    def fill(db: apsw.Connection) -> None:
        [(pages,)] = db.execute("PRAGMA page_count")
        db.execute(f"PRAGMA max_page_count = {pages}")
        db.execute("CREATE TABLE more (content)")
        db.execute("INSERT INTO more VALUES (zeroblob(1000000))")

    with pytest.raises(StoreUnavailable, match="full"):
        await writing.write(fill)
    await writing.write(lambda db: db.execute("INSERT INTO numbers VALUES (1)"))
