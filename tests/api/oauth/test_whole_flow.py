"""All of a login at an application: from its request, over our page, to what it learns about its user."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.api.oauth.application import CALLBACK, CHALLENGE, Application
from tests.api.oauth.flow import AUTHORIZE, Browser, asked
from tests.support.inprocess import InProcess

PKCE = {"code_challenge": CHALLENGE, "code_challenge_method": "S256"}


@pytest.fixture
def gatehouse(tmp_path: Path) -> Iterator[InProcess]:
    with InProcess(tmp_path / "data") as running:
        yield running


def test_with_the_request_in_the_address(gatehouse: InProcess) -> None:
    app, browser = Application(gatehouse), Browser(gatehouse)
    claims = '{"userinfo":{"name":{"essential":true}},"id_token":{"preferred_username":null}}'
    back = browser.sign_in(browser.authorize(**PKCE, scope="openid offline_access", claims=claims))
    tokens = app.exchange(back.query["code"]).json
    id_token = app.read(tokens["id_token"])
    assert (id_token["nonce"], id_token["preferred_username"], id_token["iss"]) == ("a nonce", "admin", browser.url)
    assert app.userinfo(tokens["access_token"]).json.keys() == {"sub", "name"}
    again = app.refresh(tokens["refresh_token"]).json
    assert app.userinfo(again["access_token"]).json["sub"] == id_token["sub"]


def test_with_a_pushed_request_which_gives_one_code(gatehouse: InProcess) -> None:
    app, browser = Application(gatehouse), Browser(gatehouse)
    pushed = app.call("/oauth2/par", **{name: value for name, value in asked(**PKCE).items() if name != "client_id"})
    named = urlencode({"client_id": "app", "request_uri": pushed.json["request_uri"]})
    address = f"{browser.url}{AUTHORIZE}?{named}"
    back = browser.sign_in(browser.follow(browser.send("GET", address)))
    assert back.location.startswith(CALLBACK)
    assert app.exchange(back.query["code"]).status == 200
    assert browser.follow(browser.send("GET", address)).status == 400, "it was used"
