"""Recipes: what is registered for a known program, and that what is pasted there is in the program's own format.

`tests/relying_parties/` runs the programs themselves.
"""

from __future__ import annotations

import configparser
import tomllib

import msgspec
import pytest

from gatehouse.auth.oauth.definitions import ClientAuth, ClientConfig
from gatehouse.auth.refusals import ApplicationFieldInvalid
from gatehouse.management.client_checks import checked_config
from gatehouse.management.client_recipes import OTHER, RECIPES, config_for, instructions

ISSUER = "https://login.example.org/auth"
URL = "https://app.example.com/sub/"
SECRET = "ghc_the-secret"


def text(key: str, **changes: object) -> str:
    config = msgspec.structs.replace(config_for(key, URL), **changes)
    return instructions("the-client", config, ISSUER, SECRET).text


@pytest.mark.parametrize("key", RECIPES)
def test_what_is_registered_is_accepted_and_what_is_pasted_is_complete(key: str) -> None:
    config = config_for(key, URL)
    if key != OTHER:
        assert checked_config(config, "gatehouse") == config
        assert all(uri.startswith("https://app.example.com/sub/") for uri in config.redirect_uris)
        assert "//" not in config.redirect_uris[0].removeprefix("https://")
    pasted = text(key)
    assert "$" not in pasted
    assert SECRET in pasted
    assert "the-client" in pasted
    assert ISSUER in pasted


def test_without_its_secret_a_text_marks_the_place() -> None:
    config = config_for("grafana", URL)
    assert "client_secret = (the secret)\n" in instructions("x", config, ISSUER).text
    public = ClientConfig(auth=ClientAuth.NONE)
    assert "client_secret  -\n" in instructions("x", public, ISSUER).text


def test_grafana_reads_it() -> None:
    ini = configparser.ConfigParser(interpolation=None)
    ini.read_string(text("grafana"))
    section = ini["auth.generic_oauth"]
    assert (section["client_id"], section["client_secret"]) == ("the-client", SECRET)
    assert section["token_url"] == f"{ISSUER}/oauth2/token"
    address = "https%3A%2F%2Fapp.example.com%2Fsub%2Flogin"
    assert section["signout_redirect_url"] == f"{ISSUER}/oauth2/logout?post_logout_redirect_uri={address}"
    assert config_for("grafana", URL).post_logout_redirect_uris == ("https://app.example.com/sub/login",)


def test_oauth2_proxy_reads_it_and_believes_addresses_only_if_they_are_trusted() -> None:
    options = tomllib.loads(text("oauth2-proxy"))
    assert (options["oidc_issuer_url"], options["code_challenge_method"]) == (ISSUER, "S256")
    assert options["redirect_url"] == config_for("oauth2-proxy", URL).redirect_uris[0]
    assert options["oidc_email_claim"] == "preferred_username"
    assert tomllib.loads(text("oauth2-proxy", emails_trusted=True))["oidc_email_claim"] == "email"


def test_a_program_that_is_not_known_or_has_no_address_is_refused() -> None:
    with pytest.raises(ApplicationFieldInvalid, match="There is no recipe nope"):
        config_for("nope", URL)
    with pytest.raises(ApplicationFieldInvalid, match="needs the address"):
        config_for("gitea", "")
    assert config_for(OTHER, "") == ClientConfig()


@pytest.mark.parametrize("end", ["?x=1", "#part", "/?x=1"])
def test_an_address_that_no_path_can_follow_is_refused(end: str) -> None:
    with pytest.raises(ApplicationFieldInvalid, match=r"without \? and #"):
        config_for("grafana", f"https://grafana.example.com{end}")
