"""What an application may ask for, and where a refusal goes."""

from __future__ import annotations

import msgspec
import pytest

from gatehouse.auth.oauth.authorization_requests import MAX_LENGTHS, AuthorizationRequest, check, parse
from gatehouse.auth.oauth.clients import Client
from gatehouse.auth.oauth.definitions import ClientAuth, ClientConfig, Pkce, Scope
from gatehouse.auth.oauth.errors import PageProblem, PageRefusal, RedirectRefusal

CALLBACK = "https://grafana.example.com/login/generic_oauth"
CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
ASKED = {
    "client_id": "grafana",
    "redirect_uri": CALLBACK,
    "response_type": "code",
    "scope": "openid profile",
    "state": "af0ifjsldkj",
    "nonce": "n-0S6_WzA2Mj",
    "code_challenge": CHALLENGE,
    "code_challenge_method": "S256",
}
CONFIG = ClientConfig(redirect_uris=(CALLBACK, "https://grafana.example.com/other"))


def client(config: ClientConfig = CONFIG) -> Client:
    return Client(7, "grafana", "Grafana", config)


def parsed(config: ClientConfig = CONFIG, /, **changes: str | None) -> AuthorizationRequest:
    parameters = {name: value for name, value in (ASKED | changes).items() if value is not None}
    request = parse(parameters, client(config))
    check(request, client(config))
    return request


def refusal(config: ClientConfig = CONFIG, /, **changes: str | None) -> RedirectRefusal:
    with pytest.raises(RedirectRefusal) as refused:
        parsed(config, **changes)
    assert refused.value.redirect_uri == CALLBACK
    return refused.value


def test_a_request_is_read_as_it_was_made() -> None:
    request = parsed(max_age="60", prompt="login consent", acr_values="2 1", response_mode="form_post")
    assert request == AuthorizationRequest(
        CALLBACK,
        "af0ifjsldkj",
        "form_post",
        client=7,
        scopes=("openid", "profile"),
        nonce="n-0S6_WzA2Mj",
        challenge=CHALLENGE,
        prompt=("login", "consent"),
        max_age=60,
        acr_values=("2", "1"),
    )


@pytest.mark.parametrize(
    "redirect_uri",
    [
        None,
        "",
        CALLBACK + "/",
        CALLBACK + "?a=b",
        CALLBACK + "#x",
        CALLBACK.replace("https", "http"),
        CALLBACK.replace("grafana.example.com", "grafana.example.com.evil.example"),
        CALLBACK.replace("grafana.example.com", "evil.example\\@grafana.example.com"),
        CALLBACK.replace("grafana.example.com", "grafana.example.com@evil.example"),
        CALLBACK.replace("grafana.example.com", "GRAFANA.example.com"),
        CALLBACK.replace("example.com/", "example.com:443/"),
        CALLBACK.replace("/login/", "/login/../login/"),
        CALLBACK.replace("/login/", "/login/%2e%2e/login/"),
        f"{CALLBACK} ",
        f"{CALLBACK}\n",
        "javascript:alert(1)",
        "https://grafana.example.com",
    ],
)
def test_nothing_goes_to_an_address_that_is_not_registered(redirect_uri: str | None) -> None:
    with pytest.raises(PageRefusal) as refused:
        parsed(redirect_uri=redirect_uri)
    assert refused.value.problem is PageProblem.REDIRECT_URI


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"response_type": None}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": "code id_token"}, "unsupported_response_type"),
        ({"response_mode": "fragment"}, "invalid_request"),
        ({"response_mode": "web_message"}, "invalid_request"),
        ({"request": "eyJ"}, "request_not_supported"),
        ({"request_uri": "https://evil.example/request"}, "request_uri_not_supported"),
        ({"registration": "{}"}, "registration_not_supported"),
        ({"prompt": "none login"}, "invalid_request"),
        ({"prompt": "create"}, "invalid_request"),
        ({"max_age": "-1"}, "invalid_request"),
        ({"max_age": "soon"}, "invalid_request"),
        ({"max_age": "٣"}, "invalid_request"),
        ({"scope": None}, "invalid_scope"),
        ({"scope": "unknown"}, "invalid_scope"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge": "short"}, "invalid_request"),
        ({"code_challenge": CHALLENGE[:-1] + "="}, "invalid_request"),
        *(({name: "x" * (longest + 1)}, "invalid_request") for name, longest in MAX_LENGTHS.items()),
    ],
)
def test_what_cannot_be_done_is_told_to_the_application(changes: dict[str, str | None], error: str) -> None:
    refused = refusal(**changes)
    assert refused.error == error
    assert refused.state == ("" if "state" in changes else "af0ifjsldkj")
    assert refused.response_mode == "query"


def test_a_refusal_comes_in_the_mode_that_was_asked_for() -> None:
    assert refusal(response_mode="form_post", response_type="token").response_mode == "form_post"


def test_scopes_that_it_may_not_ask_for_are_left_out() -> None:
    config = msgspec.structs.replace(CONFIG, scopes=(Scope.OPENID, Scope.EMAIL))
    assert parsed(config, scope="email unknown openid profile email").scopes == ("openid", "email")


def test_select_account_is_a_login() -> None:
    assert parsed(prompt="select_account login").prompt == ("login",)


@pytest.mark.parametrize(
    ("auth", "pkce", "nonce", "is_taken"),
    [
        (ClientAuth.SECRET, Pkce.REQUIRED, "n", False),
        (ClientAuth.SECRET, Pkce.NONCE, "n", True),
        (ClientAuth.SECRET, Pkce.NONCE, None, False),
        (ClientAuth.SECRET, Pkce.OPTIONAL, None, True),
        (ClientAuth.NONE, Pkce.OPTIONAL, "n", False),
        (ClientAuth.NONE, Pkce.NONCE, "n", False),
    ],
)
def test_without_pkce(auth: ClientAuth, pkce: Pkce, nonce: str | None, *, is_taken: bool) -> None:
    config = msgspec.structs.replace(CONFIG, auth=auth, pkce=pkce)
    changes = {"code_challenge": None, "code_challenge_method": None, "nonce": nonce}
    if is_taken:
        assert parsed(config, **changes).challenge == ""
    else:
        assert refusal(config, **changes).error == "invalid_request"


def test_a_nonce_protects_only_where_there_is_an_id_token() -> None:
    changes = {"code_challenge": None, "code_challenge_method": None, "scope": "profile"}
    assert refusal(**changes).error == "invalid_request"
