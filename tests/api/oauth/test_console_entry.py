"""The bridge: who is logged in at our page opens a console without a form."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jwt
import pytest

from tests.api.oauth.application import Application
from tests.api.oauth.flow import AGENT, Browser, Page
from tests.api.oauth.test_browser_sessions import follow, lives, session_of
from tests.api.oauth.test_sign_in import add_person
from tests.support.inprocess import Answer, InProcess

pytestmark = [pytest.mark.usefixtures("engines"), pytest.mark.every_engine]

CONSOLE = "https://console.example/app"
ENTER = "/oauth2/enter"


@pytest.fixture
def gatehouse(tmp_path: Path) -> Iterator[InProcess]:
    with InProcess(tmp_path / "data", console_url=CONSOLE) as running:
        yield running


@pytest.fixture
def logged_in(browser: Browser) -> Browser:
    browser.sign_in(browser.authorize())
    browser.service.clock.move(5)
    return browser


def exchange(browser: Browser, page: Page, agent: str = AGENT, address: str = "127.0.0.1") -> Answer:
    call: dict[str, Any] = {"body": {"ticket": page.query["ticket"]}, "headers": {"user-agent": agent}}
    return browser.service.request("POST", "/api/v1/auth/qr-code/login", address=address, **call)


def test_who_is_logged_in_opens_the_console_without_a_form(
    logged_in: Browser, app: Application, gatehouse: InProcess
) -> None:
    page = logged_in.open(ENTER, to=f"{CONSOLE}/enter?x=1")
    assert page.location.startswith(f"{CONSOLE}/enter?x=1&ticket=")
    tokens = exchange(logged_in, page).data
    assert gatehouse.me(tokens["accessToken"]).data["username"] == "admin"
    claims = _claims(tokens["accessToken"])
    browsers = session_of(gatehouse, app, logged_in)
    assert claims["sid"] != browsers, "each rotates its refresh tokens alone"
    assert claims["auth_time"] == int(gatehouse.clock()) - 5, "as old as the login at our page"
    assert claims["amr"] == ["pwd"]


def _claims(token: str) -> dict[str, Any]:
    return dict(jwt.decode(token, options={"verify_signature": False}))


def test_who_is_not_signs_in_first(browser: Browser) -> None:
    page = browser.open(ENTER, to=f"{CONSOLE}/enter")
    assert "captchaCode" in page.fields
    assert "to open the console" in page.text
    back = browser.sign_in(page)
    assert back.location.startswith(f"{CONSOLE}/enter?ticket=")
    assert exchange(browser, back).status == 200


def test_they_end_together(logged_in: Browser, app: Application, gatehouse: InProcess) -> None:
    for end in ("console", "page"):
        token = exchange(logged_in, logged_in.open(ENTER, to=CONSOLE)).data["accessToken"]
        browsers = session_of(gatehouse, app, logged_in)
        if end == "console":
            gatehouse.logout(token)
        else:
            logged_in.submit(logged_in.open("/oauth2/logout"), "log-out")
        follow(gatehouse)
        assert not lives(gatehouse, browsers)
        assert gatehouse.me(token).status == 401
        logged_in.sign_in(logged_in.authorize())


def test_two_consoles_rotate_without_disturbing_each_other(logged_in: Browser, gatehouse: InProcess) -> None:
    one, other = (exchange(logged_in, logged_in.open(ENTER, to=CONSOLE)).data for _ in range(2))
    for tokens in (one, other):
        gatehouse.clock.move(60)
        refreshed = gatehouse.refresh(tokens["refreshToken"])
        assert refreshed.status == 200
    assert "code" in logged_in.authorize(prompt="none").query


# Attacks


@pytest.mark.parametrize(
    "to",
    [
        "https://evil.example/",
        "//evil.example",
        "https://console.example.evil.example/",
        "https://console.example@evil.example/",
        "https://console.example\\.evil.example/",
        "javascript:alert(1)",
        "/oauth2/enter",
        "https://console.example:444/",
        "x" * 5000,
    ],
)
def test_a_ticket_goes_to_consoles_that_are_configured_alone(logged_in: Browser, to: str) -> None:
    page = logged_in.open(ENTER, to=to)
    assert page.status == 400
    assert "to" in page.texts["problem"]
    assert "evil" not in page.text


def test_a_ticket_is_good_once_and_for_a_minute(logged_in: Browser, gatehouse: InProcess) -> None:
    page = logged_in.open(ENTER, to=CONSOLE)
    assert exchange(logged_in, page).status == 200
    assert exchange(logged_in, page).code == "A0242"
    late = logged_in.open(ENTER, to=CONSOLE)
    gatehouse.clock.move(61)
    assert exchange(logged_in, late).code == "A0242"


def test_a_ticket_is_good_for_this_browser_alone(logged_in: Browser) -> None:
    page = logged_in.open(ENTER, to=CONSOLE)
    assert exchange(logged_in, page, agent="Another").code == "A0242"
    assert exchange(logged_in, page, address="192.0.2.1").code == "A0242"
    assert exchange(logged_in, page).status == 200


def test_a_ticket_is_void_once_the_session_has_ended(logged_in: Browser, gatehouse: InProcess) -> None:
    page = logged_in.open(ENTER, to=CONSOLE)
    logged_in.submit(logged_in.open("/oauth2/logout"), "log-out")
    assert exchange(logged_in, page).code == "A0242"
    assert gatehouse.run(gatehouse.service.sessions.of_user(1)) == []


def test_of_many_exchanges_at_once_one_succeeds(logged_in: Browser, gatehouse: InProcess) -> None:
    ticket = logged_in.open(ENTER, to=CONSOLE).query["ticket"]

    async def all_at_once() -> list[Answer]:
        call: dict[str, Any] = {"body": {"ticket": ticket}, "headers": {"user-agent": AGENT}}
        return await asyncio.gather(*(gatehouse.send("POST", "/api/v1/auth/qr-code/login", **call) for _ in range(8)))

    assert sorted(answer.status for answer in gatehouse.run(all_at_once())) == [200] + [400] * 7


def test_a_disabled_user_enters_nothing(browser: Browser, gatehouse: InProcess) -> None:
    add_person(gatehouse)
    page = browser.sign_in(browser.open(ENTER, to=CONSOLE), "ann")
    gatehouse.run(gatehouse.accounts.disable_user("ann"))
    assert exchange(browser, page).code == "A0242"
