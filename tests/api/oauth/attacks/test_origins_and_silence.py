"""What pages of other origins can read, and what an application learns without asking anybody."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.oauth.application import FORM, Application, public
from tests.api.oauth.attacks.parties import ISSUER, WITH_PKCE, add_person, on_our_page, signed_in, tokens_of
from tests.api.oauth.flow import AUTHORIZE, Browser
from tests.support.inprocess import InProcess

BACKENDS = ("token", "userinfo", "revoke", "par")
ORIGINS = [
    "https://evil.example", "null", "", "https://app.example", "https://spa.example.evil.example", "http://spa.example",
    "https://spa.example:8443", "https://SPA.example", "https://evil.example/https://spa.example", "*",
]  # fmt: skip


@pytest.fixture(scope="module")
def spa(gatehouse: InProcess) -> Application:
    return public(gatehouse, redirect_uris=("https://spa.example/callback", "com.example.app:/callback"))


def allowed(headers: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.startswith("access-control-")}


@pytest.mark.parametrize("origin", ORIGINS)
def test_no_page_of_another_origin_reads_an_answer(
    app: Application, spa: Application, gatehouse: InProcess, origin: str
) -> None:
    """`app` has a server of its own: its pages need not, and may not, call us."""
    for path in BACKENDS:
        headers = {"origin": origin, "content-type": FORM}
        answer = gatehouse.request("POST", f"/oauth2/{path}", content=b"client_id=spa", headers=headers)
        assert allowed(answer.headers) == {}, path
        asks = {"origin": origin, "access-control-request-method": "POST", "access-control-request-headers": "x"}
        assert allowed(gatehouse.request("OPTIONS", f"/oauth2/{path}", headers=asks).headers) == {}, path


def test_a_page_of_a_public_client_reads_what_is_for_it_and_no_cookie_counts(
    spa: Application, gatehouse: InProcess
) -> None:
    for path in BACKENDS:
        headers = {"origin": "https://spa.example", "content-type": FORM}
        answer = gatehouse.request("POST", f"/oauth2/{path}", content=b"client_id=spa", headers=headers)
        assert answer.headers["access-control-allow-origin"] == "https://spa.example"
        assert "access-control-allow-credentials" not in answer.headers
        assert "origin" in answer.headers["vary"]


@pytest.mark.parametrize("origin", ["https://spa.example", "https://evil.example", "null"])
def test_nobody_reads_our_pages(spa: Application, gatehouse: InProcess, origin: str) -> None:
    """Form tokens and captchas are in them."""
    browser = signed_in(gatehouse)
    for path in (AUTHORIZE, "/oauth2/logout", "/oauth2/enter", "/oauth2/company", "/oauth2/continue"):
        for method in ("GET", "OPTIONS", "HEAD", "POST"):
            page = browser.send(
                method, f"{ISSUER}{path}", headers={"origin": origin, "access-control-request-method": "GET"}
            )
            assert allowed(page.answer.headers) == {}
            assert page.status != 500
    for path in ("sign-in", "factor", "consent"):
        answer = gatehouse.request("POST", f"/oauth2/{path}", content=b"a=b", headers={"origin": origin})
        assert allowed(answer.headers) == {}


def test_a_session_here_is_no_authorization_for_calls(app: Application, gatehouse: InProcess) -> None:
    """The cookie opens pages and nothing else."""
    browser = signed_in(gatehouse)
    for path in ("/oauth2/userinfo", "/api/v1/users/me", "/api/v1/users/me/sessions", "/api/v1/applications"):
        assert browser.send("GET", f"{ISSUER}{path}").status == 401
    for path in ("/oauth2/token", "/oauth2/introspect", "/oauth2/revoke"):
        assert browser.send("POST", f"{ISSUER}{path}", {"token": "x", "grant_type": "x"}).status == 401


# Nobody is asked


def silent(browser: Browser, **changes: str) -> dict[str, Any]:
    page = browser.authorize(prompt="none", **WITH_PKCE, **changes)
    assert page.status == 303
    assert page.text == ""
    return {name: value for name, value in page.query.items() if name not in {"state", "iss", "error_description"}}


def test_it_asks_nobody_and_leaves_nothing(app: Application, gatehouse: InProcess) -> None:
    nobody = Browser(gatehouse)
    assert silent(nobody) == {"error": "login_required"}
    assert nobody.cookies == {}
    assert nobody.authorize(prompt="none login").query["error"] == "invalid_request"


def test_an_answer_tells_no_more_than_its_code(hostile: Application, gatehouse: InProcess) -> None:
    """An application that was not allowed anything learns no name, role, time or session."""
    add_person(gatehouse, "henry")
    request = {"client_id": "hostile", "redirect_uri": "https://hostile.example/callback"}
    answers = [silent(signed_in(gatehouse, name), **request) for name in ("admin", "henry")]
    assert answers == [{"error": "consent_required"}] * 2
    described = [
        signed_in(gatehouse, name).authorize(prompt="none", **WITH_PKCE, **request).query["error_description"]
        for name in ("admin", "henry")
    ]
    assert described[0] == described[1]


def test_strangers_learn_nothing(gatehouse: InProcess) -> None:
    """Whether somebody is logged in goes to registered addresses alone."""
    somebody, nobody = signed_in(gatehouse), Browser(gatehouse)
    for changes in ({"client_id": "nobody"}, {"client_id": "app", "redirect_uri": "https://evil.example"}):
        pages = [browser.authorize(prompt="none", **changes) for browser in (somebody, nobody)]
        assert all(map(on_our_page, pages))
        assert pages[0].text == pages[1].text


def test_a_subject_is_the_same_and_names_nobody(app: Application, gatehouse: InProcess) -> None:
    """Without the scope `profile` an application gets no name, nor an address without `email`."""
    tokens = tokens_of(app, signed_in(gatehouse), scope="openid")
    claims = {
        **app.read(tokens["id_token"]),
        **app.read(tokens["access_token"]),
        **app.userinfo(tokens["access_token"]).json,
    }
    assert "admin" not in [str(value) for value in claims.values()]
    assert not claims.keys() & {"preferred_username", "name", "nickname", "email", "phone_number", "roles", "perms"}
