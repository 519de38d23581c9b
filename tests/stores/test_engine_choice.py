"""Two settings choose the engines; what cannot be used is told in one line that names the setting."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from gatehouse.composition import open_database, open_state
from gatehouse.settings import Settings, SettingsError, load
from gatehouse.stores import state
from gatehouse.stores.state import postgres, redis
from tests.support.running import Running, free_port


def settings(tmp_path: Path, **given: str) -> Settings:
    return load({"data_dir": str(tmp_path), **given}, environ={})


_ENGINES = ("gatehouse.stores.state.redis", "gatehouse.stores.state.postgres")


@pytest.mark.parametrize(
    ("choose", "name", "url", "driver", "extra"),
    [
        (open_state, "state_url", "redis://localhost", "hiredis", "with [redis]"),
        (open_state, "state_url", "postgresql://localhost/x", "asyncpg", "with [postgres]"),
        (open_database, "database_url", "postgresql://localhost/x", "asyncpg", "with [postgres]"),
    ],
)
def test_a_missing_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, choose: object, name: str, url: str, driver: str, extra: str
) -> None:
    for engine in (redis, postgres):  # an import that fails half way leaves another package there
        monkeypatch.setattr(state, engine.__name__.rpartition(".")[2], engine)
    for module in [module for module in sys.modules if module.startswith(_ENGINES)]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, driver, None)
    with pytest.raises(SettingsError) as refusal:
        choose(settings(tmp_path, **{name: url}))  # type: ignore[operator]
    [problem] = refusal.value.problems
    assert f"GATEHOUSE_{name.upper()}" in problem
    assert extra in problem


@pytest.mark.parametrize(
    ("choose", "name", "url"),
    [
        (open_state, "state_url", "memcached://:hush@localhost"),
        (open_state, "state_url", "redis://:hush@localhost:port"),
        (open_state, "state_url", "postgresql://u:hush@localhost:port/x"),
        (open_state, "state_url", "postgresql://u:hush@localhost"),
        (open_database, "database_url", "oracle://u:hush@localhost/x"),
        (open_database, "database_url", "not a url hush"),
    ],
)
def test_a_url_that_cannot_be_used_is_not_repeated(tmp_path: Path, choose: object, name: str, url: str) -> None:
    with pytest.raises(SettingsError) as refusal:
        choose(settings(tmp_path, **{name: url}))  # type: ignore[operator]
    [problem] = refusal.value.problems
    assert f"GATEHOUSE_{name.upper()}" in problem
    assert "hush" not in problem


@pytest.mark.full
def test_a_database_that_is_not_there_ends_the_start_in_one_line(tmp_path: Path) -> None:
    running = Running(tmp_path / "data", database_url=f"postgresql://u:hush@127.0.0.1:{free_port()}/x")
    done = running.cli("serve")
    assert done.returncode == 3
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert "hush" not in done.stderr + done.stdout
