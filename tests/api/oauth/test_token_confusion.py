"""No token is taken for one of another kind: not by our API, not by introspection, not by userinfo."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from gatehouse.api.operation_declaration import operations_of
from gatehouse.api.operation_table import endpoint_classes
from gatehouse.auth.keys.jws import sign_jwt
from gatehouse.auth.keys.service_keys import digest, new_service_key
from tests.api.oauth.application import Application
from tests.support.inprocess import InProcess


@pytest.fixture(scope="module", params=["at+jwt", "JWT"])
def gatehouse(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcess]:
    """The second type is one that older backends want our access tokens to have; ID tokens have it always."""
    with InProcess(tmp_path_factory.mktemp("kinds") / "data", token_type=request.param) as running:
        yield running


@pytest.fixture(scope="module")
def app(gatehouse: InProcess) -> Application:
    return Application(gatehouse)


@pytest.fixture(scope="module")
def tokens(app: Application) -> dict[str, Any]:
    return app.tokens()


def operations(gatehouse: InProcess) -> list[tuple[str, str]]:
    declared = [each for endpoints in endpoint_classes(gatehouse.settings) for each in operations_of(endpoints)]
    return [(each.method, each.path.replace("{", "").replace("}", "")) for each in declared if not each.public]


@pytest.mark.parametrize("kind", ["access_token", "id_token", "refresh_token"])
def test_no_operation_takes_a_token_of_an_application(gatehouse: InProcess, tokens: dict[str, Any], kind: str) -> None:
    asked = operations(gatehouse)
    assert len(asked) > 80
    for method, path in asked:
        answer = gatehouse.request(method, path, token=tokens[kind])
        assert (answer.status, answer.code) == (401, "A0230"), (method, path)


@pytest.mark.parametrize("claim", ["client_id", "azp"])
def test_not_even_one_with_our_audience(gatehouse: InProcess, app: Application, claim: str) -> None:
    """As if an application were called like our audience: what names an application opens nothing."""
    ours = gatehouse.login().data["accessToken"]
    claims = app.read(ours, gatehouse.settings.audience)
    signer = gatehouse.service.key_ring.signer
    assert gatehouse.me(sign_jwt(signer, gatehouse.settings.token_type, claims)).status == 200
    assert gatehouse.me(sign_jwt(signer, gatehouse.settings.token_type, {**claims, claim: "app"})).status == 401


def test_a_service_key_learns_nothing_of_them(gatehouse: InProcess, tokens: dict[str, Any]) -> None:
    key = new_service_key()
    gatehouse.run(gatehouse.service.stores.service_keys.add("billing", digest(key), 0))

    def introspected(token: str) -> dict[str, Any]:
        return gatehouse.request("POST", "/oauth2/introspect", content=f"token={token}".encode(), token=key).json

    for kind in ("access_token", "id_token", "refresh_token"):
        assert introspected(tokens[kind]) == {"active": False}
    assert introspected(gatehouse.login().data["accessToken"])["active"]


def test_userinfo_takes_none_of_ours(app: Application, tokens: dict[str, Any]) -> None:
    ours = app.gatehouse.login().data
    for token in (ours["accessToken"], ours["refreshToken"], tokens["id_token"], tokens["refresh_token"], "", "a.b.c"):
        assert app.userinfo(token).status == 401
    assert app.userinfo(tokens["access_token"]).status == 200


def test_an_access_token_is_no_hint_and_no_code(app: Application, tokens: dict[str, Any]) -> None:
    id_tokens = app.gatehouse.service.oauth.id_tokens
    hint = app.gatehouse.run(id_tokens.read_hint(tokens["id_token"]))
    assert hint is not None
    assert (hint.subject, hint.client_id) == ("1", "app")
    for token in (tokens["access_token"], app.gatehouse.login().data["accessToken"], tokens["id_token"][:-2], "x"):
        assert app.gatehouse.run(id_tokens.read_hint(token)) is None
        assert app.exchange(token).status == 400
    app.gatehouse.clock.move(86_400 * 20)
    assert app.gatehouse.run(id_tokens.read_hint(tokens["id_token"])) == hint, "an old one still says who it was"


def test_sealed_texts_are_not_taken_for_each_other(app: Application) -> None:
    """All of them are sealed by the same secret: a cookie is no code, and a code opens no page."""
    oauth = app.gatehouse.service.oauth
    session = app.session()
    cookie, code = oauth.browser_sessions.cookie(session), app.code(session)
    assert app.exchange(cookie).json["error"] == "invalid_grant"
    assert oauth.pushed_requests.open(f"urn:ietf:params:oauth:request_uri:{code}") is None
    assert not oauth.browser_sessions.names(code, session.id)
