"""Tokens where they do not belong: of another kind, of another application, of another user, made by somebody else."""

from __future__ import annotations

import base64
import json
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from gatehouse.auth.keys.jws import sign_jwt
from gatehouse.auth.keys.service_keys import digest, new_service_key
from gatehouse.auth.refusals import ApplicationFieldInvalid
from gatehouse.stores.database.service_keys import ServiceKeyStore
from gatehouse.verify import KeySet, TokenInvalid, Verifier
from gatehouse.verify.jwk import VerificationKey, read_jwk
from tests.api.oauth.application import Application, public
from tests.api.oauth.attacks.parties import ISSUER, add_person, code_of, refused, signed_in, tokens_of
from tests.api.oauth.flow import Browser
from tests.support.inprocess import InProcess

KINDS = ("access_token", "id_token", "refresh_token")


@pytest.fixture
def tokens(app: Application, gatehouse: InProcess) -> dict[str, Any]:
    return tokens_of(app, signed_in(gatehouse))


@pytest.fixture
def own(gatehouse: InProcess) -> dict[str, Any]:
    """Of our API."""
    return gatehouse.login().data


# What applications get, at our API


@pytest.mark.parametrize("kind", KINDS)
def test_what_an_application_gets_opens_nothing_of_our_api(
    gatehouse: InProcess, tokens: dict[str, Any], kind: str
) -> None:
    """Also of an administrator: the application would be one."""
    token = tokens[kind]
    for method, path in (
        ("GET", "/api/v1/users/me"),
        ("POST", "/api/v1/auth/logout"),
        ("DELETE", "/api/v1/auth/logout"),
        ("GET", "/api/v1/users"),
        ("GET", "/api/v1/users/me/sessions"),
        ("GET", "/api/v1/users/me/applications"),
        ("POST", "/api/v1/auth/browser-session"),
        ("POST", "/api/v1/users/me/totp"),
        ("GET", "/api/v1/applications"),
    ):
        assert gatehouse.request(method, path, token=token).status == 401, path
    assert gatehouse.refresh(token).code == "A0231"
    key = new_service_key()
    gatehouse.run(ServiceKeyStore(gatehouse.service.stores.database).add(f"for {kind}", digest(key), 0))
    form = {"authorization": f"Bearer {key}", "content-type": "application/x-www-form-urlencoded"}
    asked = gatehouse.request("POST", "/oauth2/introspect", content=f"token={token}".encode(), headers=form)
    assert asked.json == {"active": False}


class Published(KeySet):
    """Our keys, without a socket between."""

    def __init__(self, gatehouse: InProcess) -> None:
        super().__init__("https://127.0.0.1:1/")
        self._published = gatehouse.request("GET", "/.well-known/jwks.json").json["keys"]

    def find(self, kid: str) -> VerificationKey | None:
        return next((read_jwk(each) for each in self._published if each["kid"] == kid), None)


@pytest.mark.parametrize("kind", ["access_token", "id_token"])
@pytest.mark.parametrize("token_type", ["at+jwt", "JWT"])
def test_nor_of_a_service_that_verifies_offline(
    gatehouse: InProcess, tokens: dict[str, Any], own: dict[str, Any], kind: str, token_type: str
) -> None:
    """Signed by the same keys; the audience is another, whatever the type is set to."""
    verifier = Verifier(Published(gatehouse), ISSUER, token_type=token_type, clock=gatehouse.clock)
    if token_type == "at+jwt":
        assert verifier.check(own["accessToken"]).user_id == 1
    with pytest.raises(TokenInvalid):
        verifier.check(tokens[kind])


@pytest.mark.parametrize(("client_id", "audience"), [("gatehouse", ""), ("impostor", "gatehouse")])
def test_no_application_can_be_called_what_our_own_tokens_are_for(
    gatehouse: InProcess, client_id: str, audience: str
) -> None:
    assert gatehouse.settings.audience == "gatehouse"
    with pytest.raises(ApplicationFieldInvalid):
        Application(gatehouse, client_id, audience=audience)


def test_what_we_publish_signs_nothing(gatehouse: InProcess) -> None:
    """Also of the keys that only ID tokens are signed with."""
    tokens_of(Application(gatehouse, "by-rsa", id_token_alg="RS256"), signed_in(gatehouse))
    keys = gatehouse.request("GET", "/.well-known/jwks.json").json["keys"]
    assert {key["alg"] for key in keys} == {"ES256", "RS256"}
    for key in keys:
        assert key.keys() <= {"kty", "kid", "alg", "use", "crv", "x", "y", "n", "e"}


# Ours, and those of another kind, where applications' tokens belong


def test_tokens_of_our_api_are_none_of_an_application(
    app: Application, gatehouse: InProcess, own: dict[str, Any]
) -> None:
    """A front end's token shows nothing to an application, and none can end its session."""
    access, refresh = own["accessToken"], own["refreshToken"]
    assert app.userinfo(access).status == 401
    assert app.introspect(access) == {"active": False}
    assert refused(app.refresh(refresh))
    for token in (access, refresh):
        assert app.revoke(token).status == 200
    assert gatehouse.me(access).status == 200
    assert gatehouse.refresh(refresh).status == 200


def test_each_kind_is_good_for_one_thing(app: Application, gatehouse: InProcess, tokens: dict[str, Any]) -> None:
    code = code_of(signed_in(gatehouse))
    for kind in ("id_token", "refresh_token"):
        assert app.userinfo(tokens[kind]).status == 401, kind
        assert app.introspect(tokens[kind]) == {"active": False}, kind
    for kind in ("id_token", "access_token"):
        assert refused(app.refresh(tokens[kind]))
    for kind in KINDS:
        assert refused(app.exchange(tokens[kind]))
    assert refused(app.refresh(code))
    assert app.userinfo(code).status == 401
    assert app.revoke(tokens["id_token"]).status == 200
    assert app.userinfo(tokens["access_token"]).status == 200, "an ID token ends nothing"


# Of another application


def test_tokens_of_another_application_are_worth_nothing(
    app: Application, hostile: Application, gatehouse: InProcess, tokens: dict[str, Any]
) -> None:
    spa = public(gatehouse, f"spa-{gatehouse.clock():.0f}")
    for thief in (hostile, spa):
        for form in ({}, {"scope": "openid"}):
            assert refused(thief.refresh(tokens["refresh_token"], **form))
        for kind in KINDS:
            assert thief.revoke(tokens[kind]).status == 200
    for kind in KINDS:
        assert hostile.introspect(tokens[kind]) == {"active": False}
    assert app.introspect(tokens["access_token"])["active"] is True, "and it is not revoked by it"
    assert app.refresh(tokens["refresh_token"]).status == 200


def test_no_scope_is_won_by_a_refresh(app: Application, gatehouse: InProcess) -> None:
    browser = signed_in(gatehouse)
    few = tokens_of(app, browser, scope="openid offline_access")
    for scope in ("openid email", "email", "openid roles offline_access", "admin", "*", "openid\tphone"):
        assert refused(app.refresh(few["refresh_token"], scope=scope), "invalid_scope")
    narrow = app.refresh(few["refresh_token"], scope="openid admin").json
    assert narrow["scope"] == "openid"
    assert app.userinfo(narrow["access_token"]).json.keys() == {"sub"}


def test_a_scope_that_was_narrowed_hides_claims_again(app: Application, gatehouse: InProcess) -> None:
    all_of_it = tokens_of(app, signed_in(gatehouse), scope="openid profile offline_access")
    narrow = app.refresh(all_of_it["refresh_token"], scope="openid").json
    assert app.userinfo(narrow["access_token"]).json.keys() == {"sub"}
    assert "nickname" in app.userinfo(app.refresh(narrow["refresh_token"]).json["access_token"]).json


def test_without_offline_access_there_is_no_refresh_token(app: Application, gatehouse: InProcess) -> None:
    assert "refresh_token" not in tokens_of(app, signed_in(gatehouse), scope="openid profile")


def test_an_application_gets_no_scope_that_it_may_not_ask_for(gatehouse: InProcess) -> None:
    app = Application(gatehouse, "modest", scopes=("openid", "profile"))
    browser = signed_in(gatehouse)
    tokens = tokens_of(app, browser, scope="openid profile email phone roles offline_access")
    assert set(tokens["scope"].split()) == {"openid", "profile"}
    assert "refresh_token" not in tokens
    claims = '{"userinfo": {"email": null, "roles": {"essential": true}}, "id_token": {"phone_number": null}}'
    tokens = tokens_of(app, browser, scope="openid", claims=claims)
    assert app.userinfo(tokens["access_token"]).json.keys() == {"sub"}
    assert not app.read(tokens["id_token"]).keys() & {"email", "roles", "phone_number"}


def test_scopes_that_are_taken_back_are_gone_at_once(gatehouse: InProcess) -> None:
    """From tokens that are out already, from what is asked for by name, and at the next refresh."""
    app = Application(gatehouse, "lesser")
    by_name = '{"userinfo": {"preferred_username": null}}'
    tokens = tokens_of(app, signed_in(gatehouse), scope="openid profile roles offline_access", claims=by_name)
    assert app.userinfo(tokens["access_token"]).json["preferred_username"] == "admin"
    app.edit(scopes=("openid", "offline_access"))
    assert app.userinfo(tokens["access_token"]).json.keys() == {"sub"}
    assert not app.introspect(tokens["access_token"]).keys() & {"username", "roles"}
    newer = app.refresh(tokens["refresh_token"]).json
    assert newer["scope"] == "openid offline_access"
    assert "roles" not in app.read(newer["access_token"])
    app.edit(scopes=("openid",))
    assert refused(app.refresh(newer["refresh_token"]))


def test_and_from_a_login_that_is_under_way(gatehouse: InProcess) -> None:
    """Asked for before, by a request that was pushed or a page that was open; or a code that was out already."""
    app = Application(gatehouse, "least", claims_in_id_token=True)
    code = app.code(app.session())
    app.edit(scopes=("openid",))
    tokens = app.exchange(code).json
    assert (tokens["scope"], "refresh_token" in tokens) == ("openid", False)
    assert "roles" not in app.read(tokens["access_token"])
    assert not app.read(tokens["id_token"]).keys() & {"roles", "name", "preferred_username"}


def test_introspection_tells_no_more_than_the_scopes(app: Application, gatehouse: InProcess) -> None:
    tokens = tokens_of(app, signed_in(gatehouse), scope="openid")
    assert not app.introspect(tokens["access_token"]).keys() & {"username", "roles", "perms", "email", "name"}


# After the end


def test_nothing_outlives_the_logout(app: Application, gatehouse: InProcess) -> None:
    browser = signed_in(gatehouse)
    tokens = tokens_of(app, browser)
    browser.submit(browser.open("/oauth2/logout"), "log-out")
    assert refused(app.refresh(tokens["refresh_token"]))
    assert app.userinfo(tokens["access_token"]).status == 401
    assert app.introspect(tokens["access_token"]) == {"active": False}


def test_nor_the_user(app: Application, gatehouse: InProcess) -> None:
    add_person(gatehouse, "frank")
    tokens = tokens_of(app, signed_in(gatehouse, "frank"))
    gatehouse.run(gatehouse.accounts.disable_user("frank"))
    assert refused(app.refresh(tokens["refresh_token"]))
    assert app.userinfo(tokens["access_token"]).status == 401


def test_an_application_that_is_switched_off_and_on_starts_anew(gatehouse: InProcess) -> None:
    app = Application(gatehouse, "switched")
    tokens = tokens_of(app, signed_in(gatehouse))
    app.change(enabled=False)
    assert refused(app.refresh(tokens["refresh_token"]), "invalid_client", 401)
    assert app.userinfo(tokens["access_token"]).status == 401
    app.change(enabled=True)
    assert refused(app.refresh(tokens["refresh_token"]))
    assert app.userinfo(tokens["access_token"]).status == 401


def test_a_stolen_refresh_token_is_noticed_by_its_second_use(app: Application, gatehouse: InProcess) -> None:
    """And then the login itself has ended: nobody knows who the thief was."""
    browser = signed_in(gatehouse)
    tokens = tokens_of(app, browser)
    newer = app.refresh(tokens["refresh_token"]).json
    gatehouse.clock.move(11)
    assert refused(app.refresh(tokens["refresh_token"]))
    assert refused(app.refresh(newer["refresh_token"]))
    assert app.userinfo(newer["access_token"]).status == 401
    assert "captchaCode" in browser.authorize().fields


@pytest.mark.parametrize("change", ["user", "generation", "mac", "prefix", "own"])
def test_a_refresh_token_cannot_be_made(
    app: Application, gatehouse: InProcess, tokens: dict[str, Any], change: str
) -> None:
    version, grant, generation, mac = tokens["refresh_token"].split(".")
    forged = {
        "user": f"{version}.1{grant[1:]}.{generation}.{mac}",
        "generation": f"{version}.{grant}.{int(generation) + 1}.{mac}",
        "mac": f"{version}.{grant}.{generation}.{'A' * 43}",
        "prefix": f"2.{grant}.{generation}.{mac}",
        # Made as our own refresh tokens are, from a session that every ID token names.
        "own": f"{version}.{app.read(tokens['id_token'])['sid']}.{generation}.{mac}",
    }[change]
    assert refused(app.refresh(forged))
    assert gatehouse.refresh(forged).code == "A0231"
    assert app.refresh(tokens["refresh_token"]).status == 200


# Hints: at a logout and at authorize


ATTACKER = ec.generate_private_key(ec.SECP256R1())


def hints(app: Application, gatehouse: InProcess, tokens: dict[str, Any]) -> dict[str, str]:
    """What is no ID token of ours, although it looks like one. Each names a live session."""
    claims = app.read(tokens["id_token"])
    ring = gatehouse.service.key_ring
    kid = jwt.get_unverified_header(tokens["id_token"])["kid"]
    [key] = [each for each in gatehouse.request("GET", "/.well-known/jwks.json").json["keys"] if each["kid"] == kid]
    pem = jwt.PyJWK(key).key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    head = (
        base64.urlsafe_b64encode(json.dumps({"alg": "HS256", "kid": kid, "typ": "JWT"}).encode()).decode().rstrip("=")
    )
    body = tokens["id_token"].split(".")[1]
    mac = jwt.get_algorithm_by_name("HS256").sign(f"{head}.{body}".encode(), pem)
    return {
        "an access token": tokens["access_token"],
        "a refresh token": tokens["refresh_token"],
        "alg none": jwt.encode(claims, "", "none", headers={"kid": kid}),
        "an HMAC with our public key": f"{head}.{body}.{base64.urlsafe_b64encode(mac).decode().rstrip('=')}",
        "signed by the attacker": jwt.encode(claims, ATTACKER, "ES256", headers={"kid": kid}),
        "without a signature": tokens["id_token"].rpartition(".")[0] + ".",
        "of another issuer": sign_jwt(ring.signer, "JWT", {**claims, "iss": "https://evil.example"}),
        "a logout token": sign_jwt(ring.signer, "logout+jwt", claims),
        "without azp": sign_jwt(ring.signer, "JWT", {**claims, "azp": "other"}),
        "for two": sign_jwt(ring.signer, "JWT", {**claims, "aud": ["app", "hostile"], "azp": ["app", "hostile"]}),
        "too long": tokens["id_token"] + "A" * 5000,
    }


def test_what_is_no_id_token_of_ours_is_no_hint(app: Application, gatehouse: InProcess) -> None:
    """Nobody is logged out by it, and nobody is taken to be somebody."""
    victim = signed_in(gatehouse)
    tokens = tokens_of(app, victim)
    for what, hint in hints(app, gatehouse, tokens).items():
        for browser in (Browser(gatehouse), victim):
            browser.open("/oauth2/logout", id_token_hint=hint)
            browser.follow(browser.send("POST", f"{ISSUER}/oauth2/logout", {"id_token_hint": hint}))
        assert "code" in victim.authorize().query, what
        assert "code" in victim.authorize(id_token_hint=hint, prompt="none").query, "passed over"


def test_a_hint_of_another_person_gives_no_code(app: Application, gatehouse: InProcess) -> None:
    """The application that asks for somebody does not get whoever is there."""
    add_person(gatehouse, "grace")
    hint = tokens_of(app, signed_in(gatehouse, "grace"))["id_token"]
    browser = signed_in(gatehouse)
    gatehouse.clock.move(1)
    assert browser.authorize(id_token_hint=hint, prompt="none").query["error"] == "login_required"
    assert "captchaCode" in browser.authorize(id_token_hint=hint).fields
