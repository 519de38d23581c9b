"""`gatehouse user`: what it changes shows on the next request of the running service."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx

from gatehouse.server.preparation import prepare
from gatehouse.settings import load
from tests.cli.conftest import PASSPHRASE
from tests.cli.terminal import Terminal
from tests.support.conversation import LOGIN, ME, assert_failure, bearer, credentials, login, refresh
from tests.support.running import Running


def test_a_user_that_was_added_logs_in_with_all_it_was_given(client: httpx.Client, typed: Terminal) -> None:
    dept = typed("dept", "add", "Office of ann", "--json").json["id"]
    options = ["--nickname", "Ann Lee", "--dept", str(dept), "--role", "ADMIN", "--avatar", "https://a.example/a.png"]
    echo = typed("user", "add", "ann", *options, "--password-stdin", stdin=PASSPHRASE + "\r\n").done()
    assert echo.startswith("Added user ann with id ")
    me = client.get(ME, headers=bearer(login(client, username="ann", password=PASSPHRASE))).json()["data"]
    assert (me["nickname"], me["deptId"], me["roles"]) == ("Ann Lee", dept, ["ADMIN"])
    assert me["avatar"] == "https://a.example/a.png"


def test_a_made_up_password_is_shown_and_works(client: httpx.Client, typed: Terminal) -> None:
    made = typed("user", "add", "made-up", "--random-password", "--json").json
    assert login(client, username="made-up", password=made["password"])
    echo = typed("user", "password", "made-up", "--random-password").done()
    assert login(client, username="made-up", password=echo.strip().rpartition(" ")[2])


def test_a_captcha_exempt_user_logs_in_without_one(client: httpx.Client, typed: Terminal, somebody: str) -> None:
    body = {"username": somebody, "password": PASSPHRASE}
    assert_failure(client.post(LOGIN, json=body), 400, "A0410")
    typed("user", "edit", somebody, "--captcha-exempt").done()
    assert client.post(LOGIN, json=body).status_code == 200
    typed("user", "edit", somebody, "--no-captcha-exempt").done()
    assert_failure(client.post(LOGIN, json=body), 400, "A0410")


def test_the_policy_holds_for_passwords_set_here(typed: Terminal, somebody: str) -> None:
    for password, why in (
        ("short", "at least 8 characters"),
        ("password123", "among the commonest"),
        (f"my {somebody}!", "must not contain the username"),
        ("", "at least 8"),
    ):
        assert why in typed("user", "password", somebody, "--password-stdin", stdin=password + "\n").refused()
    assert "commonest" in typed("user", "add", "weak", "--password-stdin", stdin="password123\n").refused()
    assert "not UTF-8" in typed("user", "password", somebody, "--password-stdin", stdin=b"\xff" * 9).refused()


def test_without_a_terminal_a_password_must_come_from_somewhere(typed: Terminal, somebody: str) -> None:
    assert "--password-stdin" in typed("user", "password", somebody, stdin=PASSPHRASE).refused()
    both = typed("user", "password", somebody, "--password-stdin", "--random-password")
    assert "exclude each other" in both.refused()


def test_names_that_are_wrong_get_one_line(typed: Terminal, somebody: str) -> None:
    assert "there is a user" in typed("user", "add", somebody.upper(), "--random-password").refused()
    assert "a username has" in typed("user", "add", " spaced ", "--random-password").refused()
    assert "there is no role 'NONE'" in typed("user", "add", "x1", "--role", "NONE", "--random-password").refused()
    assert "no department 999" in typed("user", "add", "x1", "--dept", "999", "--random-password").refused()
    assert "an avatar is" in typed("user", "edit", somebody, "--avatar", "javascript:1").refused()
    assert "nothing to change" in typed("user", "edit", somebody).refused()
    assert "there is a user 'admin'" in typed("user", "edit", somebody, "--username", "admin").refused()
    assert "there is no user 'x1'" in typed("user", "show", "x1").refused()
    for verb in ("disable", "enable"):
        assert "there is no user" in typed("user", verb, "nobody").refused()
    assert "there is no user" in typed("user", "delete", "nobody", "--yes").refused()
    assert "there is no user" in typed("user", "password", "nobody", "--random-password").refused()
    assert "there is no role" in typed("user", "grant", somebody, "NONE").refused()
    assert "there is no role" in typed("user", "revoke", somebody, "NONE").refused()


def test_list_searches_and_pages(typed: Terminal) -> None:
    for name in ("paged-1", "paged-2", "paged-3"):
        typed("user", "add", name, "--random-password").done()
    first = typed("user", "list", "--search", "PAGED", "--limit", "2", "--json").json
    assert [each["username"] for each in first] == ["paged-1", "paged-2"]
    after = str(first[-1]["id"])
    rest = typed("user", "list", "--search", "paged", "--after", after, "--json").json
    assert [each["username"] for each in rest] == ["paged-3"]
    table = typed("user", "list", "--search", "paged", "--limit", "2").done()
    assert "paged-2" in table
    assert f"--after {after}" in table
    assert "\x1b" not in table  # no colour where there is no terminal
    assert typed("user", "list", "--search", "nobody-of-this-name").done() == "No users.\n"


def test_show_tells_all_about_a_user(typed: Terminal, somebody: str, tokens: dict[str, object]) -> None:
    typed("user", "grant", somebody, "ADMIN").done()
    facts = typed("user", "show", somebody, "--json").json
    assert (facts["enabled"], facts["roles"], facts["sessions"]) == (True, ["ADMIN"], 1)
    assert "sys:user:add" in facts["perms"]
    assert facts["created"].endswith("Z")
    page = typed("user", "show", somebody).done()
    assert "sys:user:add" in page
    assert facts["created"][:10] in page


def test_contact_fields_are_set_and_shown(typed: Terminal, somebody: str) -> None:
    typed("user", "edit", somebody, "--gender", "female", "--mobile", "138 0013", "--email", "a@example.com").done()
    facts = typed("user", "show", somebody, "--json").json
    assert (facts["gender"], facts["mobile"], facts["email"]) == ("female", "138 0013", "a@example.com")
    typed("user", "edit", somebody, "--mobile", "", "--gender", "unknown").done()
    facts = typed("user", "show", somebody, "--json").json
    assert (facts["gender"], facts["mobile"], facts["email"]) == ("unknown", "", "a@example.com")
    assert "an email address reads" in typed("user", "edit", somebody, "--email", "nobody").refused()
    assert "a mobile number has" in typed("user", "edit", somebody, "--mobile", "call me").refused()


def test_claims_without_a_field_are_added_and_taken_away(typed: Terminal, somebody: str) -> None:
    typed("user", "edit", somebody, "--claim", "family_name=Lee", "--claim", "website=https://a.example/?b=c").done()
    typed("user", "edit", somebody, "--claim", "family_name=", "--claim", "birthdate=1990-01-02").done()
    shown = typed("user", "show", somebody, "--json").json["claims"]
    assert shown == ["birthdate=1990-01-02", "website=https://a.example/?b=c"]
    assert "NAME=VALUE" in typed("user", "edit", somebody, "--claim", "locale").refused()
    assert "a claim is one of" in typed("user", "edit", somebody, "--claim", "sub=1").refused()
    assert "a birthdate reads" in typed("user", "edit", somebody, "--claim", "birthdate=May").refused()


def test_the_last_administrator_stays(tmp_path: Path) -> None:
    running = Running(tmp_path / "data")
    asyncio.run(prepare(load(environ=running.env)))
    typed = Terminal(running.env)
    for verb, *rest in (["disable"], ["delete", "--yes"], ["revoke", "ADMIN"]):
        assert "one enabled administrator must remain" in typed("user", verb, "admin", *rest).refused()
    assert "must remain" in typed("role", "edit", "ADMIN", "--disable").refused()
    assert "must remain" in typed("role", "deny", "ADMIN", "sys:user:list").refused()
    assert "must remain" in typed("role", "delete", "ADMIN", "--yes").refused()


def test_grant_and_revoke_show_in_users_me(
    client: httpx.Client, typed: Terminal, somebody: str, tokens: dict[str, object]
) -> None:
    assert client.get(ME, headers=bearer(tokens)).json()["data"]["roles"] == []
    typed("user", "grant", somebody, "ADMIN").done()
    assert client.get(ME, headers=bearer(tokens)).json()["data"]["roles"] == ["ADMIN"]
    typed("user", "revoke", somebody, "ADMIN").done()
    me = client.get(ME, headers=bearer(tokens)).json()["data"]
    assert (me["roles"], me["perms"]) == ([], [])


def test_edit_shows_in_users_me(
    client: httpx.Client, typed: Terminal, somebody: str, tokens: dict[str, object]
) -> None:
    client.get(ME, headers=bearer(tokens))
    typed("user", "edit", somebody, "--nickname", "Renamed", "--username", f"{somebody}-new").done()
    me = client.get(ME, headers=bearer(tokens)).json()["data"]
    assert (me["username"], me["nickname"]) == (f"{somebody}-new", "Renamed")


def test_disable_ends_sessions_and_enable_lets_in_again(
    client: httpx.Client, typed: Terminal, somebody: str, tokens: dict[str, object]
) -> None:
    typed("user", "disable", somebody).done()
    assert_failure(client.get(ME, headers=bearer(tokens)), 401, "A0230")
    assert_failure(refresh(client, tokens), 401, "A0231")
    attempt = credentials(client, username=somebody, password=PASSPHRASE)
    assert_failure(client.post(LOGIN, json=attempt), 400, "A0210")
    typed("user", "enable", somebody).done()
    assert login(client, username=somebody, password=PASSPHRASE)
    assert_failure(client.get(ME, headers=bearer(tokens)), 401, "A0230")


def test_a_new_password_ends_sessions_and_is_the_only_one(
    client: httpx.Client, typed: Terminal, somebody: str, tokens: dict[str, object]
) -> None:
    typed("user", "password", somebody, "--password-stdin", stdin="another passphrase\n").done()
    assert_failure(client.get(ME, headers=bearer(tokens)), 401, "A0230")
    old = credentials(client, username=somebody, password=PASSPHRASE)
    assert_failure(client.post(LOGIN, json=old), 400, "A0210")
    assert login(client, username=somebody, password="another passphrase")


def test_delete_asks_and_ends_sessions(
    client: httpx.Client, typed: Terminal, somebody: str, tokens: dict[str, object]
) -> None:
    kept = typed("user", "delete", somebody, stdin="n\n")
    assert (kept.code, "permanently?" in kept.err) == (1, True)
    assert client.get(ME, headers=bearer(tokens)).status_code == 200
    typed("user", "delete", somebody, "--yes").done()
    assert_failure(client.get(ME, headers=bearer(tokens)), 401, "A0230")
    assert "there is no user" in typed("user", "show", somebody).refused()
