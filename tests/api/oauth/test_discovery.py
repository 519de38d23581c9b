"""Discovery tells exactly what there is; and pages of public clients may read it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.api.oauth.application import Application, public
from tests.support.inprocess import Answer, InProcess

ORIGIN = "https://spa.example"
DISCOVERY = "/.well-known/openid-configuration"


@pytest.fixture(scope="module")
def gatehouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcess]:
    data = tmp_path_factory.mktemp("discovery") / "data"
    with InProcess(data, issuer="https://gatehouse.localhost", cors_origins="https://console.example") as running:
        yield running


@pytest.fixture(scope="module")
def metadata(gatehouse: InProcess) -> dict[str, Any]:
    return gatehouse.request("GET", DISCOVERY).json


def test_both_addresses_say_the_same(gatehouse: InProcess, metadata: dict[str, Any]) -> None:
    assert gatehouse.request("GET", "/.well-known/oauth-authorization-server").json == metadata
    assert metadata["issuer"] == "https://gatehouse.localhost"


def test_every_address_is_there(gatehouse: InProcess, metadata: dict[str, Any]) -> None:
    """A 404 would say that nothing is; what they answer is tested elsewhere."""
    addresses = {name: url for name, url in metadata.items() if name.endswith(("_endpoint", "_uri"))}
    assert addresses.keys() == {
        "authorization_endpoint",
        "token_endpoint",
        "pushed_authorization_request_endpoint",
        "userinfo_endpoint",
        "introspection_endpoint",
        "revocation_endpoint",
        "end_session_endpoint",
        "jwks_uri",
    }
    for name, url in addresses.items():
        path = url.removeprefix(metadata["issuer"])
        if name != "end_session_endpoint":  # comes with the logout pages
            assert 404 not in {gatehouse.request(method, path).status for method in ("GET", "POST")}, name


def test_it_names_nothing_that_we_do_not_do(metadata: dict[str, Any]) -> None:
    assert metadata["response_types_supported"] == ["code"]
    assert metadata["grant_types_supported"] == ["authorization_code", "refresh_token"]
    assert metadata["response_modes_supported"] == ["query", "form_post"]
    assert metadata["code_challenge_methods_supported"] == ["S256"]
    assert metadata["id_token_signing_alg_values_supported"] == ["RS256", "ES256"]
    assert metadata["request_parameter_supported"] is metadata["request_uri_parameter_supported"] is False
    assert metadata["scopes_supported"] == [
        "openid", "profile", "email", "phone", "address", "roles", "offline_access",
    ]  # fmt: skip
    assert "none" not in metadata["introspection_endpoint_auth_methods_supported"]


def test_claims_that_it_names_are_answered(gatehouse: InProcess, metadata: dict[str, Any]) -> None:
    app = Application(gatehouse, claims_in_id_token=True)
    tokens = app.tokens(scopes=("openid", "profile", "email", "phone", "address", "roles"))
    claims = app.read(tokens["id_token"]).keys() | app.userinfo(tokens["access_token"]).json.keys()
    assert claims - {"azp", "at_hash"} <= set(metadata["claims_supported"])


# Cross-origin requests


def preflight(gatehouse: InProcess, path: str, origin: str, method: str = "POST") -> Answer:
    headers = {"origin": origin, "access-control-request-method": method, "access-control-request-headers": "x"}
    return gatehouse.request("OPTIONS", path, headers=headers)


PATHS = ["/oauth2/token", "/oauth2/userinfo", "/oauth2/revoke", "/oauth2/par", DISCOVERY, "/.well-known/jwks.json"]


@pytest.fixture(scope="module")
def spa(gatehouse: InProcess) -> Application:
    app = public(gatehouse, redirect_uris=(f"{ORIGIN}/callback", "http://127.0.0.1:5173/callback"))
    Application(gatehouse, "web", redirect_uris=("https://web.example/callback",))
    gatehouse.clock.move(2)
    return app


@pytest.mark.parametrize("path", PATHS)
def test_a_page_of_a_public_client_may_call(gatehouse: InProcess, spa: Application, path: str) -> None:
    for origin in (ORIGIN, "http://127.0.0.1:5173"):
        answer = preflight(gatehouse, path, origin)
        assert answer.status == 204
        assert answer.headers["access-control-allow-origin"] == origin
        assert "POST" in answer.headers["access-control-allow-methods"]
        method = "GET" if "well-known" in path else "POST"
        answer = gatehouse.request(method, path, headers={"origin": origin})
        assert answer.headers["access-control-allow-origin"] == origin, "refusals can be read, too"
        assert answer.headers["vary"] == "origin"
        assert "access-control-allow-credentials" not in answer.headers


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("origin", ["https://web.example", "https://evil.example", f"{ORIGIN}.evil.example", "null"])
def test_others_may_not(gatehouse: InProcess, spa: Application, path: str, origin: str) -> None:
    assert preflight(gatehouse, path, origin).status == 405
    for method in ("GET", "POST"):
        answer = gatehouse.request(method, path, headers={"origin": origin})
        assert "access-control-allow-origin" not in answer.headers


def test_what_the_settings_allow_stays_so(gatehouse: InProcess, spa: Application) -> None:
    for path in ("/api/v1/users/me", "/oauth2/token"):
        answer = preflight(gatehouse, path, "https://console.example")
        assert (answer.status, answer.headers["access-control-allow-origin"]) == (204, "https://console.example")
    assert preflight(gatehouse, "/api/v1/users/me", ORIGIN).status == 405, "our API is not theirs"
    assert preflight(gatehouse, "/oauth2/introspect", ORIGIN).status == 405
    answer = gatehouse.request("GET", "/api/v1/users/me", headers={"origin": ORIGIN})
    assert "access-control-allow-origin" not in answer.headers


def test_a_client_that_is_switched_off_calls_no_more(gatehouse: InProcess, spa: Application) -> None:
    spa.change(enabled=False)
    gatehouse.clock.move(2)
    assert preflight(gatehouse, "/oauth2/token", ORIGIN).status == 405
