"""`gatehouse audit`: what was done is told, by filter, as a table, as JSON Lines, and as it happens."""

from __future__ import annotations

import json
import secrets
import signal
import subprocess
import sys
from typing import Any

import httpx

from gatehouse.auth.audit import Event
from gatehouse.common.os_user import os_user
from tests.cli.conftest import PASSPHRASE
from tests.cli.terminal import Terminal
from tests.support.conversation import LOGIN, LOGOUT, bearer, credentials, login
from tests.support.running import Running
from tests.support.waiting import PATIENCE, wait_until


def events(typed: Terminal, *words: str) -> list[dict[str, Any]]:
    outcome = typed("audit", *words, "--json")
    assert (outcome.code, outcome.err) == (0, "")
    return [json.loads(line) for line in outcome.out.splitlines()]


def eventually(typed: Terminal, *words: str, number: int) -> list[dict[str, Any]]:
    """The service writes its events a moment after it has answered."""

    def enough() -> list[dict[str, Any]]:
        found = events(typed, *words)
        return found if len(found) >= number else []

    return wait_until(enough, lambda: f"{number} events in {events(typed, *words)}")


def test_what_a_user_and_an_operator_did_is_told_in_order(client: httpx.Client, typed: Terminal, somebody: str) -> None:
    tokens = login(client, username=somebody, password=PASSPHRASE)
    client.post(LOGIN, json=credentials(client, username=somebody, password="wrong"))
    client.post(LOGOUT, headers=bearer(tokens))
    eventually(typed, "--user", somebody, number=5)
    typed("user", "disable", somebody).done()
    told = events(typed, "--user", somebody)
    assert [each["event"] for each in told] == [
        "user.added", "login", "login.failed", "session.ended", "logout", "user.disabled",
    ]  # fmt: skip
    added, entered, failed, ended, _, disabled = told
    assert (added["address"], entered["address"], disabled["address"]) == ("cli", "127.0.0.1", "cli")
    assert (failed["reason"], ended["reason"]) == ("password", "logout")
    assert added["detail"] == {"username": somebody, "roles": []}
    assert {each["username"] for each in told} == {somebody}
    assert entered["session"] == ended["session"]
    assert entered["request"]
    table = typed("audit", "--user", somebody).done()
    assert "login.failed" in table
    assert "username=" in table
    assert "\x1b" not in table


def test_the_table_says_who_made_a_change(client: httpx.Client, typed: Terminal, somebody: str) -> None:
    new = {"username": f"{somebody}-2", "nickname": "Two"}
    client.post("/api/v1/users", headers=bearer(login(client)), json=new).raise_for_status()
    (by_api,) = eventually(typed, "--user", f"{somebody}-2", number=1)
    (by_command,) = events(typed, "--user", somebody)
    assert (by_api["event"], by_api["actor"], by_api["by"]) == ("user.added", 1, "admin")
    by = f"command line ({os_user()})"
    assert (by_command["event"], by_command["actor"], by_command["by"]) == ("user.added", None, by)
    login(client, username=somebody, password=PASSPHRASE)
    assert eventually(typed, "--user", somebody, number=2)[-1]["by"] is None
    heading, _, row = typed("audit", "--user", f"{somebody}-2").done().splitlines()
    assert row[heading.index("BY") :].startswith("admin ")


def test_filters(client: httpx.Client, typed: Terminal, somebody: str, tokens: dict[str, object]) -> None:
    eventually(typed, "--user", somebody, "--event", "login", number=1)
    assert [each["event"] for each in events(typed, "--user", somebody, "--event", "login")] == ["login"]
    assert len(events(typed, "--user", somebody, "--event", "login", "--event", "user.added")) == 2
    assert [each["event"] for each in events(typed, "--user", somebody, "--limit", "1")] == ["login"]
    assert len(events(typed, "--user", somebody, "--since", "1h")) == 2
    assert len(events(typed, "--user", somebody, "--since", "2026-01-01")) == 2
    assert events(typed, "--user", somebody, "--since", "2126-01-01T00:00:00Z") == []
    assert typed("audit", "--user", somebody, "--since", "2126-01-01").done() == "No events.\n"


def test_a_deleted_user_is_found_by_its_id(typed: Terminal, somebody: str) -> None:
    number = typed("user", "show", somebody, "--json").json["id"]
    typed("user", "delete", somebody, "--yes").done()
    told = events(typed, "--user", str(number))
    assert [each["event"] for each in told] == ["user.added", "user.deleted"]
    assert told[-1]["username"] == f"(deleted, id {number})"


def test_what_is_wrong_gets_one_line(typed: Terminal) -> None:
    assert "there is no user" in typed("audit", "--user", "nobody").refused()
    assert "'--event'" in typed("audit", "--event", "nonsense").refused()
    assert "expected 30m, 2h, 7d or a date" in typed("audit", "--since", "lately").refused()


def test_help_names_every_event(typed: Terminal) -> None:
    page = " ".join(typed("audit", "--help").done().split())
    assert all(event.value in page for event in Event)


def test_follow_prints_events_as_they_happen_until_interrupted(server: Running) -> None:
    typed, somebody = Terminal(server.env), f"followed{secrets.token_hex(4)}"
    assert server.cli("user", "add", somebody, "--password-stdin", stdin=PASSPHRASE + "\n").returncode == 0
    with subprocess.Popen(
        [sys.executable, "-m", "gatehouse", "audit", "--user", somebody, "--follow", "--json"],
        env=server.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    ) as following:  # fmt: skip
        assert following.stdout is not None
        try:
            assert json.loads(following.stdout.readline())["event"] == "user.added"
            with server.client() as client:
                login(client, username=somebody, password=PASSPHRASE)
            assert json.loads(following.stdout.readline())["event"] == "login"
            typed("user", "disable", somebody).done()
            assert json.loads(following.stdout.readline())["event"] == "user.disabled"
            assert json.loads(following.stdout.readline())["event"] == "session.ended"
            following.send_signal(signal.SIGINT)
            out, err = following.communicate(timeout=PATIENCE)
        finally:
            following.kill()
    assert (following.returncode, out, err) == (0, "", "")
