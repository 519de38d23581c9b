"""Applications over HTTP: a secret is in one answer, and only administrators change one."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from gatehouse.auth.oauth.clients import read_config
from gatehouse.auth.perms import MANAGEMENT_PERMS, perms_of
from gatehouse.management.authority import OPERATOR, Actor
from gatehouse.management.oauth_clients import ClientDraft
from gatehouse.stores.database.grants import StoredGrant
from tests.api.console.conftest import Console

CALLBACK = "https://wiki.example.com/callback"
WIKI = {"clientId": "wiki", "redirectUris": [CALLBACK]}


def test_an_application_is_added_shown_changed_and_removed(console: Console) -> None:
    data = console.get("applications")
    assert (data["applications"], data["issuer"]) == ([], "http://127.0.0.1:8000")
    assert {"recipe": "grafana", "title": "Grafana"} in data["recipes"]
    made = console.call("POST", "applications", WIKI | {"name": "Wiki", "roles": ["ADMIN"]}).data
    assert made["secret"].startswith("ghc_")
    assert made["recipe"]["recipe"] == "other"
    assert made["secret"] in made["recipe"]["text"]
    [first] = console.get("applications")["applications"]
    assert first == console.get("applications/wiki")
    assert (first["clientId"], first["name"], first["enabled"], first["users"]) == ("wiki", "Wiki", True, 0)
    assert (first["redirectUris"], first["roles"], first["firstParty"]) == ([CALLBACK], ["ADMIN"], True)
    assert (first["pkce"], first["auth"], first["idTokenAlg"]) == ("nonce", "client_secret", "RS256")
    [secret] = first["secrets"]
    assert (secret["hint"], secret["expires"]) == (made["secret"][-4:], None)
    assert console.call("PUT", "applications/wiki", {"roles": [], "firstParty": False}).data == {"users": 0}
    changed = console.get("applications/wiki")
    assert changed == first | {"roles": [], "firstParty": False, "changed": changed["changed"]}
    console.call("PUT", "applications/wiki", {"backchannelLogoutUri": f"{CALLBACK}/back", "name": "New"})
    console.call("PUT", "applications/wiki", {"backchannelLogoutUri": ""})
    changed = console.get("applications/wiki")
    assert (changed["backchannelLogoutUri"], changed["name"], changed["redirectUris"]) == ("", "New", [CALLBACK])
    assert console.call("DELETE", "applications/wiki").data == {"users": 0}
    for method, path in (("GET", ""), ("PUT", ""), ("DELETE", ""), ("POST", "/secret"), ("GET", "/recipe")):
        console.refused("C0113", method, f"applications/wiki{path}", {} if method in {"PUT", "POST"} else None)


def test_a_known_program_is_added_by_its_address(console: Console) -> None:
    made = console.call(
        "POST", "applications", {"clientId": "grafana", "recipe": "grafana", "url": "https://grafana.example.com"}
    ).data
    assert f"client_secret = {made['secret']}\n" in made["recipe"]["text"]
    assert "auth_url = http://127.0.0.1:8000/oauth2/authorize\n" in made["recipe"]["text"]
    shown = console.get("applications/grafana")
    assert shown["redirectUris"] == ["https://grafana.example.com/login/generic_oauth"]
    assert (shown["recipe"], shown["pkce"]) == ("grafana", "required")
    recipe = console.get("applications/grafana/recipe")
    assert (recipe["title"], "client_secret = (the secret)\n" in recipe["text"]) == ("Grafana", True)
    assert console.get("applications/grafana/recipe", recipe="spring")["title"] == "Spring Boot"
    chinese = console.gatehouse.request(
        "GET", "/api/v1/applications/grafana/recipe", token=console.token, headers={"Accept-Language": "zh"}
    )
    assert chinese.data["where"] != recipe["where"]
    assert "grafana" in console.refused("A0421", "POST", "applications", {"clientId": "x", "recipe": "grafana"})
    assert "nope" in console.refused("A0421", "POST", "applications", WIKI | {"recipe": "nope"})


def test_a_secret_is_in_one_answer(console: Console, capfd: pytest.CaptureFixture[str]) -> None:
    first = console.call("POST", "applications", WIKI).data["secret"]
    made = console.call("POST", "applications/wiki/secret", {}).data
    assert made["secret"] != first
    assert made["secret"] in made["recipe"]["text"]
    shown = console.get("applications/wiki")["secrets"]
    assert [(each["hint"], each["expires"]) for each in shown] == [
        (first[-4:], made["oldUntil"]),
        (made["secret"][-4:], None),
    ]
    last = console.call("POST", "applications/wiki/secret", {"keepSeconds": 0}).data
    assert last["oldUntil"] is None
    assert [each["hint"] for each in console.get("applications/wiki")["secrets"]] == [last["secret"][-4:]]
    answers = [console.call("GET", path) for path in ("applications", "applications/wiki", "applications/wiki/recipe")]
    service = console.gatehouse.service
    events = console.gatehouse.run(service.stores.audit_trail.read(newest=20))
    rows = console.gatehouse.run(service.stores.oauth_clients.secrets())
    seen = repr([answer.content for answer in answers]) + repr(events) + repr(rows) + "".join(capfd.readouterr())
    assert [text for text in (first, made["secret"], last["secret"]) if text in seen] == []
    console.refused("A0421", "POST", "applications/wiki/secret", {"keepSeconds": 90 * 86_400 + 1})
    console.call("PUT", "applications/wiki", {"auth": "none"})
    assert console.get("applications/wiki")["secrets"] == []
    console.refused("A0421", "POST", "applications/wiki/secret", {})


def test_disabling_says_how_many_were_logged_in(console: Console) -> None:
    console.call("POST", "applications", WIKI)
    gatehouse = console.gatehouse
    [row] = gatehouse.run(gatehouse.service.stores.oauth_clients.all())
    for number in (1, 2):
        grant = StoredGrant(f"g{number}", f"s{number}", 1, row.id, "openid", gatehouse.clock())
        gatehouse.run(gatehouse.service.stores.grants.add(grant))
    assert console.get("applications/wiki")["users"] == 1
    assert console.call("PUT", "applications/wiki", {"enabled": False}).data == {"users": 1}
    shown = console.get("applications/wiki")
    assert (shown["users"], shown["enabled"]) == (0, False)


def test_a_change_takes_nothing_back_that_another_makes_meanwhile(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    console.call("POST", "applications", WIKI)
    changes = console.gatehouse.service.management.client_changes
    edit, before = changes.edit, read_config(console.gatehouse.run(changes.by_client_id("wiki")))

    async def after_another(actor: Actor, client_id: str, draft: ClientDraft) -> int:
        await edit(OPERATOR, client_id, ClientDraft(config=msgspec.structs.replace(before, roles=("ADMIN",))))
        return await edit(actor, client_id, draft)

    monkeypatch.setattr(changes, "edit", after_another)
    console.call("PUT", "applications/wiki", {"url": "https://wiki.example.com/"})
    shown = console.get("applications/wiki")
    assert (shown["roles"], shown["url"]) == (["ADMIN"], "https://wiki.example.com/")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"redirectUris": ["http://wiki.example.com/"]}, "this machine only"),
        ({"redirectUris": ["https://wiki.example.com/#x"]}, "no fragment"),
        ({"redirectUris": [f"{CALLBACK}/{n}" for n in range(21)]}, "redirectUris"),
        ({"redirectUris": [3]}, "redirectUris"),
        ({"redirectUris": []}, "at least one"),
        ({"clientId": "a b"}, "A client id has"),
        ({"clientId": "gatehouse"}, "GATEHOUSE_AUDIENCE"),
        ({"name": "\u0007"}, "A name has"),
        ({"scopes": ["email"]}, "openid"),
        ({"scopes": ["everything"]}, "scopes"),
        ({"roles": ["NOBODY"]}, "There is no role NOBODY"),
        ({"auth": "magic"}, "auth"),
        ({"auth": "private_key_jwt", "jwks": "{}"}, "JWK set"),
        ({"idTokenAlg": "HS256"}, "RS256"),
        ({"pkce": "optional", "auth": "none"}, "PKCE"),
    ],
)
def test_what_is_wrong_is_said(console: Console, body: dict[str, Any], said: str) -> None:
    assert said in console.refused("A0421", "POST", "applications", WIKI | body)
    assert console.get("applications")["applications"] == []
    if "clientId" not in body:
        console.call("POST", "applications", WIKI)
        assert said in console.refused("A0421", "PUT", "applications/wiki", body)


def test_keys_stay_until_another_kind_of_authentication_is_chosen(console: Console) -> None:
    key = {"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}
    body = WIKI | {"auth": "private_key_jwt", "jwks": json.dumps({"keys": [key]})}
    assert console.call("POST", "applications", body).data["secret"] is None
    console.call("PUT", "applications/wiki", {"name": "x"})
    assert json.loads(console.get("applications/wiki")["jwks"]) == {"keys": [key]}
    console.call("PUT", "applications/wiki", {"auth": "client_secret"})
    assert console.get("applications/wiki")["jwks"] == ""


def test_names_are_unique(console: Console) -> None:
    console.call("POST", "applications", WIKI)
    console.refused("A0440", "POST", "applications", WIKI)


def test_only_administrators_change_applications(console: Console, user: Callable[..., Console]) -> None:
    console.call("POST", "applications", WIKI)
    helper, reader = user("helper", *MANAGEMENT_PERMS, *perms_of("app")), user("reader", "sys:user:list")
    assert [each["clientId"] for each in helper.get("applications")["applications"]] == ["wiki"]
    calls: list[tuple[str, str, Any]] = [
        ("POST", "applications", WIKI | {"clientId": "other"}),
        ("PUT", "applications/wiki", {"name": "mine"}),
        ("DELETE", "applications/wiki", None),
        ("POST", "applications/wiki/secret", {}),
    ]
    for who in (helper, reader):
        for method, path, body in calls:
            who.refused("A0301", method, path, body)
    reader.refused("A0301", "GET", "applications")
    assert console.get("applications/wiki")["name"] == "wiki"
