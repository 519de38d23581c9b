"""`gatehouse client`: applications, what is pasted into them, and their secrets."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from gatehouse.api.administration.applications import ApplicationBody, ApplicationData
from gatehouse.auth.oauth.definitions import ClientConfig
from gatehouse.cli.client import client
from tests.cli.terminal import Outcome, Terminal
from tests.support.running import Installation
from tests.support.shared import shared

CALLBACK = "https://wiki.example.com/callback"


class Applications:
    def __init__(self, installation: Installation) -> None:
        self.typed = Terminal(installation.env)
        self.issuer = installation.url

    def __call__(self, *words: str, stdin: str = "") -> Outcome:
        return self.typed("client", *words, stdin=stdin)


@pytest.fixture
def applications(tmp_path: Path) -> Applications:
    installation = Installation(tmp_path / "data")
    shutil.copytree(shared().get("data_folder"), installation.data)
    return Applications(installation)


def test_a_known_program_is_added_by_its_address(applications: Applications) -> None:
    said = applications("add", "gitea", "--for", "gitea", "--url", "https://git.example.com/").done()
    assert said.startswith("Added application gitea. Its secret is shown this once.\nPut the first part into app.ini")
    assert f"--auto-discover-url {applications.issuer}/.well-known/openid-configuration" in said
    assert "--key gitea --secret ghc_" in said
    config = applications("show", "gitea", "--json").json["config"]
    assert config["redirect_uris"] == ["https://git.example.com/user/oauth2/gatehouse/callback"]
    assert (config["recipe"], config["pkce"], config["url"]) == ("gitea", "optional", "https://git.example.com/")
    again = applications("recipe", "gitea").done()
    assert "--key gitea --secret (the secret)" in again
    assert f"issuer-uri: {applications.issuer}\n" in applications("recipe", "gitea", "--for", "spring").out


def test_a_recipe_says_which_of_its_addresses_is_not_registered(applications: Applications) -> None:
    applications("add", "app", "--for", "grafana", "--url", "https://old.example.com").done()
    assert applications("recipe", "app").err == ""
    applications("edit", "app", "--url", "https://new.example.com").done()
    option = "--redirect-uri https://new.example.com/login/generic_oauth"
    assert f"Not registered yet: gatehouse client edit app {option}" in applications("recipe", "app").err


def test_a_recipe_of_another_program_needs_an_address(applications: Applications) -> None:
    applications("add", "wiki", "--redirect-uri", CALLBACK).done()
    refused = applications("recipe", "wiki", "--for", "apache")
    assert "needs the address where people open the application" in refused.err
    assert refused.out == ""


def test_an_address_without_https_is_named_as_it_was_given(applications: Applications) -> None:
    refused = applications("add", "app", "--for", "grafana", "--url", "grafana.example.com")
    assert refused.err == "gatehouse: url: An address begins with https://, not as this one: grafana.example.com\n"


def test_options_count_more_than_a_recipe(applications: Applications) -> None:
    given = ("--for", "grafana", "--url", "http://grafana.internal:3000", "--allow-http", "--pkce", "nonce")
    applications("add", "grafana", *given, "--redirect-uri", "https://other.example.com/x").done()
    config = applications("show", "grafana", "--json").json["config"]
    assert (config["redirect_uris"], config["pkce"]) == (["https://other.example.com/x"], "nonce")
    assert config["post_logout_redirect_uris"] == ["http://grafana.internal:3000/login"]


def test_an_application_is_changed_field_by_field(applications: Applications) -> None:
    made = applications("add", "wiki", "--redirect-uri", CALLBACK, "--json").json
    assert made["client_secret"].startswith("ghc_")
    assert made["discovery"] == f"{applications.issuer}/.well-known/openid-configuration"
    for options in (
        ("--name", "The wiki", "--role", "ADMIN", "--scope", "openid", "--scope", "email"),
        ("--third-party", "--emails-trusted", "--claims-in-id-token", "--id-token-alg", "ES256"),
        ("--post-logout-uri", f"{CALLBACK}/out", "--backchannel-uri", f"{CALLBACK}/back", "--audience", "the-api"),
    ):
        assert applications("edit", "wiki", *options).done() == "Changed application wiki.\n"
    shown = applications("show", "wiki", "--json").json
    config = shown["config"]
    assert (shown["name"], config["roles"], config["scopes"]) == ("The wiki", ["ADMIN"], ["openid", "email"])
    assert (config["first_party"], config["emails_trusted"], config["claims_in_id_token"]) == (False, True, True)
    assert (config["id_token_alg"], config["audience"]) == ("ES256", "the-api")
    assert config["post_logout_redirect_uris"] == [f"{CALLBACK}/out"]
    applications("edit", "wiki", "--role", "", "--scope", "", "--backchannel-uri", "").done()
    config = applications("show", "wiki", "--json").json["config"]
    assert (config["roles"], len(config["scopes"]) > 2, config["backchannel_logout_uri"]) == ([], True, "")
    assert config["redirect_uris"] == [CALLBACK]


def test_a_new_secret_leaves_time_for_the_old_one(applications: Applications) -> None:
    first = applications("add", "wiki", "--redirect-uri", CALLBACK, "--json").json["client_secret"]
    said = applications("secret", "wiki").done()
    assert said.startswith("The new secret of wiki, shown this once: ghc_")
    assert "The one before it ends" in said
    hints = [each["hint"] for each in applications("show", "wiki", "--json").json["secrets"]]
    assert hints == [first[-4:], said.splitlines()[0][-4:]]
    made = applications("secret", "wiki", "--keep", "0", "--json").json
    assert made["old_until"] is None
    assert [each["hint"] for each in applications("show", "wiki", "--json").json["secrets"]] == [
        made["client_secret"][-4:]
    ]
    for words in (("show", "wiki"), ("show", "wiki", "--json"), ("list", "--json"), ("recipe", "wiki")):
        assert made["client_secret"] not in applications(*words).done()
    assert "at most 90 days" in applications("secret", "wiki", "--keep", "91d").refused()
    assert "expected a duration" in applications("secret", "wiki", "--keep", "soon").refused()


def test_keys_in_place_of_a_secret(applications: Applications, tmp_path: Path) -> None:
    key = {"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}
    file = tmp_path / "keys.json"
    file.write_text(json.dumps({"keys": [key]}))
    given = ("--redirect-uri", CALLBACK, "--auth", "private_key_jwt")
    assert applications("add", "wiki", *given, "--jwks-file", str(file), "--json").json["client_secret"] is None
    assert json.loads(applications("show", "wiki", "--json").json["config"]["jwks"]) == {"keys": [key]}
    assert "does not log in with a secret" in applications("secret", "wiki").refused()
    said = applications("edit", "wiki", "--auth", "client_secret").done()
    assert said == "Changed application wiki.\nIt has no secret yet: gatehouse client secret wiki\n"
    assert applications("show", "wiki", "--json").json["config"]["jwks"] == ""
    assert "not a JWK set" in applications("add", "other", *given).refused()


def test_an_application_is_disabled_enabled_and_removed(applications: Applications) -> None:
    assert applications("list").done() == "No applications.\n"
    applications("add", "wiki", "--redirect-uri", CALLBACK, "--url", "https://wiki.example.com").done()
    assert applications("disable", "wiki").done() == "Disabled application wiki, to which 0 users were logged in.\n"
    listed = applications("list", "--json").json
    assert listed == [
        {"client_id": "wiki", "name": "wiki", "enabled": False, "users": 0, "url": "https://wiki.example.com"}
    ]
    assert "https://wiki.example.com" in applications("list").done()
    applications("enable", "wiki").done()
    assert applications("list", "--json").json[0]["enabled"] is True
    assert applications("remove", "wiki", stdin="n\n").code == 1
    applications("remove", "wiki", "--yes").done()
    assert applications("list", "--json").json == []
    assert "client.removed" in applications.typed("audit", "--event", "client.removed").done()


def test_every_field_has_an_option_and_a_place_in_the_api() -> None:
    fields = set(ClientConfig.__struct_fields__)
    options = {option.name for option in client.commands["add"].params} | {"jwks"}
    assert fields <= options
    for shape in (ApplicationData, ApplicationBody):
        assert fields <= set(shape.__struct_fields__)


def test_wrong_words_get_one_line(applications: Applications) -> None:
    assert "needs the address" in applications("add", "x", "--for", "gitea").refused()
    assert "at least one redirect address" in applications("add", "x").refused()
    assert "is for this machine only" in applications("add", "x", "--redirect-uri", "http://x.example.com/").refused()
    assert "no such scope: nope" in applications("add", "x", "--redirect-uri", CALLBACK, "--scope", "nope").refused()
    assert "There is no role NONE" in applications("add", "x", "--redirect-uri", CALLBACK, "--role", "NONE").refused()
    applications("add", "x", "--redirect-uri", CALLBACK).done()
    assert "already" in applications("add", "x", "--redirect-uri", CALLBACK).refused()
    assert "nothing to change" in applications("edit", "x").refused()
    for words in (("edit", "y", "--name", "Y"), ("show", "y"), ("secret", "y"), ("recipe", "y"), ("enable", "y")):
        assert "there is no application 'y'" in applications(*words).refused()


def test_doctor_looks_at_each_enabled_application(applications: Applications) -> None:
    def findings() -> list[tuple[str, str]]:
        said = applications.typed("doctor", "--json").out
        return [(each["level"], each["found"]) for each in json.loads(said) if each["check"] == "applications"]

    assert findings() == []
    applications.typed("role", "add", "CLERK").done()
    applications("add", "wiki", "--redirect-uri", CALLBACK, "--role", "CLERK").done()
    assert findings() == [("ok", "1 application logs people in here")]
    applications.typed("role", "delete", "CLERK", "--yes").done()
    assert findings()[1:] == [("fail", "wiki is for roles that are not there: CLERK")]
    applications("edit", "wiki", "--name", "Wiki").done()  # what is wrong already does not keep from other changes
    plain = "http://wiki.internal/callback"
    applications("edit", "wiki", "--role", "", "--redirect-uri", plain, "--allow-http").done()
    assert findings()[1:] == [("warn", f"wiki is sent people at {plain} without TLS: codes can be read on the way")]
    applications("edit", "wiki", "--redirect-uri", CALLBACK).done()
    applications("secret", "wiki", "--keep", "3d").done()
    assert len(findings()) == 1
    hint = applications("secret", "wiki", "--keep", "1d", "--json").json["client_secret"][-4:]
    applications("secret", "wiki", "--keep", "2h").done()
    assert findings()[1:] == [("warn", f"the old secret …{hint} of wiki ends in 2 hours")]
    applications("edit", "wiki", "--auth", "none").done()
    applications("edit", "wiki", "--auth", "client_secret").done()
    assert findings()[1:] == [("fail", "wiki has no valid secret: nobody can log in to it")]
    applications.typed.env["GATEHOUSE_ISSUER"] = "http://login.example.org"
    del applications.typed.env["GATEHOUSE_CAPTCHA_TEST_ANSWER"], applications.typed.env["GATEHOUSE_LIMITS"]
    assert findings()[0][0] == "fail"
    applications("disable", "wiki").done()
    assert findings() == []
