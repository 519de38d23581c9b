"""Expiring values in state, changed by compare-and-swap, on every engine."""

from __future__ import annotations

import asyncio
from pathlib import Path

import apsw

from gatehouse.stores.state.protocol import State
from gatehouse.stores.state.redis.engine import RedisState
from gatehouse.stores.state.sqlite.engine import SQLiteState
from gatehouse.stores.state.sqlite.state_file import SCHEMA
from tests.stores.conftest import Opener

NOW = 1_900_000_000.5
ODD = "a b {c} 漢\n"


async def test_a_value_is_kept_until_it_expires(state: State) -> None:
    assert await state.value(ODD, NOW) is None
    assert await state.compare_and_set(ODD, None, ODD, NOW + 10, NOW)
    assert await state.value(ODD, NOW + 9.9) == ODD
    assert await state.value(ODD, NOW + 10) is None
    assert await state.value("another", NOW) is None


async def test_a_value_is_replaced_only_by_who_knows_it(state: State) -> None:
    assert not await state.compare_and_set("k", "first", "second", NOW + 10, NOW)
    assert await state.compare_and_set("k", None, "first", NOW + 10, NOW)
    assert not await state.compare_and_set("k", None, "second", NOW + 10, NOW)
    assert not await state.compare_and_set("k", "other", "second", NOW + 10, NOW)
    assert await state.compare_and_set("k", "first", "", NOW + 10, NOW)
    assert await state.value("k", NOW) == ""
    assert not await state.compare_and_set("k", None, "second", NOW + 10, NOW), "empty is not nothing"
    assert await state.compare_and_set("k", "", "second", NOW + 10, NOW)


async def test_what_has_expired_counts_as_nothing(state: State) -> None:
    assert await state.compare_and_set("k", None, "first", NOW + 10, NOW)
    assert not await state.compare_and_set("k", "first", "second", NOW + 30, NOW + 10)
    assert await state.compare_and_set("k", None, "second", NOW + 30, NOW + 10)
    assert await state.value("k", NOW + 20) == "second"


async def test_of_many_at_once_one_succeeds(states: Opener) -> None:
    nodes = [states(), states()]
    swaps = (nodes[i % 2].compare_and_set("k", None, str(i), NOW + 60, NOW) for i in range(40))
    assert sum(await asyncio.gather(*swaps)) == 1
    held = await nodes[0].value("k", NOW)
    swaps = (nodes[i % 2].compare_and_set("k", held, f"again {i}", NOW + 60, NOW) for i in range(40))
    assert sum(await asyncio.gather(*swaps)) == 1


async def test_expired_values_are_swept(tmp_path: Path) -> None:
    state = SQLiteState(tmp_path / "state.db")
    await state.compare_and_set("old", None, "x", NOW + 10, NOW)
    await state.compare_and_set("new", None, "x", NOW + 100, NOW)
    await state.sweep(NOW + 50)
    rows = apsw.Connection(str(tmp_path / "state.db")).execute("SELECT key FROM expiring_values").fetchall()
    await state.close()
    assert rows == [("new",)]


async def test_a_sweep_says_whether_there_is_more(state: State) -> None:
    """Whoever fills a table with what expires must not do it faster than it is swept."""
    await asyncio.gather(*(state.compare_and_set(f"value {n}", None, "x", NOW + 10, NOW) for n in range(1100)))
    assert not (await state.sweep(NOW)).more
    passes = 1
    while (await state.sweep(NOW + 50)).more:
        passes += 1
    assert passes == (1 if isinstance(state, RedisState) else 3)


async def test_a_state_file_of_the_first_release_gains_the_table(tmp_path: Path) -> None:
    connection = apsw.Connection(str(tmp_path / "state.db"))
    connection.execute(SCHEMA + "ALTER TABLE sessions DROP COLUMN proof; PRAGMA user_version = 2")
    connection.close()
    state = SQLiteState(tmp_path / "state.db")
    assert await state.compare_and_set("k", None, "x", NOW + 10, NOW)
    await state.close()
