"""`gatehouse session`: what is ended is refused by every worker from that moment on."""

from __future__ import annotations

import httpx

from tests.cli.conftest import PASSPHRASE
from tests.cli.terminal import Terminal
from tests.support.conversation import ME, assert_failure, bearer, login, refresh


def test_sessions_are_listed_with_where_from(client: httpx.Client, typed: Terminal, somebody: str) -> None:
    client.headers["user-agent"] = "Mozilla/5.0 (X11; Linux x86_64) Firefox/145.0"
    refresh(client, login(client, username=somebody, password=PASSPHRASE))
    login(client, username=somebody, password=PASSPHRASE)
    newest, oldest = typed("session", "list", somebody, "--json").json
    assert newest["refreshed"] is None
    assert oldest["refreshed"] >= oldest["opened"]
    assert (oldest["username"], oldest["address"]) == (somebody, "127.0.0.1")
    assert oldest["agent"] == client.headers["user-agent"]
    table = typed("session", "list", somebody).done()
    assert oldest["id"] in table
    assert oldest["opened"][:10] in table
    assert "in 7 d" in table
    assert "Firefox on Linux" in table


def test_sessions_of_all_users_are_listed_up_to_a_limit(
    typed: Terminal, somebody: str, tokens: dict[str, object]
) -> None:
    everybody = typed("session", "list", "--all", "--limit", "100000", "--json").json
    assert somebody in {each["username"] for each in everybody}
    cut = typed("session", "list", "--all", "--limit", "1")
    assert len(typed("session", "list", "--all", "--limit", "1", "--json").json) == 1
    assert cut.code == 0


def test_one_session_is_ended_by_its_id(client: httpx.Client, typed: Terminal, somebody: str) -> None:
    ended, kept = (login(client, username=somebody, password=PASSPHRASE) for _ in range(2))
    number = typed("session", "list", somebody, "--json").json[1]["id"]
    assert typed("session", "end", number).done() == "Ended 1 session.\n"
    for _ in range(4):  # whichever worker answers
        assert_failure(client.get(ME, headers=bearer(ended)), 401, "A0230")
    assert_failure(refresh(client, ended), 401, "A0231")
    assert client.get(ME, headers=bearer(kept)).status_code == 200


def test_all_sessions_of_a_user_are_ended(client: httpx.Client, typed: Terminal, somebody: str) -> None:
    both = [login(client, username=somebody, password=PASSPHRASE) for _ in range(2)]
    assert typed("session", "end", "--user", somebody).done() == f"Ended 2 sessions of {somebody}.\n"
    for tokens in both:
        assert_failure(client.get(ME, headers=bearer(tokens)), 401, "A0230")
    assert typed("session", "list", somebody).done() == "No sessions.\n"


def test_what_is_wrong_gets_one_line(typed: Terminal) -> None:
    gone = typed("session", "end", "1-nothing")
    assert (gone.code, gone.err) == (2, "gatehouse: there is no session 1-nothing\n")
    assert "give ids of sessions, or --user" in typed("session", "end").refused()
    assert "give ids of sessions, or --user" in typed("session", "end", "1-x", "--user", "admin").refused()
    assert "name a user, or say --all" in typed("session", "list").refused()
    assert "name a user, or say --all" in typed("session", "list", "admin", "--all").refused()
    assert "there is no user" in typed("session", "list", "nobody").refused()
    assert "there is no user" in typed("session", "end", "--user", "nobody").refused()
