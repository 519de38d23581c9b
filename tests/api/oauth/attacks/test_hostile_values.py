"""Values that parsers, databases and JSON readers stumble over, at every endpoint: refused, and never a 5xx."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.api.oauth.application import FORM, Application, basic
from tests.api.oauth.attacks.parties import ISSUER, WITH_PKCE, on_our_page, signed_in
from tests.api.oauth.flow import AUTHORIZE, Browser, asked
from tests.support.inprocess import InProcess

pytestmark = pytest.mark.every_engine

VALUES = [
    "\0",
    "app\0",
    "app ",
    " app",
    "APP",
    "ａｐｐ",
    "app'--",
    "app%",
    "a_p",
    "\u202eapp",
    "\U0010ffff",
    "x" * 65,
    "x" * 20_000,
    "1e999",
    "-1",
    "[]",
    "{}",
    "null",
    "[" * 3000,
    '{"a":' * 600,
    "9" * 4000,
]

CLAIMS = [
    '{"id_token": {"sub": {"value": "\\u0000"}}}',
    '{"id_token": {"sub": {"value": 1}, "acr": {"values": [[]]}}}',
    '{"id_token": {"acr": {"values": {"a": 1}}}}',
    '{"id_token": null, "userinfo": null}',
    '{"userinfo": []}',
    '{"userinfo": {"email": 5}}',
]
ON_PAGES = ["\0", "ａｐｐ", "\U0010ffff", "x" * 20_000, "[" * 3000]  # a picture is drawn for each


@pytest.fixture
def gatehouse(tmp_path: Path, engines: None) -> Iterator[InProcess]:
    with InProcess(tmp_path / "data", issuer=ISSUER) as running:
        yield running


@pytest.fixture
def app(gatehouse: InProcess) -> Application:
    return Application(gatehouse)


def test_of_an_authorization_request(app: Application, gatehouse: InProcess) -> None:
    browser = signed_in(gatehouse)
    for value in VALUES:
        assert on_our_page(browser.authorize(client_id=value))
        for name in ("scope", "claims", "prompt", "max_age", "acr_values", "id_token_hint", "request_uri", "nonce"):
            page = browser.send("GET", f"{ISSUER}{AUTHORIZE}?{urlencode({**asked(), name: value})}")
            assert page.status in {200, 303, 400}, (name, value)
    for claims in CLAIMS:
        page = browser.authorize(claims=claims)
        assert page.status in {200, 303}, claims


def test_of_a_form_on_our_pages(app: Application, gatehouse: InProcess) -> None:
    nobody, somebody = Browser(gatehouse), signed_in(gatehouse)
    page, logout = nobody.authorize(), somebody.open("/oauth2/logout")
    for value in ON_PAGES:
        for name in ("username", "password", "next", "captchaId", "form", "credential"):
            typed = {"username": "x", "password": "y", "captchaCode": "z", name: value}
            assert nobody.submit(page, "", follow=True, **typed).status in {400, 413, 429}, (name, value)
        assert (
            nobody.send("POST", f"{ISSUER}/oauth2/factor", {**page.fields, "ticket": value, "otpCode": value}).status
            == 400
        )
        for name in ("then", "form"):
            assert somebody.submit(logout, "", follow=True, **{name: value}).status in {200, 400}, (name, value)
        for query in (
            {"client_id": value},
            {"id_token_hint": value},
            {"post_logout_redirect_uri": value},
            {"to": value},
        ):
            for path in ("logout", "enter", "company", "continue"):
                assert somebody.send("GET", f"{ISSUER}/oauth2/{path}?{urlencode(query)}").status in {200, 302, 303, 400}
        somebody.send("POST", f"{ISSUER}/oauth2/consent", {"next": value, "form": value, "answer": value})
    assert "code" in somebody.authorize(**WITH_PKCE).query


def test_of_an_applications_call(app: Application, gatehouse: InProcess) -> None:
    for value in VALUES:
        for path in ("token", "par", "revoke", "introspect"):
            form = {
                "grant_type": "refresh_token",
                "refresh_token": value,
                "code": value,
                "token": value,
                "scope": value,
            }
            given = [
                app.call(f"/oauth2/{path}", **form),
                app.call(f"/oauth2/{path}", **{**form, "grant_type": "authorization_code"}),
                app.call(f"/oauth2/{path}", None, client_id=value, client_secret=value, **form),
                app.call(f"/oauth2/{path}", {"authorization": basic(value, value)}, **form),
                app.call(f"/oauth2/{path}", None, client_assertion=value, client_assertion_type=value, **form),
            ]
            assert {answer.status for answer in given} <= {200, 400, 401, 413}, (path, value)
        bearer = {"authorization": f"Bearer {value}".encode("ascii", "replace").decode(), "content-type": FORM}
        for method in ("GET", "POST"):
            assert gatehouse.request(method, "/oauth2/userinfo", headers=bearer).status == 401
