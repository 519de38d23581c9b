"""`gatehouse migrate` and `gatehouse doctor`: a machine that is being set up, and one that has a fault."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

import pytest

from gatehouse.server.preparation import prepare
from gatehouse.settings import load
from tests.cli.terminal import Outcome, Terminal
from tests.support.running import Running, environment, free_port


@pytest.fixture
def fresh(tmp_path: Path) -> Terminal:
    return Terminal(environment(tmp_path / "data", free_port(), limits="on", captcha_test_answer=""))


def test_migrate_says_what_it_did_and_does_it_once(fresh: Terminal) -> None:
    needed = fresh("migrate", "--check")
    assert (needed.code, needed.out) == (1, "The accounts are at version none, this release needs 0005.\n")
    assert not Path(fresh.env["GATEHOUSE_DATA_DIR"]).exists()
    assert fresh("migrate").done() == "Migrated the accounts from version none to 0005.\n"
    assert fresh("migrate").done() == "The accounts are at version 0005: nothing to do.\n"
    assert fresh("migrate", "--check", "--json").json == {"before": "0005", "after": "0005", "backup": None}
    data = Path(fresh.env["GATEHOUSE_DATA_DIR"])
    assert {path.stat().st_mode & 0o077 for path in [data, *data.iterdir()]} == {0}


def found(outcome: Outcome) -> dict[str, str]:
    """What doctor says, by check."""
    return {each["check"]: each["level"] for each in json.loads(outcome.out)}


def test_doctor_is_content_with_a_running_service(server: Running) -> None:
    outcome = Terminal(server.env)("doctor", "--json")
    assert outcome.code == 0
    findings = [tuple(each.values()) for each in json.loads(outcome.out)]
    assert len(set(findings)) == len(findings)
    levels = found(outcome)
    assert {name for name, level in levels.items() if level == "ok"} >= {
        "settings", "secret", "files", "users", "signing keys", "clock", "workers", "proxies", "issuer", "cors",
    }  # fmt: skip
    assert levels["test switches"] == "warn"
    # Servers of one's own may be set up in ways that doctor advises against; those of the tests are made for speed.
    assert {levels["accounts"], levels["state"], levels["space"]} <= {"ok", "warn"}
    page = Terminal(server.env)("doctor").done()
    assert "-> unset GATEHOUSE_LIMITS before production use" in page


def test_doctor_finds_that_nothing_is_there_yet(fresh: Terminal) -> None:
    outcome = fresh("doctor", "--json")
    assert outcome.code == 1
    assert (found(outcome)["secret"], found(outcome)["stores"]) == ("fail", "fail")
    assert not Path(fresh.env["GATEHOUSE_DATA_DIR"]).exists()


def test_doctor_finds_wrong_settings(fresh: Terminal) -> None:
    fresh.env["GATEHOUSE_PORT"] = "many"
    outcome = fresh("doctor")
    assert (outcome.code, outcome.err) == (1, "")
    assert outcome.out.startswith("fail settings      GATEHOUSE_PORT: expected a whole number")


@pytest.mark.full
def test_doctor_and_the_start_name_a_misspelled_variable(stopped: Running) -> None:
    stopped.env["GATEHOUSE_ISUER"] = "https://login.example.com"
    page = Terminal(stopped.env)("doctor").out
    assert "warn settings      GATEHOUSE_ISUER is ignored: there is no such setting" in page
    assert "-> did you mean GATEHOUSE_ISSUER?" in page
    with stopped:
        assert '"variable": "GATEHOUSE_ISUER", "did_you_mean": "GATEHOUSE_ISSUER"' in stopped.output()


@pytest.fixture
def stopped(tmp_path: Path) -> Running:
    """A service that ran once and is not running now."""
    running = Running(tmp_path / "data")
    asyncio.run(prepare(load(environ=running.env)))
    return running


def test_doctor_finds_what_is_amiss_with_files_keys_and_clock(
    stopped: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed = Terminal(stopped.env)
    (stopped.data / "secret").chmod(0o644)
    outcome = typed("doctor")
    assert outcome.code == 1
    assert f"-> chmod 600 {stopped.data / 'secret'}" in outcome.out
    (stopped.data / "secret").chmod(0o600)

    typed("user", "edit", "admin", "--nickname", "Chief").done()  # leaves an audit event with today's date
    past = time.time() - 3600
    with monkeypatch.context() as moved:
        moved.setattr("time.time", lambda: past)
        assert found(typed("doctor", "--json"))["clock"] == "fail"
    assert found(typed("doctor", "--json"))["clock"] == "ok"

    (stopped.data / "secret").write_text("kP3vLr9QyX2mTn7wBz5cHd8fJg4sAe6u\n")
    outcome = typed("doctor", "--json")
    assert (outcome.code, found(outcome)["signing keys"]) == (1, "fail")


@pytest.mark.parametrize(
    ("setting", "value", "check", "level"),
    [
        ("TRUSTED_PROXIES", "0.0.0.0/0", "proxies", "fail"),
        ("TRUSTED_PROXIES", "127.0.0.1,10.0.0.0/8", "proxies", "warn"),
        ("TRUSTED_PROXIES", "fd00::/8", "proxies", "warn"),
        ("TRUSTED_PROXIES", "10.1.0.0/16,fd00:1:2::/48", "proxies", "ok"),
        ("ISSUER", "https://login.example.com", "proxies", "warn"),
        ("CORS_ORIGINS", "*", "cors", "warn"),
        ("WORKERS", "256", "workers", "warn"),
        ("HOST", "0.0.0.0", "issuer", "warn"),
        ("SECRET", "short", "secret", "fail"),
        ("SECOND_FACTOR_ROLES", "admin", "second factor", "fail"),
        ("ISSUER", "http://localhost:8000", "proxies", "ok"),
        ("DATABASE_URL", "postgresql://nobody@127.0.0.1:1/none", "accounts", "fail"),
    ],
)
def test_doctor_finds_settings_that_are_valid_and_unwise(
    fresh: Terminal, setting: str, value: str, check: str, level: str
) -> None:
    fresh("migrate").done()
    fresh.env |= {"GATEHOUSE_SECRET": "kP3vLr9QyX2mTn7wBz5cHd8fJg4sAe6u", f"GATEHOUSE_{setting}": value}
    assert found(fresh("doctor", "--json"))[check] == level
