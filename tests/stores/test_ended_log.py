"""The log of ended sessions, on every engine: written with the end, read by position, honest about what is missing."""

from __future__ import annotations

import asyncio
import time

import pytest

from gatehouse.stores.state.protocol import EndRecord, Session, State
from tests.stores.conftest import Opener

NOW = time.time()
KEEP = 7200


def session(name: str = "a", user: int = 7, *, opened: float = NOW, ends: float = NOW + 100_000) -> Session:
    return Session(f"{user}-{name:x<22}", user, 1, opened, opened, ends, ends + 1000, "192.0.2.1", "agent")


def end_record(reason: str = "logout", *, at: float = NOW + 1, credential_changed: bool = False) -> EndRecord:
    return EndRecord(at, reason, KEEP, credential_changed)


async def read(state: State, after: str = "") -> list[tuple[str, str]]:
    page = await state.ended_sessions(after, 1000)
    assert page.complete
    return [(entry.session, entry.reason) for entry in page.entries]


async def test_an_end_is_in_the_log_on_every_node_when_it_is_answered(states: Opener) -> None:
    one, other = states(), states()
    await one.open_session(session(), 50)
    assert await other.ended_position() == ""
    ended = await one.end_session(session().id, end_record())
    assert ended is not None
    page = await other.ended_sessions("", 1000)
    [entry] = page.entries
    assert (entry.session, entry.at, entry.reason) == (session().id, NOW + 1, "logout")
    assert page == (page.entries, entry.position, True)
    assert await other.ended_position() == entry.position


async def test_an_end_that_finds_nothing_is_no_entry(state: State) -> None:
    assert await state.end_session(session().id, end_record()) is None
    await state.end_sessions_of(7, end_record=end_record("operator"))
    await state.open_session(session(), 50)
    await asyncio.gather(*(state.end_session(session().id, end_record()) for _ in range(10)))
    assert await read(state) == [(session().id, "logout")]


async def test_without_an_ending_nothing_is_logged(state: State) -> None:
    await state.open_session(session(), 50)
    await state.end_session(session().id)
    assert await read(state) == []


async def test_all_sessions_of_a_user_but_one(state: State) -> None:
    for name in "abc":
        await state.open_session(session(name), 50)
    await state.open_session(session("z", user=8), 50)
    await state.end_sessions_of(7, session("b").id, end_record("user"))
    assert sorted(await read(state)) == [(session("a").id, "user"), (session("c").id, "user")]


async def test_a_changed_credential_is_an_entry_of_the_user_even_without_sessions(state: State) -> None:
    await state.end_sessions_of(7, end_record=end_record("password", credential_changed=True))
    assert await read(state) == [("7", "password")]
    await state.open_session(session(), 50)
    await state.end_sessions_of(7, end_record=end_record("disabled", credential_changed=True))
    assert await read(state) == [("7", "password"), ("7", "disabled"), (session().id, "disabled")]


async def test_those_that_go_for_a_new_session(state: State) -> None:
    for number in range(3):
        await state.open_session(session(f"n{number}", opened=NOW + number), 3)
    await state.open_session(session("new", opened=NOW + 9), 2, end_record("limit", at=NOW + 9))
    assert await read(state) == [(session("n0").id, "limit"), (session("n1").id, "limit")]


async def test_what_had_ended_by_time_needs_no_entry(state: State) -> None:
    await state.open_session(session(ends=NOW + 10), 50)
    await state.end_session(session().id, end_record(at=NOW + 10))
    await state.open_session(session("b", ends=NOW + 10), 50)
    await state.end_sessions_of(7, end_record=end_record(at=NOW + 11))
    await state.open_session(session("c", ends=NOW + 10), 50)
    await state.open_session(session("d", opened=NOW + 20), 1, end_record("limit", at=NOW + 20))
    assert await read(state) == []


async def test_a_reader_goes_on_where_it_stood(state: State) -> None:
    seen, position = [], ""
    for name in "abcde":
        await state.open_session(session(name), 50)
        await state.end_session(session(name).id, end_record())
    for _ in range(4):
        page = await state.ended_sessions(position, 2)
        seen += [entry.session for entry in page.entries]
        position = page.position
    assert seen == [session(name).id for name in "abcde"]
    assert await state.ended_sessions(position, 2) == ([], position, True)


async def test_entries_go_when_they_can_matter_no_more(state: State) -> None:
    old = NOW - KEEP - 600
    await state.open_session(session("old"), 50)
    await state.end_session(session("old").id, end_record(at=old))
    position = await state.ended_position()
    await state.sweep(NOW)
    assert await state.ended_sessions(position, 10) == ([], position, True), "nothing was missed that matters"
    await state.open_session(session("new"), 50)
    await state.end_session(session("new").id, end_record())
    assert (session("new").id, "logout") in await read(state, position)


async def test_a_server_whose_clock_differs_keeps_what_matters(state: State) -> None:
    ahead, number = NOW + 10 * KEEP, 300  # a stream is trimmed in steps of a hundred entries

    async def end(each: int) -> None:
        await state.open_session(session(f"n{each}", opened=ahead, ends=ahead + KEEP), 5000)
        await state.end_session(session(f"n{each}").id, end_record(at=ahead))

    await asyncio.gather(*map(end, range(number)))
    assert len(await read(state)) == number


async def test_too_many_entries_push_the_oldest_out_and_a_reader_who_missed_them_is_told(
    states: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    most = 300
    for module in ("sqlite", "redis", "postgres"):
        monkeypatch.setattr(f"gatehouse.stores.state.{module}.ended_sessions_log.ENDED_SESSIONS_MAX", most)
    state = states()

    async def end(number: int) -> None:
        await state.open_session(session(f"n{number}"), 5000)
        await state.end_session(session(f"n{number}").id, end_record())

    await end(0)
    early = await state.ended_position()
    assert (await state.ended_sessions(early, 1)).complete
    for first in range(1, 3 * most, 50):
        await asyncio.gather(*map(end, range(first, min(first + 50, 3 * most))))
    late = await state.ended_position()
    assert not (await state.ended_sessions("", 1)).complete
    assert not (await state.ended_sessions(early, 1)).complete
    page = await state.ended_sessions("", 5000)
    assert most <= len(page.entries) < 2 * most
    assert (await state.ended_sessions(page.entries[0].position, 1)).complete, "it has seen the oldest there is"
    assert (await state.ended_sessions(late, 1)).complete


async def test_a_reader_ahead_of_the_log_is_told(states: Opener) -> None:
    state = states()
    await state.open_session(session(), 50)
    await state.end_session(session().id, end_record())
    position = await state.ended_position()
    head, dash, _ = position.partition("-")
    ahead = f"{int(head) + 1000}{dash}{'0' if dash else ''}"
    assert not (await state.ended_sessions(ahead, 10)).complete
