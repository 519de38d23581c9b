"""Codes that were stolen, injected, used twice or too late, and requests whose PKCE was taken out."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from gatehouse.auth.audit import Event, GrantEndReason
from gatehouse.auth.oauth.definitions import Pkce
from tests.api.oauth.application import CALLBACK, CHALLENGE, VERIFIER, Application, public
from tests.api.oauth.attacks.parties import (
    WITH_PKCE,
    add_person,
    code_of,
    query_of,
    refused,
    second_node,
    signed_in,
    tokens_of,
)
from tests.support.inprocess import InProcess

# Code injection: the attacker puts a code that was stolen into a login of their own


def test_a_stolen_code_does_not_fit_the_login_of_a_thief(app: Application, gatehouse: InProcess) -> None:
    """The application sends the verifier of the login that the thief has begun."""
    stolen = code_of(signed_in(gatehouse))
    assert refused(app.exchange(stolen, code_verifier="thief" * 10))
    assert refused(app.exchange(stolen, code_verifier=CHALLENGE)), "the challenge is known to whoever saw the request"
    assert refused(app.exchange(stolen, code_verifier=""))
    assert app.exchange(stolen).status == 200, "its owner is not kept out by the thief"


def test_the_nonce_of_the_request_comes_back_in_the_id_token(app: Application, gatehouse: InProcess) -> None:
    """Where the application uses no PKCE, it notices the injected code by this."""
    browser = signed_in(gatehouse)
    code = browser.authorize(nonce="of this login").query["code"]
    tokens = app.exchange(code, code_verifier="").json
    assert app.read(tokens["id_token"])["nonce"] == "of this login"


@pytest.mark.parametrize("uri", ["", "https://app.example/other", CALLBACK + "/", CALLBACK.upper(), CALLBACK + "?x"])
def test_without_pkce_the_address_must_be_that_of_the_request(app: Application, gatehouse: InProcess, uri: str) -> None:
    code = signed_in(gatehouse).authorize().query["code"]
    assert refused(app.exchange(code, code_verifier="", redirect_uri=uri))


# PKCE downgrade


@pytest.mark.parametrize(
    "changes",
    [
        {"code_challenge": VERIFIER, "code_challenge_method": "plain"},
        {"code_challenge": VERIFIER},
        {"code_challenge": CHALLENGE, "code_challenge_method": "s256"},
        {"code_challenge": CHALLENGE, "code_challenge_method": "none"},
        {"code_challenge": CHALLENGE, "code_challenge_method": ""},
        {"code_challenge": CHALLENGE, "code_challenge_method": "S256 plain"},
        {"code_challenge_method": "S256"},
        {"code_challenge": CHALLENGE + "=", "code_challenge_method": "S256"},
        {"code_challenge": "short", "code_challenge_method": "S256"},
        {"code_challenge": "*" * 43, "code_challenge_method": "S256"},
        {"code_challenge": CHALLENGE * 2, "code_challenge_method": "S256"},
    ],
)
def test_no_other_method_than_s256(app: Application, gatehouse: InProcess, changes: dict[str, str]) -> None:
    browser = signed_in(gatehouse)
    page = browser.authorize(**changes)
    assert page.query["error"] == "invalid_request"
    pushed = app.call("/oauth2/par", redirect_uri=CALLBACK, response_type="code", scope="openid", nonce="n", **changes)
    assert refused(pushed, "invalid_request")


def test_discovery_offers_no_other(gatehouse: InProcess) -> None:
    discovery = gatehouse.request("GET", "/.well-known/openid-configuration").json
    assert discovery["code_challenge_methods_supported"] == ["S256"]
    assert discovery["response_types_supported"] == ["code"]
    assert set(discovery["grant_types_supported"]) == {"authorization_code", "refresh_token"}
    assert set(discovery["response_modes_supported"]) == {"query", "form_post"}


def test_a_challenge_that_was_taken_out_on_the_way_shows(app: Application, gatehouse: InProcess) -> None:
    """PKCE downgrade: the application sends the verifier of a request whose challenge never arrived."""
    code = signed_in(gatehouse).authorize().query["code"]
    assert refused(app.exchange(code, code_verifier=VERIFIER))


def test_who_must_use_pkce_cannot_do_without(gatehouse: InProcess) -> None:
    browser = signed_in(gatehouse)
    public(gatehouse, "spa")
    Application(gatehouse, "strict", pkce=Pkce.REQUIRED)
    for client_id in ("spa", "strict"):
        answer = query_of(browser.authorize(client_id=client_id).location)
        assert answer["error"] == ["invalid_request"]
        assert "code" not in answer


def test_neither_pkce_nor_a_nonce_is_too_little(app: Application, gatehouse: InProcess) -> None:
    browser = signed_in(gatehouse)
    assert browser.authorize(nonce="").query["error"] == "invalid_request"
    assert browser.authorize(scope="profile").query["error"] == "invalid_request", "no ID token would carry the nonce"
    assert "code" in browser.authorize(nonce="", **WITH_PKCE).query


@pytest.mark.parametrize(
    "response_type", ["token", "id_token", "code id_token", "code token", "id_token token", "none", "CODE", "code code"]
)
def test_no_token_travels_by_the_browser(app: Application, gatehouse: InProcess, response_type: str) -> None:
    """Neither implicit nor hybrid; and no mode that puts the answer where scripts and logs find it."""
    browser = signed_in(gatehouse)
    assert browser.authorize(response_type=response_type).query["error"] == "unsupported_response_type"
    for mode in ("fragment", "web_message", "jwt", "query.jwt", "form_post.jwt", "QUERY"):
        answer = browser.authorize(response_mode=mode)
        assert answer.query["error"] == "invalid_request"
        assert "#" not in answer.location


@pytest.mark.parametrize(
    "grant",
    [
        "password",
        "client_credentials",
        "implicit",
        "urn:ietf:params:oauth:grant-type:jwt-bearer",
        "urn:ietf:params:oauth:grant-type:token-exchange",
        "urn:ietf:params:oauth:grant-type:device_code",
        "urn:openid:params:grant-type:ciba",
        "AUTHORIZATION_CODE",
    ],
)
def test_no_other_grant(app: Application, grant: str) -> None:
    answer = app.token(grant_type=grant, username="admin", password="x", scope="openid", code="x", assertion="x")
    assert refused(answer, "unsupported_grant_type")


# Codes of others


def test_a_code_is_of_one_application(app: Application, hostile: Application, gatehouse: InProcess) -> None:
    spa = public(gatehouse, "spa-of-a-thief")
    code = code_of(signed_in(gatehouse))
    for thief in (hostile, spa):
        assert refused(thief.exchange(code))
        assert refused(thief.token(grant_type="refresh_token", refresh_token=code))
    as_other = hostile.token(grant_type="authorization_code", code=code, client_id="app", client_secret=hostile.secret)
    assert refused(as_other, "invalid_client", 401)
    assert app.exchange(code).status == 200


def test_a_public_client_cannot_pose_as_one_with_a_secret(app: Application, gatehouse: InProcess) -> None:
    code = code_of(signed_in(gatehouse))
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": CALLBACK, "code_verifier": VERIFIER}
    assert refused(app.token(client_id="app", **form), "invalid_client", 401)
    assert refused(app.token(client_id="app", client_secret="", **form), "invalid_client", 401)


# Once, and in time


def gone(app: Application, tokens: dict[str, Any]) -> bool:
    """Whether nothing of what it gave is good any more."""
    assert app.userinfo(tokens["access_token"]).status == 401
    assert app.introspect(tokens["access_token"]) == {"active": False}
    return refused(app.refresh(tokens["refresh_token"]))


def test_a_code_that_is_used_twice_ends_all_that_it_gave(app: Application, gatehouse: InProcess) -> None:
    """Also what was refreshed since, and whichever of the two was the thief."""
    code = code_of(signed_in(gatehouse))
    tokens = app.exchange(code).json
    newer = app.refresh(tokens["refresh_token"]).json
    assert refused(app.exchange(code))
    assert gone(app, newer)
    assert app.userinfo(tokens["access_token"]).status == 401
    assert refused(app.exchange(code)), "and it stays so"


@pytest.mark.parametrize("times", [2, 8])
def test_at_once_on_two_nodes_one_wins_and_keeps_nothing(app: Application, gatehouse: InProcess, times: int) -> None:
    code = code_of(signed_in(gatehouse))
    nodes = [gatehouse, second_node(gatehouse)]
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": CALLBACK, "code_verifier": VERIFIER}

    async def all_at_once() -> list[Any]:
        return await asyncio.gather(
            *(app.post("/oauth2/token", form, node=nodes[number % 2]) for number in range(times))
        )

    answers = gatehouse.run(all_at_once())
    won = [answer for answer in answers if answer.status == 200]
    assert len(won) <= 1
    assert {answer.json["error"] for answer in answers if answer not in won} == {"invalid_grant"}
    for answer in won:
        assert gone(app, answer.json)
    gatehouse.run(nodes[1].service.stop())


def test_a_code_is_good_for_a_minute(app: Application, gatehouse: InProcess) -> None:
    browser = signed_in(gatehouse)
    code = code_of(browser)
    gatehouse.clock.move(60)
    assert refused(app.exchange(code))
    gatehouse.clock.move(-1)
    assert app.exchange(code).status == 200


def test_a_code_is_worth_nothing_after_the_logout(app: Application, gatehouse: InProcess) -> None:
    browser = signed_in(gatehouse)
    code = code_of(browser)
    browser.submit(browser.open("/oauth2/logout"), "log-out")
    assert refused(app.exchange(code))


def test_nor_once_its_user_is_disabled_or_may_not_any_more(app: Application, gatehouse: InProcess) -> None:
    add_person(gatehouse, "ann")
    first = code_of(signed_in(gatehouse, "ann"))
    tokens = tokens_of(app, signed_in(gatehouse, "ann"))
    app.edit(roles=("ADMIN",))
    assert refused(app.exchange(first))
    assert refused(app.refresh(tokens["refresh_token"]))
    assert app.userinfo(tokens["access_token"]).status == 401
    app.edit(roles=())
    second = code_of(signed_in(gatehouse, "ann"))
    gatehouse.run(gatehouse.accounts.disable_user("ann"))
    assert refused(app.exchange(second))


@pytest.mark.parametrize(
    "text", ["", "x", "%00", "../../etc/passwd", "' OR 1=1 --", "a" * 5000, "ü", "{}", "1.1-abc.1.x", "null"]
)
def test_what_is_no_code_is_refused(app: Application, text: str) -> None:
    answer = app.exchange(text)
    assert refused(answer, "invalid_grant" if text else "invalid_request")


def test_every_misuse_of_a_code_is_recorded(app: Application, gatehouse: InProcess) -> None:
    code = code_of(signed_in(gatehouse))
    app.exchange(code)
    key = Event.GRANT_ENDED, GrantEndReason.CODE_REUSED
    before = gatehouse.service.audit.counts[key]
    app.exchange(code)
    assert gatehouse.service.audit.counts[key] == before + 1


def test_a_code_in_one_browser_is_none_for_another_person(app: Application, gatehouse: InProcess) -> None:
    """Whoever logs in at a browser after somebody else gets codes of their own, and those from before are void."""
    add_person(gatehouse, "bob")
    browser = signed_in(gatehouse)
    before = code_of(browser)
    gatehouse.clock.move(1)
    page = browser.authorize(prompt="login", **WITH_PKCE)
    after = browser.sign_in(page, "bob").query["code"]
    assert refused(app.exchange(before))
    assert app.read(app.exchange(after).json["id_token"])["sub"] != "1"
