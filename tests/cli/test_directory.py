"""`gatehouse directory`: from adding one to a login with it, against OpenLDAP's server."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from gatehouse.cli.source_options import _OPTIONS
from gatehouse.identity_sources.definitions import DirectoryConfig, ProviderConfig
from gatehouse.identity_sources.field_texts import field_types
from tests.cli.terminal import Outcome, Terminal
from tests.support.conversation import ME, bearer, login
from tests.support.local import Local
from tests.support.running import Installation
from tests.support.shared import shared
from tests.support.slapd import BASE, GROUPS, PASSWORD, SERVICE, Slapd, slapd
from tests.support.waiting import wait_until

__all__ = ["slapd"]

ADMINS = f"cn=admins,{GROUPS}"


class Company:
    """A service of its own beside the directory: whatever is added here concerns every login."""

    def __init__(self, slapd: Slapd, installation: Installation) -> None:
        self.slapd = slapd
        self.installation = installation
        self.typed = Terminal(installation.env)

    def __call__(self, *words: str, stdin: str = "") -> Outcome:
        return self.typed("directory", *words, stdin=stdin)

    def options(self) -> list[str]:
        where = ["--url", self.slapd.tls_url, "--base", BASE, "--ca-file", self.slapd.ca_file, "--group-base", GROUPS]
        return [*where, "--bind-dn", SERVICE, "--secret-file", "-"]

    def add(self, name: str, *options: str) -> str:
        return self("add", name, *self.options(), *options, stdin=PASSWORD).done()


@pytest.fixture
def company(slapd: Slapd, tmp_path: Path) -> Company:
    """Started once, and not running."""
    installation = Installation(tmp_path / "data")
    shutil.copytree(shared().get("data_folder"), installation.data)
    return Company(slapd, installation)


@pytest.fixture
def running(slapd: Slapd, tmp_path: Path) -> Iterator[tuple[Company, Local]]:
    with Local(tmp_path / "data", metrics="on") as local:
        yield Company(slapd, local), local


@pytest.mark.parametrize("config", [DirectoryConfig, ProviderConfig])
def test_every_field_of_a_configuration_has_an_option(config: type[DirectoryConfig] | type[ProviderConfig]) -> None:
    assert set(_OPTIONS[config]) == set(field_types(config))


def test_people_of_an_added_directory_log_in_with_the_roles_of_their_groups(running: tuple[Company, Local]) -> None:
    company, local = running
    said = company.add("corp", "--role", f"{ADMINS}=ADMIN")
    assert said == "Added directory corp. Try it: gatehouse directory test corp --user SOMEBODY\n"
    local.run(local.service.identity.sources.load())
    with local.client() as client:
        tokens = login(client, username="carol", password=PASSWORD)
        me = client.get(ME, headers=bearer(tokens)).json()["data"]
        assert (me["username"], me["nickname"], me["roles"]) == ("carol", "Carol", ["ADMIN"])
        metrics = client.get("/metrics").text
    assert 'gatehouse_source_logins_total{outcome="success",source="corp"} 1.0' in metrics
    shown = company.typed("user", "show", "carol", "--json").json
    assert shown["decided_roles"] == {"ADMIN": "corp"}
    assert [(each["source"], each["name"], each["gone"]) for each in shown["identities"]] == [("corp", "carol", None)]
    assert "ADMIN (by corp)" in company.typed("user", "show", "carol").done()
    [session] = company.typed("session", "list", "carol", "--json").json
    assert (session["amr"], session["source"], session["how"]) == ("ldap", "corp", "ldap@corp")
    logins = ("audit", "--event", "login", "--user", "carol", "--json")
    wait_until(lambda: '"source":"corp"' in company.typed(*logins).out.replace(" ", ""), "the trail has the login")


def test_a_test_shows_each_step_and_what_becomes_of_one_person(company: Company) -> None:
    company.add("corp", "--role", f"{ADMINS}=ADMIN", "--disabled")
    steps = company("test", "corp", "--json").json["steps"]
    assert [each["step"] for each in steps] == ["resolve", "connect", "tls", "bind", "search", "groups"]
    assert all(each["works"] for each in steps)
    found = company("test", "corp", "--user", "carol", "--json").json
    assert found["attributes"]["mail"] == ["carol@example.org"]
    assert ADMINS in found["groups"]
    assert found["user"] == {
        "username": "carol", "nickname": "Carol", "email": "carol@example.org", "mobile": "+86 13800138000",
        "department": "Headquarters (id 1)", "roles": ["ADMIN"], "login": "the first login makes the user",
    }  # fmt: skip
    page = company("test", "corp", "--user", "carol").done()
    assert "carol@example.org" in page
    assert "the first login makes the user" in page
    assert PASSWORD not in page


def test_a_test_stops_at_the_first_step_that_fails(company: Company) -> None:
    company.add("corp")
    for options, step in (
        (["--secret-file", "-"], "bind"),
        (["--ca-file", ""], "tls"),
        (["--url", "ldaps://127.0.0.1:1"], "connect"),
    ):
        company("edit", "corp", *options, stdin="wrong").done()
        outcome = company("test", "corp")
        last = outcome.out.splitlines()[[line[:4] for line in outcome.out.splitlines()].index("fail")]
        assert (outcome.code, outcome.err, last.split()[1]) == (1, "", step)
    outcome = company("test", "corp", "--user", "nobody", "--json")
    assert outcome.code == 1


def test_the_secret_is_never_shown_and_follows_a_new_master_secret(company: Company) -> None:
    company.add("corp")
    for words in (("show", "corp"), ("show", "corp", "--json"), ("list", "--json")):
        assert PASSWORD not in company(*words).done()
    assert company("show", "corp", "--json").json["secret"] is True
    company.typed("secret", "rotate", "--now").done()
    company.typed("secret", "forget", "--yes").done()
    assert company("test", "corp").code == 0, "sealed under the new one"


def test_a_directory_is_listed_changed_switched_and_removed(company: Company) -> None:
    company.add("corp", "--role", f"{ADMINS}=ADMIN", "--department-id", "42=1", "--sort", "2")
    config = company("show", "corp", "--json").json["config"]
    assert (config["roles"], config["departments"]) == ({ADMINS: ["ADMIN"]}, {"42": 1})
    company("edit", "corp", "--title", "Head office", "--timeout", "2", "--no-create-users", "--role", "").done()
    shown = company("show", "corp", "--json").json
    config = shown["config"]
    assert (shown["title"], config["timeout"], config["create_users"], config["roles"]) == ("Head office", 2, False, {})
    assert f"{company.slapd.tls_url}" in company("list").done()
    company("disable", "corp").done()
    assert company("list", "--json").json[0]["enabled"] is False
    company("enable", "corp").done()
    kept = company("remove", "corp", stdin="n\n")
    assert (kept.code, "0 users" in kept.err) == (1, True)
    company("remove", "corp", "--yes").done()
    assert company("list").done() == "No directories.\n"


def test_a_user_is_linked_to_a_person_and_unlinked(company: Company) -> None:
    company.add("corp")
    company.typed("user", "add", "ann", "--random-password").done()
    asked = company("link", "ann", "corp", "--as", "dave", stdin="n\n")
    assert (asked.code, "dave@example.org" in asked.err) == (1, True)
    company("link", "ann", "corp", "--as", "dave", "--yes").done()
    assert "linked to a user already" in company("link", "admin", "corp", "--as", "dave", "--yes").refused()
    assert "already" in company("link", "ann", "corp", "--as", "carol", "--yes").refused()
    assert company("test", "corp", "--user", "dave", "--json").json["user"]["login"] == "as user ann, who is linked"
    company("unlink", "ann", "--yes").done()
    assert "not linked" in company("unlink", "ann", "--yes").refused()
    assert "nobody" in company("link", "ann", "corp", "--yes").refused()
    assert (
        "one enabled administrator must remain" in company("link", "admin", "corp", "--as", "dave", "--yes").refused()
    )


def test_sync_shows_what_it_would_do_asks_and_does_it(company: Company) -> None:
    slapd = company.slapd
    erin, frank = slapd.add_person("erin", displayName="Erin"), slapd.add_person("frank")
    company.add("corp", "--role", f"cn=staff,{GROUPS}=ADMIN", "--user-filter", "(|(uid=erin)(uid=frank)(uid=dave))")
    preview = company("sync", "corp", "--preview", "--json").json
    assert (preview["people"], preview["without_user"], preview["steps"]) == (3, 3, [])
    company("sync", "corp", "--create", "--yes").done()
    assert {each["username"] for each in company.typed("user", "list", "--json").json} >= {"erin", "frank", "dave"}

    slapd.change(erin, displayName="Erin Lee")
    slapd.delete(frank)
    kept = company("sync", "corp", stdin="n\n")
    assert (kept.code, "Erin Lee" in kept.out, "frank" in kept.out) == (1, True, True)
    assert company.typed("user", "show", "frank", "--json").json["enabled"] is True
    refused = company("sync", "corp", "--yes", "--max-gone", "20")
    assert (refused.code, "1 of 3 users would be disabled" in refused.err) == (1, True)
    assert "1 changed, 0 enabled, 1 disabled" in company("sync", "corp", "--yes").done()
    assert company.typed("user", "show", "erin", "--json").json["nickname"] == "Erin Lee"
    assert company.typed("user", "show", "frank", "--json").json["enabled"] is False
    assert company("sync", "corp").done().endswith("Nothing to do.\n")
    [event] = company.typed("audit", "--event", "user.disabled", "--json").out.splitlines()
    assert '"source":"corp"' in event.replace(" ", "")
    slapd.delete(erin)


def test_sync_does_not_believe_a_directory_that_shows_nobody(company: Company) -> None:
    company.add("corp", "--user-filter", "(uid=dave)")
    company("sync", "corp", "--create", "--yes").done()
    company("edit", "corp", "--user-filter", "(uid=nobody)").done()
    refused = company("sync", "corp", "--yes", "--max-gone", "100")
    assert (refused.code, "shows nobody at all" in refused.err) == (1, True)
    assert company.typed("user", "show", "dave", "--json").json["enabled"] is True
    company("edit", "corp", "--url", "ldaps://127.0.0.1:1").done()
    assert "does not take connections" in company("sync", "corp", "--yes").refused(3)


def test_doctor_tests_each_enabled_directory(company: Company) -> None:
    def findings() -> list[tuple[str, str]]:
        said = company.typed("doctor", "--json").out
        return [(each["level"], each["found"]) for each in json.loads(said) if each["check"] == "sources"]

    assert findings() == []
    company.typed("role", "add", "CLERK").done()
    company.add("corp", "--default-role", "CLERK", "--user-filter", "(uid=dave)")
    company("sync", "corp", "--create", "--yes").done()
    assert findings() == [("ok", "corp (directory) works; 1 user, 0 of them gone there")]
    company.typed("role", "delete", "CLERK", "--yes").done()
    assert findings()[1] == ("fail", "corp maps groups to roles that are not there: CLERK")
    company("edit", "corp", "--default-role", "", "--url", company.slapd.url, "--allow-plain").done()
    assert [level for level, _ in findings()] == ["ok", "warn"]
    company("edit", "corp", "--url", company.slapd.tls_url, "--no-allow-plain", "--ca-file", "").done()
    [(level, found)] = findings()
    assert (level, "certificate" in found) == ("fail", True)
    company("edit", "corp", "--ca-file", company.slapd.ca_file, "--secret-file", "-", stdin="wrong").done()
    [(level, found)] = findings()
    assert (level, "Invalid credentials" in found) == ("fail", True)
    (company.installation.data / "secret").write_text("kP3vLr9QyX2mTn7wBz5cHd8fJg4sAe6u\n")
    assert [level for level, _ in findings()] == ["fail"], "its secret cannot be opened"
    company("disable", "corp")
    assert findings() == []


def test_wrong_words_get_one_line(company: Company) -> None:
    assert "Missing option '--url'" in company("add", "corp", "--base", BASE).refused()
    assert "no terminal" in company("add", "corp", *company.options()[:-2]).refused()
    assert "ldap:// or ldaps://" in company("add", "x", "--url", "http://x", "--base", BASE).refused()
    assert "lower-case letters" in company("add", "No Name", "--url", "ldap://x", "--base", BASE).refused()
    assert (
        "there is no role 'NONE'"
        in company("add", "x", "--url", "ldap://x", "--base", BASE, "--role", "a=NONE").refused()
    )
    assert (
        "expected group=ROLE" in company("add", "x", "--url", "ldap://x", "--base", BASE, "--role", "ADMIN").refused()
    )
    company.add("corp")
    assert "already" in company("add", "corp", *company.options(), stdin=PASSWORD).refused()
    assert "nothing to change" in company("edit", "corp").refused()
    for words in (["show"], ["test"], ["enable"], ["remove", "--yes"], ["sync"]):
        assert "there is no directory 'none'" in company(words[0], "none", *words[1:]).refused()
    assert "there is no user 'nobody'" in company("link", "nobody", "corp").refused()
