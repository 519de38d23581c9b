"""From a code to tokens, what they say, and how they are refreshed and revoked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jwt
import pytest

from gatehouse.auth.audit import ClientInfo, SessionEndReason
from gatehouse.auth.oauth.scope_claims import SCOPE_OF
from gatehouse.stores.database.users import UserChange
from tests.api.oauth.application import CALLBACK, CHALLENGE, SCOPES, VERIFIER, Application, at_hash, public
from tests.support.inprocess import Answer, InProcess
from tests.support.people import change_user

pytestmark = [pytest.mark.usefixtures("engines"), pytest.mark.every_engine]


@pytest.fixture
def gatehouse(tmp_path: Path) -> Iterator[InProcess]:
    with InProcess(tmp_path / "data", issuer="https://gatehouse.localhost") as running:
        yield running


@pytest.fixture
def app(gatehouse: InProcess) -> Application:
    return Application(gatehouse)


def refused(answer: Answer, error: str = "invalid_grant", status: int = 400) -> bool:
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.json.keys() == {"error", "error_description"}
    description = answer.json["error_description"]
    assert description.isascii(), description
    assert not set(description) & set('"\\\n')
    return (answer.status, answer.json["error"]) == (status, error)


def test_a_code_gives_tokens(app: Application) -> None:
    session = app.session()
    answer = app.exchange(app.code(session))
    assert answer.headers["cache-control"] == "no-store"
    tokens = answer.json
    assert tokens.keys() == {"access_token", "token_type", "expires_in", "scope", "refresh_token", "id_token"}
    assert (tokens["token_type"], tokens["expires_in"], tokens["scope"]) == ("Bearer", 7200, " ".join(SCOPES))
    now = int(app.gatehouse.clock())
    assert app.read(tokens["id_token"]) == {
        "iss": "https://gatehouse.localhost",
        "sub": "1",
        "aud": "app",
        "azp": "app",
        "iat": now,
        "exp": now + 7200,
        "auth_time": now,
        "nonce": "a nonce",
        "acr": "1",
        "amr": ["pwd"],
        "sid": session.id,
        "at_hash": at_hash(tokens["access_token"]),
    }
    access = app.read(tokens["access_token"])
    assert jwt.get_unverified_header(tokens["access_token"])["typ"] == "at+jwt"
    assert access | {"jti": "", "grant": ""} == {
        "iss": "https://gatehouse.localhost",
        "sub": "1",
        "aud": "app",
        "client_id": "app",
        "scope": " ".join(SCOPES),
        "iat": now,
        "exp": now + 7200,
        "auth_time": now,
        "acr": "1",
        "amr": ["pwd"],
        "sid": session.id,
        "roles": ["ADMIN"],
        "jti": "",
        "grant": "",
    }


def test_what_was_not_asked_for_is_not_there(app: Application) -> None:
    tokens = app.tokens(scopes=("profile",), nonce="")
    assert tokens.keys() == {"access_token", "token_type", "expires_in", "scope"}
    assert "roles" not in app.read(tokens["access_token"])
    assert "nonce" not in app.read(app.tokens(scopes=("openid",), nonce="")["id_token"])


@pytest.mark.parametrize("methods", [("pwd", "otp"), ("hwk",), ("oidc@corp", "mfa")])
def test_two_factors_are_told(app: Application, methods: tuple[str, ...]) -> None:
    claims = app.read(app.tokens(app.session(methods=methods))["id_token"])
    assert claims["acr"] == "2"
    assert claims["amr"] == [method.partition("@")[0] for method in methods]


@pytest.mark.parametrize("algorithm", ["RS256", "ES256"])
def test_an_id_token_is_signed_as_the_application_wants_it(gatehouse: InProcess, algorithm: str) -> None:
    app = Application(gatehouse, id_token_alg=algorithm)
    token = app.tokens()["id_token"]
    assert jwt.get_unverified_header(token) | {"kid": ""} == {"alg": algorithm, "typ": "JWT", "kid": ""}
    assert app.read(token)["sub"] == "1"


def test_an_audience_of_its_own(gatehouse: InProcess) -> None:
    app = Application(gatehouse, audience="https://api.example")
    tokens = app.tokens()
    assert app.read(tokens["access_token"], "https://api.example")["client_id"] == "app"
    assert app.read(tokens["id_token"])["aud"] == "app"


@pytest.mark.parametrize(
    ("changes", "form"),
    [
        ({}, {"redirect_uri": "https://app.example/other"}),
        ({"challenge": ""}, {"redirect_uri": "", "code_verifier": ""}),
        ({}, {"code_verifier": ""}),
        ({}, {"code_verifier": VERIFIER[:-1] + "l"}),
        ({}, {"code_verifier": CHALLENGE}),
        ({"challenge": "a" * 43}, {"code_verifier": "a" * 43}),
        ({"challenge": ""}, {}),
    ],
    ids=["another address", "no address", "no verifier", "wrong", "the challenge", "plain", "no challenge"],
)
def test_a_code_wants_what_it_was_made_with(app: Application, changes: dict[str, Any], form: dict[str, str]) -> None:
    code = app.code(**changes)
    assert refused(app.exchange(code, **form))
    good = {} if "challenge" not in changes else {"code_verifier": "" if not changes["challenge"] else "b" * 43}
    assert (app.exchange(code, **good).status == 200) is (changes.get("challenge") != "a" * 43), "it is not used up"


def test_pkce_stands_for_the_address(app: Application) -> None:
    assert app.exchange(app.code(), redirect_uri="").status == 200


def test_a_code_has_room_for_all_that_a_request_may_ask(app: Application) -> None:
    callback = f"{CALLBACK}?{'x' * 990}"
    app.edit(redirect_uris=(callback,))
    code = app.code(redirect_uri=callback, nonce="北" * 512, claims=tuple(SCOPE_OF), id_token_claims=tuple(SCOPE_OF))
    assert app.exchange(code, redirect_uri=callback).status == 200


def test_a_code_of_another_application_is_refused_and_not_used_up(app: Application) -> None:
    other = Application(app.gatehouse, "other")
    code = app.code()
    assert refused(other.exchange(code))
    assert app.exchange(code).status == 200


def test_a_code_lives_a_minute(app: Application) -> None:
    code = app.code()
    app.gatehouse.clock.move(60)
    assert refused(app.exchange(code))


@pytest.mark.parametrize("later", [0, 59, 61, 3600])
def test_a_code_that_comes_twice_ends_what_it_gave(app: Application, later: int) -> None:
    session = app.session()
    others = app.tokens(session)
    code = app.code(session)
    tokens = app.exchange(code).json
    app.gatehouse.clock.move(later)
    assert refused(app.exchange(code))
    assert app.userinfo(tokens["access_token"]).status == 401
    assert refused(app.refresh(tokens["refresh_token"]))
    assert app.userinfo(others["access_token"]).status == 200, "what another code gave lives on"


@pytest.mark.parametrize("form", [{}, {"grant_type": "authorization_code"}, {"grant_type": "refresh_token"}])
def test_what_is_missing_is_named(app: Application, form: dict[str, str]) -> None:
    assert refused(app.token(**form), "invalid_request")


@pytest.mark.parametrize("kind", ["password", "client_credentials", "implicit", "urn:ietf:params:oauth:grant-type:x"])
def test_there_are_no_other_grants(app: Application, kind: str) -> None:
    assert refused(app.token(grant_type=kind, username="admin", password="x"), "unsupported_grant_type")


@pytest.mark.parametrize("text", ["", "x", "a" * 5000, "…", "1.2.3"])
def test_what_is_no_code_is_refused(app: Application, text: str) -> None:
    assert app.exchange(text).status == 400
    assert app.refresh(text).status == 400


# Refresh


def test_a_refresh_rotates_and_keeps_the_login(app: Application) -> None:
    session = app.session()
    first = app.tokens(session)
    app.gatehouse.clock.move(100)
    second = app.refresh(first["refresh_token"])
    assert second.status == 200
    assert second.json["refresh_token"] != first["refresh_token"]
    before, after = app.read(first["id_token"]), app.read(second.json["id_token"])
    assert after["iat"] == before["iat"] + 100
    same = ("iss", "sub", "aud", "azp", "auth_time", "sid", "acr", "amr")
    assert [after[name] for name in same] == [before[name] for name in same]
    assert "nonce" not in after
    assert after["at_hash"] == at_hash(second.json["access_token"])


def test_a_refresh_extends_the_session(app: Application) -> None:
    session = app.session()
    token = app.tokens(session)["refresh_token"]
    for _ in range(3):
        app.gatehouse.clock.move(600_000)  # each time shortly before it would end
        token = app.refresh(token).json["refresh_token"]
    [live] = app.gatehouse.run(app.gatehouse.service.sessions.of_user(1))
    assert live.id == session.id


def test_nothing_outlives_the_session(app: Application) -> None:
    session = app.session()
    token = app.tokens(session)["refresh_token"]
    answer = None
    while app.gatehouse.clock() < session.absolute_end - 3600:
        app.gatehouse.clock.move(min(600_000, session.absolute_end - 3600 - app.gatehouse.clock()))
        answer = app.refresh(token)
        token = answer.json["refresh_token"]
    assert answer is not None
    assert answer.json["expires_in"] == 3600
    app.gatehouse.clock.move(3600)
    assert refused(app.refresh(token))


def test_a_lost_answer_is_repeated_within_the_grace_window(app: Application) -> None:
    first = app.tokens()["refresh_token"]
    second = app.refresh(first).json["refresh_token"]
    app.gatehouse.clock.move(9)
    assert app.refresh(first).json["refresh_token"] == second


def test_a_reused_refresh_token_ends_the_session_and_all_that_hangs_on_it(app: Application) -> None:
    session = app.session()
    stolen = app.tokens(session)["refresh_token"]
    current = app.refresh(stolen).json
    other = Application(app.gatehouse, "other").tokens(session)
    app.gatehouse.clock.move(11)
    assert refused(app.refresh(stolen))
    assert app.gatehouse.run(app.gatehouse.service.sessions.of_user(1)) == []
    assert refused(app.refresh(current["refresh_token"]))
    assert app.userinfo(current["access_token"]).status == 401
    assert app.userinfo(other["access_token"]).status == 401


def test_a_refresh_token_is_of_its_application_alone(app: Application) -> None:
    other = Application(app.gatehouse, "other")
    token = app.tokens()["refresh_token"]
    assert refused(other.refresh(token))
    assert app.refresh(token).status == 200, "the attempt of another has ended nothing"


def test_fewer_scopes_may_be_asked_for_and_never_more(app: Application) -> None:
    token = app.tokens(scopes=("openid", "email", "offline_access"))["refresh_token"]
    assert refused(app.refresh(token, scope="openid profile"), "invalid_scope")
    fewer = app.refresh(token, scope="openid unknown").json
    assert fewer["scope"] == "openid"
    assert "email" not in app.userinfo(fewer["access_token"]).json
    assert app.refresh(fewer["refresh_token"]).json["scope"] == "openid email offline_access"


def test_refresh_tokens_of_both_kinds_are_not_taken_for_each_other(app: Application) -> None:
    ours = app.gatehouse.login().data["refreshToken"]
    theirs = app.tokens()["refresh_token"]
    assert refused(app.refresh(ours))
    answer = app.gatehouse.refresh(theirs)
    assert (answer.status, answer.code) == (401, "A0231")
    assert app.gatehouse.refresh(ours).status == 200
    assert app.refresh(theirs).status == 200


# Who may have tokens is asked each time


def end_session(app: Application, session: str) -> None:
    sessions = app.gatehouse.service.sessions
    app.gatehouse.run(sessions.end(session, SessionEndReason.LOGOUT, ClientInfo()))


def test_a_logout_ends_everything_at_once(app: Application) -> None:
    session = app.session()
    code, tokens = app.code(session), app.tokens(session)
    end_session(app, session.id)
    assert refused(app.exchange(code))
    assert refused(app.refresh(tokens["refresh_token"]))
    assert app.userinfo(tokens["access_token"]).status == 401
    assert app.introspect(tokens["access_token"]) == {"active": False}


@pytest.mark.parametrize("switch", ["user", "client", "roles", "second factor"])
def test_who_may_not_any_more_gets_nothing(app: Application, switch: str) -> None:
    session = app.session()
    code, tokens = app.code(session), app.tokens(session)
    status, error = 400, "invalid_grant"
    match switch:
        case "user":
            stores = app.gatehouse.service.stores
            app.gatehouse.run(change_user(stores.database, 1, enabled=False))
            app.gatehouse.run(stores.state.raise_epochs([1], app.gatehouse.clock()))
        case "client":
            app.change(enabled=False)
            status, error = 401, "invalid_client"
        case "roles":
            app.gatehouse.run(app.gatehouse.accounts.add_role("OPS", "Ops"))
            app.edit(roles=("OPS",))
        case "second factor":
            policy = app.gatehouse.service.factors.session_policy
            policy._policy = policy._policy._replace(roles=frozenset({"ADMIN"}))
            policy.requires_some = True
    assert app.userinfo(tokens["access_token"]).status == 401
    assert refused(app.exchange(code), error, status)
    assert refused(app.refresh(tokens["refresh_token"]), error, status)


# Userinfo


def test_userinfo_has_the_claims_of_the_scopes(app: Application) -> None:
    change = UserChange(nickname="Ann", email="ann@example.com", mobile="13800000000", gender=2)
    app.gatehouse.run(app.gatehouse.accounts.edit_user("admin", change))

    def claims(*scopes: str) -> dict[str, Any]:
        found = app.userinfo(app.tokens(scopes=("openid", *scopes))["access_token"]).json
        assert found.pop("sub") == "1"
        return found

    assert claims() == {}
    assert claims("email") == {"email": "ann@example.com", "email_verified": False}
    assert claims("phone") == {"phone_number": "13800000000", "phone_number_verified": False}
    assert claims("roles") == {"roles": ["ADMIN"], "dept": 1}
    profile = claims("profile")
    assert profile.pop("updated_at")
    assert profile == {
        "name": "Ann",
        "nickname": "Ann",
        "preferred_username": "admin",
        "gender": "female",
        "picture": "https://gatehouse.localhost/avatar.svg",
    }


def test_claims_that_were_asked_for_by_name(app: Application) -> None:
    tokens = app.tokens(scopes=("openid",), claims=("name",), id_token_claims=("preferred_username",))
    assert app.userinfo(tokens["access_token"]).json.keys() == {"sub", "name"}
    claims = app.read(tokens["id_token"])
    assert claims["preferred_username"] == "admin"
    assert "name" not in claims
    assert len(" ".join(SCOPE_OF)) <= 255, "all of them fit into the column of a grant"


def test_an_application_that_does_not_ask_userinfo(gatehouse: InProcess) -> None:
    app = Application(gatehouse, claims_in_id_token=True, emails_trusted=True)
    gatehouse.run(gatehouse.accounts.edit_user("admin", UserChange(email="ann@example.com")))
    tokens = app.tokens()
    for token in (tokens["id_token"], app.refresh(tokens["refresh_token"]).json["id_token"]):
        claims = app.read(token)
        assert claims["preferred_username"] == "admin"
        assert claims["email_verified"] is True
        assert claims["roles"] == ["ADMIN"]


def test_userinfo_takes_the_token_from_the_header_or_a_form(app: Application) -> None:
    token = app.tokens()["access_token"]
    send = app.gatehouse.request
    form = {
        "content": f"access_token={token}".encode(),
        "headers": {"content-type": "application/x-www-form-urlencoded"},
    }
    assert send("POST", "/oauth2/userinfo", token=token).status == 200
    assert send("POST", "/oauth2/userinfo", **form).json["sub"] == "1"
    assert refused(send("POST", "/oauth2/userinfo", token=token, **form), "invalid_request")
    without = send("GET", "/oauth2/userinfo", query={"access_token": token})
    assert (without.status, without.headers["www-authenticate"]) == (401, 'Bearer realm="gatehouse"')
    wrong = send("GET", "/oauth2/userinfo", token="x")
    assert 'error="invalid_token"' in wrong.headers["www-authenticate"]


def test_userinfo_wants_the_scope_openid(app: Application) -> None:
    answer = app.userinfo(app.tokens(scopes=("profile",))["access_token"])
    assert answer.status == 403
    assert 'error="insufficient_scope"' in answer.headers["www-authenticate"]


def test_an_access_token_expires(app: Application) -> None:
    token = app.tokens()["access_token"]
    app.gatehouse.clock.move(7200)
    assert app.userinfo(token).status == 401


# Introspection and revocation


def test_an_application_introspects_its_own_tokens(app: Application) -> None:
    session = app.session()
    token = app.tokens(session)["access_token"]
    now = int(app.gatehouse.clock())
    assert app.introspect(token) == {
        "active": True,
        "token_type": "Bearer",
        "client_id": "app",
        "scope": " ".join(SCOPES),
        "sub": "1",
        "username": "admin",
        "sid": session.id,
        "roles": ["ADMIN"],
        "iss": "https://gatehouse.localhost",
        "aud": "app",
        "iat": now,
        "exp": now + 7200,
        "auth_time": now,
        "acr": "1",
        "amr": ["pwd"],
    }
    inactive = {"active": False}
    assert Application(app.gatehouse, "other").introspect(token) == inactive
    assert app.introspect(app.gatehouse.login().data["accessToken"]) == inactive
    assert app.introspect(app.tokens()["id_token"]) == inactive
    assert app.introspect("x") == inactive
    assert refused(public(app.gatehouse).call("/oauth2/introspect", token=token), "invalid_client", 401)


@pytest.mark.parametrize("kind", ["access_token", "refresh_token"])
def test_either_token_revokes_the_grant(app: Application, kind: str) -> None:
    session = app.session()
    tokens, others = app.tokens(session), app.tokens(session)
    answer = app.revoke(tokens[kind])
    assert (answer.status, answer.content) == (200, b"")
    assert app.userinfo(tokens["access_token"]).status == 401
    assert refused(app.refresh(tokens["refresh_token"]))
    assert app.userinfo(others["access_token"]).status == 200
    assert app.revoke(tokens[kind]).status == 200, "it is revoked already"


def test_only_tokens_of_its_own_are_revoked(app: Application) -> None:
    tokens = app.tokens()
    other = Application(app.gatehouse, "other")
    for text in (tokens["refresh_token"], tokens["access_token"], tokens["id_token"], "x"):
        assert other.revoke(text).status == 200
    assert refused(other.revoke(""), "invalid_request")
    assert app.userinfo(tokens["access_token"]).status == 200


def test_a_public_client_has_the_same(gatehouse: InProcess) -> None:
    app = public(gatehouse)
    tokens = app.tokens()
    again = app.refresh(tokens["refresh_token"]).json
    assert app.userinfo(again["access_token"]).json["sub"] == "1"
    assert app.revoke(again["refresh_token"]).status == 200
    assert app.userinfo(again["access_token"]).status == 401


# Pushed requests


def test_a_request_is_pushed_and_opened_once(app: Application) -> None:
    asked = {"response_type": "code", "redirect_uri": CALLBACK, "scope": "openid", "nonce": "n", "state": "s"}
    answer = app.call("/oauth2/par", **asked)
    assert answer.status == 201
    assert answer.json["expires_in"] == 90
    requests, pushed = app.gatehouse.service.oauth.requests, app.gatehouse.service.oauth.pushed_requests
    named = {"client_id": "app", "request_uri": answer.json["request_uri"], "state": "another"}
    request, client = app.gatehouse.run(requests.read(named))
    assert (request.state, request.nonce, client.client_id) == ("s", "n", "app")
    kept, _ = app.gatehouse.run(requests.read(named | {"request_uri": pushed.make(request)}))
    assert kept.at == request.at == app.gatehouse.clock()
    assert app.gatehouse.run(pushed.use(kept))
    assert not app.gatehouse.run(pushed.use(request)), "one code, whichever way it came"


def test_a_pushed_request_is_refused_as_it_would_be_later(app: Application) -> None:
    good = {"response_type": "code", "redirect_uri": CALLBACK, "scope": "openid", "nonce": "n"}
    assert refused(app.call("/oauth2/par", **good | {"redirect_uri": "https://evil.example"}), "invalid_request")
    assert refused(app.call("/oauth2/par", **good | {"nonce": ""}), "invalid_request")
    assert refused(app.call("/oauth2/par", **good | {"response_type": "token"}), "unsupported_response_type")
    assert refused(app.call("/oauth2/par", **good, request_uri="urn:x"), "invalid_request")
    assert refused(app.call("/oauth2/par", **good, request="eyJ"), "request_not_supported")
