"""Sessions and epochs in state, as the protocol promises them, on every engine."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from itertools import product
from pathlib import Path

import apsw
import pytest

from gatehouse.stores.state.protocol import (
    EXPIRED_KEPT_SECONDS,
    GRANT_OWNERS,
    EndRecord,
    ReuseDetection,
    Session,
    SessionLogin,
    State,
)
from gatehouse.stores.state.refresh_reuse import is_reused
from gatehouse.stores.state.sqlite import engine as sqlite
from gatehouse.stores.state.sqlite import wal_changes as commit_detector
from gatehouse.stores.state.sqlite.engine import SQLiteState
from tests.stores.conftest import Opener

NOW = 1_800_000_000.125


def session(name: str = "a", user: int = 7, *, opened: float = NOW, ends: float = NOW + 100) -> Session:
    return Session(
        id=f"{user}-{name:x<22}",
        user=user,
        generation=1,
        opened=opened,
        rotated=opened,
        ends=ends,
        absolute_end=opened + 1000,
        address="192.0.2.1",
        agent="Browser/1.0 (some words; 漢字)",
        proof="pwd+otp",
    )


async def test_a_session_reads_back_as_it_was_stored(states: Opener) -> None:
    opened, gone = await states().open_session(session(), 50)
    assert (opened, list(gone)) == (session(), [])
    assert list(await states().sessions_of(7)) == [session()]
    assert await states().session_status(session().id) == (7, session().ends, 0)


async def test_an_empty_address_and_agent_are_kept_apart(state: State) -> None:
    plain = session()._replace(address="", agent=" spaces  ", proof="")
    await state.open_session(plain, 50)
    assert list(await state.sessions_of(7)) == [plain]
    assert await state.session_status(plain.id) == (7, plain.ends, 0)


@pytest.mark.parametrize("unknown", ["7-nobody", "8-x", "", "-", "no dash", "{7}-x"])
async def test_an_unknown_session_is_none(state: State, unknown: str) -> None:
    await state.open_session(session(), 50)
    assert await state.session_status(unknown) is None
    assert await state.rotate_session(unknown, 1, NOW, NOW + 1) is None
    assert await state.touch_session(unknown, NOW, NOW + 1, SessionLogin(NOW, "pwd")) is None
    assert await state.end_session(unknown) is None


async def test_a_rotation_advances_the_generation_once(state: State) -> None:
    await state.open_session(session(), 50)
    first = await state.rotate_session(session().id, 1, NOW + 5.5, NOW + 200.25)
    second = await state.rotate_session(session().id, 1, NOW + 6, NOW + 300)
    after = session()._replace(generation=2, rotated=NOW + 5.5, ends=NOW + 200.25)
    assert first is not None
    assert second is not None
    assert first == (True, after, False)
    assert second == (False, after, False)
    assert list(await state.sessions_of(7)) == [after]
    assert await state.session_status(session().id) == (7, NOW + 200.25, 0)


async def test_a_rotation_never_goes_beyond_the_latest_end(state: State) -> None:
    await state.open_session(session(), 50)
    rotation = await state.rotate_session(session().id, 1, NOW + 1, NOW + 99_999)
    assert rotation is not None
    assert rotation.session.ends == rotation.session.absolute_end == NOW + 1000


@pytest.mark.parametrize(("at", "rotated"), [(NOW + 99.9, True), (NOW + 100, False), (NOW + 101, False)])
async def test_a_session_that_has_ended_is_not_rotated(state: State, at: float, rotated: bool) -> None:
    await state.open_session(session(), 50)
    rotation = await state.rotate_session(session().id, 1, at, at + 100)
    assert rotation is not None
    assert rotation.did_rotate is rotated
    assert rotation.session.generation == (2 if rotated else 1)


async def test_of_many_rotations_at_once_one_succeeds(states: Opener) -> None:
    nodes = [states(), states()]
    await nodes[0].open_session(session(), 50)
    attempts = await asyncio.gather(
        *(nodes[i % 2].rotate_session(session().id, 1, NOW + 1, NOW + 101) for i in range(20))
    )
    assert sorted(attempt.did_rotate for attempt in attempts if attempt) == [False] * 19 + [True]
    assert {attempt.session.generation for attempt in attempts if attempt} == {2}


async def test_a_reused_token_ends_its_session_in_the_same_step(states: Opener) -> None:
    """Whatever is presented and when: rotated, answered again, refused or ended, as the rule says, and the log too."""
    one, other = states(), states()
    ended: list[str] = []
    for number, (presented, after) in enumerate(product(range(1, 5), (0.0, 9.75, 10.0, 10.25, 98.0, 100.0))):
        stored = session(f"n{number}", user=number + 1)._replace(generation=3)
        await one.open_session(stored, 50)
        now = NOW + after
        reuse = ReuseDetection(10, EndRecord(now, "reuse", 7200))
        attempt = await other.rotate_session(stored.id, presented, now, now + 100, reuse)
        assert attempt is not None
        assert attempt.was_reused is is_reused(stored, presented, now, 10), (presented, after)
        assert attempt.did_rotate is (presented == 3 and after < 100)
        assert (await one.session_status(stored.id) is None) is attempt.was_reused
        ended += [stored.id] if attempt.was_reused else []
    assert [(entry.session, entry.reason) for entry in (await one.ended_sessions("", 100)).entries] == [
        (session_id, "reuse") for session_id in ended
    ]


async def test_many_reused_tokens_at_once_end_their_sessions(states: Opener) -> None:
    nodes = [states(), states()]
    for number in range(20):
        await nodes[0].open_session(session(f"n{number}", user=number % 3 + 1)._replace(generation=5), 50)
    reuse = ReuseDetection(10, EndRecord(NOW, "reuse", 7200))
    ids = [session(f"n{number}", user=number % 3 + 1).id for number in range(20)]
    attempts = await asyncio.gather(
        *(nodes[i % 2].rotate_session(ids[i], 5 if i % 4 == 0 else 2, NOW, NOW + 100, reuse) for i in range(20)),
        *(nodes[i % 2].end_session(ids[i], EndRecord(NOW, "logout", 7200)) for i in reversed(range(20))),
    )
    assert [attempt for attempt in attempts[:20] if isinstance(attempt, Session)] == []
    assert [await nodes[0].session_status(session_id) for session_id in ids] == [None] * 20
    assert sorted(entry.session for entry in (await nodes[0].ended_sessions("", 100)).entries) == sorted(ids)


async def test_the_reuse_of_a_grant_is_not_logged(states: Opener) -> None:
    one, other = states(), states()
    grant = session(user=GRANT_OWNERS + 7)._replace(generation=3)
    await one.open_session(grant, 50)
    attempts = await asyncio.gather(
        *(node.rotate_session(grant.id, 1, NOW, NOW + 100, ReuseDetection(10, None)) for node in (one, other))
    )
    assert [attempt for attempt in attempts if attempt] == [(False, grant, True)]
    assert await other.session_status(grant.id) is None
    assert list((await one.ended_sessions("", 10)).entries) == []


# A session that is used without being refreshed


async def test_a_touch_moves_the_end_and_nothing_else(states: Opener) -> None:
    one, other = states(), states()
    await one.raise_epochs([7], NOW)
    await one.open_session(session(), 50)
    await one.open_session(session("b"), 50)
    assert await other.session_status(session().id) == (7, NOW + 100, int(NOW * 1000))
    touched = session()._replace(ends=NOW + 200.25, epoch=int(NOW * 1000))
    assert await one.touch_session(session().id, NOW + 5.5, NOW + 200.25) == touched
    assert await other.session_status(session().id) == (7, NOW + 200.25, int(NOW * 1000))
    assert list(await other.sessions_of(7)) == [touched, session("b")._replace(epoch=int(NOW * 1000))]
    assert list((await one.ended_sessions("", 10)).entries) == []


@pytest.mark.parametrize(("asked", "ends"), [(NOW + 99_999, NOW + 1000), (NOW + 50, NOW + 100), (NOW, NOW + 100)])
async def test_a_touch_goes_neither_beyond_the_latest_end_nor_back(state: State, asked: float, ends: float) -> None:
    await state.open_session(session(), 50)
    assert await state.touch_session(session().id, NOW + 1, asked) == session()._replace(ends=ends)
    assert list(await state.sessions_of(7)) == [session()._replace(ends=ends)]


@pytest.mark.parametrize("login", [None, SessionLogin(NOW + 100, "pwd")])
async def test_a_session_that_has_ended_is_not_touched(state: State, login: SessionLogin | None) -> None:
    await state.open_session(session(), 50)
    assert await state.touch_session(session().id, NOW + 100, NOW + 300, login) is None
    assert list(await state.sessions_of(7)) == [session()]


@pytest.mark.parametrize("origin", [("192.0.2.1", "Browser/1.0 (a b)"), ("", ""), ("2001:db8::1", "/ a / b")])
async def test_a_further_login_is_the_age_and_the_proof(state: State, origin: tuple[str, str]) -> None:
    for before, after in product(("", "pwd", "pwd+otp"), repeat=2):
        stored = session()._replace(proof=before, address=origin[0], agent=origin[1])
        await state.open_session(stored, 50)
        touched = stored._replace(opened=NOW + 7.625, proof=after, ends=NOW + 150)
        login = SessionLogin(NOW + 7.625, after)
        assert await state.touch_session(stored.id, NOW + 8, NOW + 150, login) == touched
        assert list(await state.sessions_of(7)) == [touched]
        await state.open_session(session("b", opened=NOW + 5), 50)
        assert [one.id for one in await state.sessions_of(7)] == [session("b").id, stored.id]  # by their age
        rotation = await state.rotate_session(stored.id, 1, NOW + 9, NOW + 160)
        assert rotation == (True, touched._replace(generation=2, rotated=NOW + 9, ends=NOW + 160), False)
        await state.end_sessions_of(7)


async def test_touches_and_rotations_at_once_lose_nothing(states: Opener) -> None:
    """Each rotation counts, each end is the latest that was asked, and the last login stands."""
    nodes = [states(), states()]
    await nodes[0].open_session(session(), 50)
    for generation in range(1, 11):
        moment = NOW + generation
        results = await asyncio.gather(
            *(nodes[i % 2].touch_session(session().id, moment, moment + 100 + i) for i in range(6)),
            nodes[generation % 2].touch_session(session().id, moment, moment, SessionLogin(moment, f"p{generation}")),
            nodes[(generation + 1) % 2].rotate_session(session().id, generation, moment, moment + 90),
            *(nodes[i % 2].touch_session(session().id, moment, moment + 110 + i) for i in range(6)),
        )
        assert all(results)
        [now] = await nodes[0].sessions_of(7)
        assert now[2:5] == (generation + 1, moment, moment)
        assert (now.proof, now.ends >= moment + 90) == (f"p{generation}", True)


async def test_a_touch_does_not_bring_back_what_has_ended(states: Opener) -> None:
    nodes = [states(), states()]
    for number in range(20):
        one = session(f"n{number}")
        await nodes[0].open_session(one, 50)
        calls = [nodes[i % 2].touch_session(one.id, NOW, NOW + 500, SessionLogin(NOW, "x")) for i in range(6)]
        calls.insert(number % 6, nodes[number % 2].end_session(one.id, EndRecord(NOW, "logout", 7200)))
        results = await asyncio.gather(*calls)
        assert results[number % 6] is not None
        assert await nodes[1].touch_session(one.id, NOW, NOW + 500) is None
        assert await nodes[0].session_status(one.id) is None
    assert list(await nodes[0].sessions_of(7)) == []


async def test_the_sweep_leaves_what_a_touch_has_extended(state: State) -> None:
    day = 86_400
    one, other = (session(name)._replace(absolute_end=NOW + 30 * day) for name in ("touched", "left"))
    for stored in (one, other):
        await state.open_session(stored, 50)
    touched = await state.touch_session(one.id, NOW + 1, NOW + 5 * day)
    later = NOW + 100 + EXPIRED_KEPT_SECONDS + day
    swept = list((await state.sweep(later)).sessions)
    _, gone = await state.open_session(session("new", opened=later, ends=later + 10), 50)
    assert [(*swept, *gone)] == [(other,)]
    assert await state.touch_session(one.id, later, later) == touched
    last = NOW + 5 * day + EXPIRED_KEPT_SECONDS
    swept = list((await state.sweep(last)).sessions)
    _, gone = await state.open_session(session("last", opened=last, ends=last + 10), 50)
    assert one.id in {left.id for left in (*swept, *gone)}


async def test_of_many_ends_at_once_one_gets_the_session(states: Opener) -> None:
    nodes = [states(), states()]
    await nodes[0].open_session(session(), 50)
    ended = await asyncio.gather(*(nodes[i % 2].end_session(session().id) for i in range(20)))
    assert [one for one in ended if one] == [session()]
    assert await nodes[1].session_status(session().id) is None
    assert await nodes[1].rotate_session(session().id, 1, NOW, NOW + 1) is None


async def test_an_end_is_seen_by_another_node_at_once(states: Opener) -> None:
    one, other = states(), states()
    for number in range(50):
        name = f"n{number}"
        await one.open_session(session(name), 100)
        assert await other.session_status(session(name).id) is not None
        await one.end_session(session(name).id)
        assert await other.session_status(session(name).id) is None


async def test_sessions_of_a_user_come_oldest_first(state: State) -> None:
    for name, opened in (("c", 3.0), ("a", 1.0), ("b", 2.0)):
        await state.open_session(session(name, opened=NOW + opened), 50)
    await state.open_session(session("z", user=8), 50)
    assert [one.id[2] for one in await state.sessions_of(7)] == ["a", "b", "c"]
    assert await state.sessions_of(9) == []


async def test_one_session_too_many_ends_the_oldest(state: State) -> None:
    for number in range(4):
        await state.open_session(session(f"n{number}", opened=NOW + number), 4)
    await state.open_session(session("other", user=8), 4)
    _, gone = await state.open_session(session("new", opened=NOW + 9), 3)
    assert [one.id[2:4] for one in gone] == ["n0", "n1"]
    assert [one.id[2:4] for one in await state.sessions_of(7)] == ["n2", "n3", "ne"]
    assert len(await state.sessions_of(8)) == 1


async def test_all_sessions_of_a_user_end_but_the_one_that_is_kept(state: State) -> None:
    for name in "abc":
        await state.open_session(session(name, opened=NOW + ord(name)), 50)
    await state.open_session(session("z", user=8), 50)
    ended = await state.end_sessions_of(7, session("b").id)
    assert [one.id[2] for one in ended] == ["a", "c"]
    assert [one.id[2] for one in await state.sessions_of(7)] == ["b"]
    assert len(await state.end_sessions_of(7)) == 1
    assert await state.end_sessions_of(7) == []
    assert len(await state.sessions_of(8)) == 1


async def test_a_session_that_ended_by_time_can_still_be_told_from_a_forgery(state: State) -> None:
    over = session(ends=NOW + 1)
    await state.open_session(over, 50)
    await state.sweep(NOW + 2)
    assert list(await state.sessions_of(7)) == [over]
    assert await state.session_status(over.id) == (7, NOW + 1, 0)


async def test_what_ended_long_ago_goes_with_the_sweep_or_the_next_login(state: State) -> None:
    await state.open_session(session("old"), 50)
    later = NOW + 100 + EXPIRED_KEPT_SECONDS
    swept = list((await state.sweep(later)).sessions)
    _, gone = await state.open_session(session("new", opened=later, ends=later + 10), 50)
    assert [one.id[2:5] for one in (*swept, *gone)] == ["old"]
    assert [one.id[2:5] for one in await state.sessions_of(7)] == ["new"]


async def test_every_reading_of_a_session_carries_the_epoch(states: Opener) -> None:
    one, other = states(), states()
    await one.open_session(session(), 50)
    await other.raise_epochs([7], NOW)
    epoch = int(NOW * 1000)
    session_status = await one.session_status(session().id)
    rotated = await one.rotate_session(session().id, 1, NOW + 1, NOW + 50)
    opened, _ = await one.open_session(session("b"), 50)
    assert session_status is not None
    assert rotated is not None
    assert [session_status[2], rotated.session.epoch, opened.epoch] == [epoch] * 3
    assert {one.epoch for one in await one.sessions_of(7)} == {epoch}


async def test_an_epoch_only_ever_grows(state: State) -> None:
    await state.open_session(session(), 50)
    epochs = []
    for now in (NOW, NOW, NOW - 50, NOW + 1):
        await state.raise_epochs([7, 8], now)
        session_status = await state.session_status(session().id)
        assert session_status is not None
        epochs.append(session_status[2])
    assert epochs == sorted(set(epochs))


async def test_epochs_of_many_users_are_raised_together(state: State) -> None:
    await state.raise_epochs(range(1, 2501), NOW)
    for user in (1, 1000, 2500):
        opened, _ = await state.open_session(session(user=user), 50)
        assert opened.epoch == int(NOW * 1000)
    await state.raise_epochs([], NOW)


async def test_the_epoch_outlives_the_sessions(state: State) -> None:
    await state.raise_epochs([7], NOW)
    await state.open_session(session(), 50)
    await state.end_sessions_of(7)
    opened, _ = await state.open_session(session("b"), 50)
    assert opened.epoch == int(NOW * 1000)


async def test_a_state_file_of_an_earlier_release_is_brought_along(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    SQLiteState(path)._writer.close()
    with apsw.Connection(str(path)) as before:
        before.execute("DROP INDEX sessions_by_day; PRAGMA user_version = 1")
        before.execute("ALTER TABLE sessions DROP COLUMN day; ALTER TABLE sessions DROP COLUMN proof")
        before.execute("CREATE INDEX sessions_by_end ON sessions (ends)")
        before.execute("INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", session()[:9])
    state = SQLiteState(path)
    assert list(await state.sessions_of(7)) == [session()._replace(proof="")]
    assert await state.touch_session(session().id, NOW, NOW) == session()._replace(proof="")
    assert [one.id for one in (await state.sweep(NOW + 100 + EXPIRED_KEPT_SECONDS)).sessions] == [session().id]
    await state.close()


# What SQLite remembers between commits


@pytest.fixture
async def file_state(tmp_path: Path) -> AsyncIterator[SQLiteState]:
    state = SQLiteState(tmp_path / "state.db")
    yield state
    await state.close()


async def test_a_session_is_read_again_only_after_a_commit(file_state: SQLiteState) -> None:
    for name in ("a", "b"):
        await file_state.open_session(session(name), 50)

    async def reads() -> int:
        before = file_state.counts()["read"]
        for _ in range(10):
            assert await file_state.session_status(session("a").id) == (7, NOW + 100, 0)
            assert await file_state.session_status("7-nobody") is None  # is not remembered: it may come
        return file_state.counts()["read"] - before - 10

    assert [await reads(), await reads()] == [1, 0]
    await file_state.touch_session(session("b").id, NOW, NOW + 500)
    assert [await reads(), await reads()] == [1, 0]
    await file_state.end_session(session("b").id)
    assert [await reads(), await reads()] == [1, 0]


async def test_nothing_is_remembered_on_the_word_of_a_header_of_another_kind(
    file_state: SQLiteState, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commit_detector, "_FORMAT", b"else")
    await file_state.open_session(session(), 50)
    before = file_state.counts()["read"]
    for _ in range(10):
        assert await file_state.session_status(session().id) == (7, NOW + 100, 0)
    assert file_state.counts()["read"] - before == 10


async def test_so_many_sessions_are_remembered_and_no_more(
    file_state: SQLiteState, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "STATUS_CACHE_SIZE", 5)
    for number in range(20):
        await file_state.open_session(session(f"n{number}"), 50)
    for _ in range(3):
        for number in range(20):
            assert await file_state.session_status(session(f"n{number}").id) is not None
    assert len(file_state._status_cache) == 5


# Changes the one session as often as it is told to, each time in a transaction of its own, and says so afterwards.
OTHER_PROCESS = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
for line in sys.stdin:
    db.execute(line)
    print("done", flush=True)
"""


async def test_every_commit_of_another_process_is_seen_at_once(file_state: SQLiteState, tmp_path: Path) -> None:
    await file_state.open_session(session(), 50)
    with subprocess.Popen(
        [sys.executable, "-c", OTHER_PROCESS, str(tmp_path / "state.db")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as other:  # fmt: skip

        def tell(statement: str) -> None:
            assert other.stdin is not None
            assert other.stdout is not None
            other.stdin.write(statement + "\n")
            other.stdin.flush()
            assert other.stdout.readline() == "done\n"

        for number in range(1, 301):
            assert await file_state.session_status(session().id) == (7, NOW + 99 + number, 0)
            tell("UPDATE sessions SET ends = ends + 1")
            if number % 50 == 0:
                tell("PRAGMA wal_checkpoint(TRUNCATE)")  # the log begins anew, and so does what describes it
        assert await file_state.session_status(session().id) == (7, NOW + 400, 0)
        tell("DELETE FROM sessions")
        assert await file_state.session_status(session().id) is None


async def test_a_file_behind_a_link_is_watched_where_it_stands(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "state.db").symlink_to(tmp_path / "elsewhere" / "real.db")
    (tmp_path / "state.db-shm").write_bytes(bytes(32_768))  # left behind from before it was moved
    state = SQLiteState(tmp_path / "state.db")
    await state.open_session(session(), 50)
    assert await state.session_status(session().id) == (7, NOW + 100, 0)
    await state.end_session(session().id)
    assert await state.session_status(session().id) is None
    await state.close()


async def test_without_the_cache_every_request_reads_the_file(tmp_path: Path) -> None:
    state = SQLiteState(tmp_path / "state.db", cache=False)
    await state.open_session(session(), 50)
    before = state.counts()["read"]
    for _ in range(5):
        assert await state.session_status(session().id) == (7, NOW + 100, 0)
    assert state.counts()["read"] - before == 5
    await state.close()
