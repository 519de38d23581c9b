"""The straight way of a plain browser: from the application to our form, and back with a code."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.oauth.flow import CALLBACK, Browser, add_client, asked
from tests.support.inprocess import InProcess


@pytest.fixture
def service(tmp_path: Path) -> Iterator[InProcess]:
    with InProcess(tmp_path / "data") as service:
        add_client(service)
        yield service


def test_somebody_signs_in_and_comes_back_with_a_code(service: InProcess) -> None:
    browser = Browser(service)
    page = browser.authorize()
    assert page.status == 200
    assert "The App" in page.text
    back = browser.sign_in(page)
    assert back.location.startswith(f"{CALLBACK}?")
    assert back.query.keys() == {"code", "state", "iss"}
    assert (back.query["state"], back.query["iss"]) == ("a state", browser.url)
    code = service.service.oauth.codes.read(back.query["code"])
    assert code is not None
    assert (code.content.redirect_uri, code.content.nonce, code.content.scopes) == (CALLBACK, "a nonce", ("openid",))


def test_who_is_logged_in_is_not_asked_again(service: InProcess) -> None:
    browser = Browser(service)
    browser.sign_in(browser.authorize())
    assert "code" in browser.authorize().query
    assert "code" in browser.authorize(prompt="none").query


def test_a_post_goes_on_as_a_get(service: InProcess) -> None:
    browser = Browser(service)
    sent = browser.send("POST", f"{browser.url}/oauth2/authorize", asked())
    assert (sent.status, sent.location.startswith(f"{browser.url}/oauth2/authorize?client_id=app&request_uri=")) == (
        303,
        True,
    )
    assert "code" in browser.sign_in(browser.follow(sent)).query
