"""Captchas, rates, lockouts and flags in state, on every engine; and the engines against each other."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gatehouse.common.parsing import Rate
from gatehouse.stores.state.postgres.engine import PostgresState
from gatehouse.stores.state.protocol import BackoffPolicy, Failures, State
from gatehouse.stores.state.redis.engine import RedisState
from gatehouse.stores.state.sqlite.engine import SQLiteState
from tests.stores.conftest import STORE_TESTS_DB, Opener, empty_postgres
from tests.support.engines import Postgres, Redis
from tests.support.selection import cases

NOW = 1_800_000_000.5
POLICY = BackoffPolicy(failure_limit=3, window=60, lockout_seconds=(10, 20, 40), kept_seconds=1000)


async def test_a_captcha_is_used_up_once(states: Opener) -> None:
    nodes = [states(), states()]
    uses = await asyncio.gather(*(nodes[i % 2].use_captcha(b"\x00\xff{}", int(NOW) + 60, NOW) for i in range(20)))
    assert sum(uses) == 1
    assert await nodes[0].use_captcha(b"another", int(NOW) + 60, NOW)


async def test_a_rate_allows_its_count_and_then_one_an_interval(state: State) -> None:
    rate = Rate(5, 10)
    assert [await state.rate_limit("k", rate, NOW) for _ in range(5)] == [0.0] * 5
    assert await state.rate_limit("k", rate, NOW) == pytest.approx(2.0)
    assert await state.rate_limit("k", rate, NOW + 1) == pytest.approx(1.0)
    assert await state.rate_limit("k", rate, NOW + 2) == 0.0
    assert await state.rate_limit("another", rate, NOW) == 0.0
    assert [await state.rate_limit("k", rate, NOW + 100) for _ in range(6)] == [0.0] * 5 + [pytest.approx(2.0)]


async def test_a_rate_is_looked_at_and_added_to_without_being_asked(state: State) -> None:
    assert await state.rate_level("k", NOW) == 0.0
    assert await state.add_to_rate("k", -5.0, 10.0, NOW) == 0.0, "there is nothing to take out"
    assert await state.add_to_rate("k", 4.0, 10.0, NOW) == 4.0
    assert await state.add_to_rate("k", 4.0, 10.0, NOW + 1) == 7.0, "one second has passed"
    assert await state.rate_level("k", NOW + 2) == 6.0
    assert await state.add_to_rate("k", 9.0, 10.0, NOW + 2) == 10.0
    assert await state.add_to_rate("k", -3.5, 10.0, NOW + 2) == 6.5
    assert await state.rate_level("k", NOW + 100) == 0.0
    assert await state.rate_level("another", NOW) == 0.0


async def test_what_is_added_at_once_is_all_added(states: Opener) -> None:
    nodes = [states(), states()]
    await asyncio.gather(*(nodes[i % 2].add_to_rate("k", 0.5, 60.0, NOW) for i in range(20)))
    assert [await node.rate_level("k", NOW) for node in nodes] == [10.0, 10.0]


async def test_many_events_at_once_are_each_counted(states: Opener) -> None:
    nodes = [states(), states()]
    waits = await asyncio.gather(*(nodes[i % 2].rate_limit("k", Rate(7, 60), NOW) for i in range(20)))
    assert sum(wait == 0 for wait in waits) == 7


async def test_failures_turn_into_growing_waits(state: State) -> None:
    for _ in range(2):
        failures = await state.record_failure("name|here", POLICY, NOW)
        assert failures is not None
        assert failures.until == 0
    third = await state.record_failure("name|here", POLICY, NOW)
    assert third == Failures("name|here", 3, NOW, 1, NOW + 10)
    assert await state.record_failure("name|here", POLICY, NOW + 9) is None
    assert await state.record_failure("name|here", POLICY, NOW + 10) == Failures("name|here", 4, NOW + 10, 2, NOW + 30)
    assert await state.failures("name|here") == Failures("name|here", 4, NOW + 10, 2, NOW + 30)
    assert await state.failures("name|elsewhere") is None


async def test_many_failures_at_once_are_each_counted(states: Opener) -> None:
    nodes = [states(), states()]
    counted = await asyncio.gather(*(nodes[i % 2].record_failure("k", POLICY, NOW) for i in range(20)))
    assert sorted(one.failures for one in counted if one) == [1, 2, 3]


async def test_those_who_wait_are_listed_longest_first(state: State) -> None:
    for key, at, failures in (("a b {c} 漢", NOW, 3), ("b", NOW + 1, 3), ("free", NOW + 1, 2)):
        for _ in range(failures):
            await state.record_failure(key, POLICY, at)
    assert await state.locked(NOW + 5) == [await state.failures("b"), await state.failures("a b {c} 漢")]
    assert [one.key for one in await state.locked(NOW + 10)] == ["b"]
    await state.record_failure("b", POLICY, NOW + 11)
    assert await state.locked(NOW + 30) == [Failures("b", 4, NOW + 11, 2, NOW + 31)]
    assert await state.locked(NOW + 31) == []


async def test_failures_are_forgiven(state: State) -> None:
    for _ in range(3):
        await state.record_failure("k", POLICY, NOW)
    assert await state.clear_failures("k") is True
    assert await state.clear_failures("k") is False
    assert await state.failures("k") is None
    assert await state.locked(NOW) == []


async def test_a_mark_is_remembered_until_it_expires(state: State) -> None:
    assert not await state.has_flag("m", NOW)
    await state.set_flag("m", NOW + 10, NOW)
    assert await state.has_flag("m", NOW)
    assert await state.has_flag("m", NOW + 9.9)
    assert not await state.has_flag("m", NOW + 10)
    await state.set_flag("m", NOW + 20, NOW + 5)
    assert await state.has_flag("m", NOW + 15)


async def test_the_engine_answers_and_says_what_it_lacks(state: State) -> None:
    await state.ping()
    # The PostgreSQL server of the tests runs without fsync, because it is quicker.
    lacking = ["fsync is off"] if isinstance(state, PostgresState) else []
    assert [str(warning).partition(":")[0] for warning in await state.configuration_warnings()] == lacking
    assert "acknowledged" in str(await state.durability())


# A walk: each step lets some time pass and then does one thing.
STEPS = st.lists(
    st.tuples(
        st.floats(0, 120).map(lambda seconds: math.floor(seconds * 8) / 8),
        st.sampled_from(["fail", "fail", "fail", "take", "add", "give", "level", "clear", "locked", "failures"]),
        st.sampled_from(["one", "two"]),
    ),
    min_size=1,
    max_size=40,
)
RULES = st.builds(
    BackoffPolicy,
    failure_limit=st.integers(1, 4),
    window=st.integers(1, 120),
    lockout_seconds=st.lists(st.integers(1, 60), min_size=1, max_size=4).map(lambda each: tuple(sorted(each))),
    kept_seconds=st.integers(1, 300),
)


async def walk(state: State, rules: BackoffPolicy, steps: list[tuple[float, str, str]]) -> list[object]:
    now, seen = NOW, list[object]()
    for pause, what, key in steps:
        now += pause
        match what:
            case "fail":
                seen.append(await state.record_failure(key, rules, now))
            case "take":
                seen.append(await state.rate_limit(key, Rate(rules.failure_limit, rules.window), now))
            case "add":
                seen.append(await state.add_to_rate(key, rules.window / 4, rules.kept_seconds, now))
            case "give":
                seen.append(await state.add_to_rate(key, -rules.window / 2, rules.kept_seconds, now))
            case "level":
                seen.append(await state.rate_level(key, now))
            case "clear":
                await state.clear_failures(key)  # what was left of a forgotten record, one engine may still have
            case "locked":
                locked = await state.locked(now)
                ends = [each.until for each in locked]
                assert ends == sorted(ends, reverse=True)
                seen.append(sorted(locked))  # which of two equal waits comes first is up to the engine
            case "failures":
                found = await state.failures(key)
                seen.append(found if found and found.until > now else None)
    return seen


@given(rules=RULES, steps=STEPS)
@settings(max_examples=cases(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_engines_agree_on_the_rule_of_waiting(
    redis_server: Redis,
    postgres_server: Postgres,
    tmp_path_factory: pytest.TempPathFactory,
    rules: BackoffPolicy,
    steps: list[tuple[float, str, str]],
) -> None:
    async def run(state: State) -> list[object]:
        try:
            return await walk(state, rules, steps)
        finally:
            await state.close()

    async def each() -> list[list[object]]:
        folder: Path = tmp_path_factory.mktemp("walk")
        return [
            await run(SQLiteState(folder / "state.db")),
            await run(RedisState(redis_server.emptied(STORE_TESTS_DB))),
            await run(PostgresState(await empty_postgres(postgres_server))),
        ]

    on_sqlite, on_redis, on_postgres = asyncio.run(each())
    assert on_sqlite == on_redis
    assert on_sqlite == on_postgres
