"""`gatehouse provider`: adding, what to register there, testing, linking. Only `test` asks a provider."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.terminal import Outcome, Terminal
from tests.support.engines import NotInstalled
from tests.support.panva_provider import PanvaProvider
from tests.support.running import Installation, free_port
from tests.support.shared import shared

SECRET = "a client secret of some length"
ISSUER = "https://sso.example.org/realms/corp"


class Company:
    def __init__(self, installation: Installation) -> None:
        self.typed = Terminal(installation.env)
        self.ours = f"{installation.url}/login"

    def __call__(self, *words: str, stdin: str = "") -> Outcome:
        return self.typed("provider", *words, stdin=stdin)

    def add(self, name: str, *options: str) -> str:
        return self("add", name, "--client-id", "gatehouse", *options, "--secret-file", "-", stdin=f"{SECRET}\n").done()


@pytest.fixture
def company(tmp_path: Path) -> Company:
    installation = Installation(tmp_path / "data")
    shutil.copytree(shared().get("data_folder"), installation.data)
    return Company(installation)


def test_a_provider_is_added_and_says_what_to_register_there(company: Company) -> None:
    said = company.add("keycloak", "--issuer", ISSUER, "--role", "/admins=ADMIN", "--title", "Company account")
    for address in ("callback", "logged-out", "backchannel-logout"):
        assert f"{company.ours}/keycloak/{address}\n" in said
    shown = company("show", "keycloak", "--json").json
    assert shown["redirect_uri"] == f"{company.ours}/keycloak/callback"
    assert (shown["kind"], shown["secret"], shown["config"]["issuer"]) == ("openid", True, ISSUER)
    assert shown["config"]["roles"] == {"/admins": ["ADMIN"]}
    for words in (("show", "keycloak"), ("show", "keycloak", "--json"), ("list", "--json")):
        assert SECRET not in company(*words).done()
    assert ISSUER in company("list").done()


def test_a_provider_is_changed_field_by_field(company: Company) -> None:
    company.add("keycloak", "--issuer", ISSUER)
    company("edit", "keycloak", "--scope", "openid", "--scope", "groups", "--no-logout", "--trust-factors").done()
    company("edit", "keycloak", "--factor-acr", "2fa").done()
    config = company("show", "keycloak", "--json").json["config"]
    assert (config["scopes"], config["logout"], config["trust_factors"]) == (["openid", "groups"], False, True)
    assert (config["factor_acrs"], config["issuer"]) == (["2fa"], ISSUER)
    company("edit", "keycloak", "--scope", "").done()
    assert company("show", "keycloak", "--json").json["config"]["scopes"] == ["openid", "profile", "email"]
    company("disable", "keycloak").done()
    assert company("list", "--json").json[0]["enabled"] is False
    company("remove", "keycloak", "--yes").done()
    assert company("list").done() == "No providers.\n"


def test_dingtalk_and_feishu_need_no_issuer(company: Company) -> None:
    for kind in ("dingtalk", "feishu"):
        company.add(kind, "--kind", kind)
        assert company("show", kind, "--json").json["kind"] == kind
    assert {each["where"] for each in company("list", "--json").json} == {"dingtalk", "feishu"}


def test_a_user_is_linked_by_subject_alone(company: Company) -> None:
    company.add("keycloak", "--issuer", ISSUER)
    company.add("feishu", "--kind", "feishu", "--base-url", "https://feishu.example.org")
    company.typed("user", "add", "ann", "--random-password").done()
    company("link", "ann", "keycloak", "--subject", "5f0c").done()
    company("link", "ann", "feishu", "--subject", "on_1").done()
    assert "already" in company("link", "admin", "keycloak", "--subject", "5f0c").refused()
    shown = company.typed("user", "show", "ann", "--json").json["identities"]
    assert {(each["source"], each["subject"]) for each in shown} == {("keycloak", "5f0c"), ("feishu", "on_1")}
    assert "say which" in company("unlink", "ann", "--yes").refused()
    company("unlink", "ann", "feishu", "--yes").done()
    company("unlink", "ann", "--yes").done()
    assert company.typed("user", "show", "ann", "--json").json["identities"] == []


def test_a_provider_that_is_not_there_fails_the_test_and_doctor(company: Company) -> None:
    company.add("keycloak", "--issuer", f"http://127.0.0.1:{free_port()}")
    outcome = company("test", "keycloak")
    assert (outcome.code, outcome.err, outcome.out[:15].split()) == (1, "", ["fail", "discovery"])
    outcome = company.typed("doctor")
    assert outcome.code == 1
    assert "fail sources       keycloak: GET http://127.0.0.1" in outcome.out
    assert "-> run `gatehouse provider test keycloak`" in outcome.out


@pytest.mark.full
def test_a_test_says_whether_a_real_provider_knows_our_client(company: Company) -> None:
    client = {
        "client_id": "gatehouse",
        "client_secret": SECRET,
        "redirect_uris": [f"{company.ours}/panva/callback"],
        "id_token_signed_response_alg": "ES256",
    }
    try:
        panva = PanvaProvider(client)
    except NotInstalled as missing:
        pytest.skip(str(missing))
    panva.start()
    try:
        company.add("panva", "--issuer", panva.issuer)
        steps = company("test", "panva", "--json").json["steps"]
        assert [(each["step"], each["works"]) for each in steps] == [
            ("discovery", True), ("keys", True), ("token", True),
        ]  # fmt: skip
        company("edit", "panva", "--secret-file", "-", stdin="wrong").done()
        outcome = company("test", "panva")
        assert (outcome.code, "look at client_id, the secret" in " ".join(outcome.out.split())) == (1, True)
    finally:
        panva.remove()


def test_wrong_words_get_one_line(company: Company) -> None:
    assert "Missing option '--issuer'" in company("add", "x", "--client-id", "y").refused()
    assert "Missing option '--client-id'" in company("add", "x", "--issuer", ISSUER).refused()
    assert "no terminal" in company("add", "x", "--issuer", ISSUER, "--client-id", "y").refused()
    company.add("keycloak", "--issuer", ISSUER)
    assert "Missing option '--subject'" in company("link", "admin", "keycloak").refused()
    assert "there is no provider 'none'" in company("test", "none").refused()
    assert "there is no directory 'keycloak'" in company.typed("directory", "show", "keycloak").refused()
