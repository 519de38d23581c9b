"""Login by QR code with two browsers: the one of a console, which asks and polls, and the phone that confirms."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.chromium import SIZES
from tests.browser.conftest import Visiting
from tests.browser.visits import arrived, log_in
from tests.support.running import Running

pytestmark = pytest.mark.full

CALL = """async ([method, path, body]) => {
  const headers = body ? { "Content-Type": "application/json" } : {};
  const answer = await fetch(`/api/v1/${path}`, { method, headers, body: body && JSON.stringify(body) });
  return await answer.json();
}"""


class ConsoleBrowser:
    """What a console's login page does."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self.ticket = str(self._call("POST", "auth/qr-code/generate")["data"]["ticket"])

    def _call(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        return dict(self._page.evaluate(CALL, [method, path, body]))

    def status(self) -> str:
        asked = self._page.evaluate("encodeURIComponent", self.ticket)
        return str(self._call("GET", f"auth/qr-code/status?ticket={asked}")["data"]["status"])

    def exchange(self) -> dict[str, Any]:
        return self._call("POST", "auth/qr-code/login", {"ticket": self.ticket})


@pytest.fixture
def console(visiting: Visiting, running: Running) -> ConsoleBrowser:
    return ConsoleBrowser(visiting(running, **SIZES["desktop"]).page("/docs"))


@pytest.fixture
def phone(visiting: Visiting, running: Running, person: str) -> Page:
    agent = "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19.0 Mobile/15E148 Safari/604.1"
    page = visiting(running, **SIZES["phone"], user_agent=agent).page()
    log_in(page, person, remember=True)
    arrived(page)
    return page


def test_the_phone_logs_the_console_in(console: ConsoleBrowser, phone: Page, running: Running, person: str) -> None:
    assert console.status() == "WAITING"
    phone.goto(console.ticket)
    expect(phone.locator(".facts")).to_contain_text("127.0.0.1")
    expect(phone.locator(".facts")).to_contain_text("Chrome")
    assert console.status() == "SCANNED"
    assert console.exchange()["code"] == "A0242"
    phone.get_by_role("button", name="Log it in as me").click()
    expect(phone.get_by_role("heading", name="Logged in")).to_be_visible()
    assert console.status() == "CONFIRMED"
    tokens = console.exchange()["data"]
    with running.client() as client:
        me = client.get("/api/v1/users/me", headers={"Authorization": f"Bearer {tokens['accessToken']}"}).json()
    assert me["data"]["username"] == person
    assert console.exchange()["code"] == "A0242"
    phone.goto(f"{running.url}/account")
    expect(phone.locator("#logins li").first).to_contain_text("QR code")


def test_the_phone_refuses(console: ConsoleBrowser, phone: Page) -> None:
    phone.goto(console.ticket)
    phone.get_by_role("button", name="No, that is not me").click()
    expect(phone.get_by_role("heading", name="Refused")).to_be_visible()
    assert console.status() == "CANCELED"
    assert console.exchange()["code"] == "A0242"


def test_another_browser_with_the_ticket_learns_nothing(
    console: ConsoleBrowser, phone: Page, visiting: Visiting, running: Running
) -> None:
    thief = ConsoleBrowser(visiting(running, user_agent="Mozilla/5.0 Firefox/145.0").page("/docs"))
    thief.ticket = console.ticket
    assert thief.status() == "EXPIRED"
    phone.goto(console.ticket)
    phone.get_by_role("button", name="Log it in as me").click()
    expect(phone.get_by_role("heading", name="Logged in")).to_be_visible()
    assert thief.exchange()["code"] == "A0242"
    assert console.exchange()["code"] == "00000"


def test_a_phone_that_is_not_logged_in_is_asked_who_it_is(
    console: ConsoleBrowser, visiting: Visiting, running: Running
) -> None:
    page = visiting(running, **SIZES["phone"]).context.new_page()
    page.goto(console.ticket)
    expect(page.get_by_role("heading", name="Who are you?")).to_be_visible()
    page.get_by_role("link", name="Log in, then scan again").click()
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()


def test_a_ticket_that_is_not_ours_is_told_to_be_gone(phone: Page, running: Running) -> None:
    phone.goto(f"{running.url}/qr?ticket=made-up")
    expect(phone.get_by_role("heading", name="This code has expired")).to_be_visible()


def test_a_failure_is_shown_in_words_and_nothing_else(console: ConsoleBrowser, phone: Page) -> None:
    down = {"code": "C0300", "data": None, "msg": "a store is not available"}
    phone.route("**/auth/qr-code/scan", lambda route: route.fulfill(status=503, json=down))
    phone.goto(console.ticket)
    expect(phone.get_by_role("alert")).to_be_visible()
    expect(phone.locator("#ask")).not_to_contain_text("null")
