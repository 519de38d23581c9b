"""One visit to the service: a browser of its own, watched for whatever a page must never do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, Route, expect

from tests.support.running import ANSWER, PASSWORD, Running
from tests.support.waiting import PATIENCE

WATCH = """
document.addEventListener("securitypolicyviolation", (event) =>
  console.error(`CSP violation: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}`));
"""
NOT_THE_PAGES = re.compile(r"^Failed to load resource: the server responded with a status of (400|401|404|429|503)")


class Visit:
    """Pages share cookies and storage, as tabs of one browser do."""

    def __init__(self, browser: Browser, running: Running, **options: Any) -> None:
        self.url = running.url
        self.context: BrowserContext = browser.new_context(**{"locale": "en-GB", **options})
        self.context.set_default_timeout(PATIENCE * 1000)
        self.foreign: list[str] = []
        self.complaints: list[str] = []
        self.refreshes: list[Request] = []
        self.context.add_init_script(WATCH)
        self.context.route(re.compile(rf"^(?!data:|{re.escape(self._origin)}/)"), self._refuse)
        self.context.on("request", self._count)
        self.context.on("console", self._listen)
        self.context.on("weberror", lambda error: self.complaints.append(str(error.error)))

    @property
    def _origin(self) -> str:
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}"

    def _refuse(self, route: Route) -> None:
        self.foreign.append(route.request.url)
        route.abort()

    def _count(self, request: Request) -> None:
        if request.url.endswith("/refresh-token"):
            self.refreshes.append(request)

    def _listen(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"} and not NOT_THE_PAGES.match(message.text):
            self.complaints.append(message.text)

    def page(self, path: str = "/") -> Page:
        page = self.context.new_page()
        page.goto(self.url + path)
        return page

    def logged_in(self, username: str = "admin", password: str = PASSWORD, *, remember: bool = False) -> Page:
        page = self.page()
        log_in(page, username, password, remember=remember)
        arrived(page)
        return page

    def close(self) -> None:
        """Asked at the end of every visit: nothing foreign, nothing refused by the policy, no script in trouble."""
        self.context.close()
        assert not self.foreign, self.foreign
        assert not self.complaints, self.complaints


def log_in(
    page: Page, username: str = "admin", password: str = PASSWORD, captcha: str = ANSWER, *, remember: bool = False
) -> None:
    page.locator("#captcha-image[src]").wait_for()
    page.get_by_label("Username").fill(username)
    page.get_by_label("Password", exact=True).fill(password)
    page.get_by_label("Characters in the picture").fill(captcha)
    if remember:
        page.get_by_label("Keep me logged in").check()
    page.get_by_role("button", name="Log in", exact=True).click()


def arrived(page: Page) -> None:
    """The account page, with everything on it."""
    page.wait_for_url("**/account")
    expect(page.locator("#name")).not_to_be_empty()
    expect(page.locator(".row.current")).to_be_visible()


def step_away(page: Page) -> None:
    """Leave the account page for a while, with its tokens.

    It asks for its sessions every now and then. If one of these requests found that the session has ended, the page
    would go to the login page by itself, and a reload would take away the notice that is shown there once.
    """
    page.goto("about:blank")


def come_back(page: Page, url: str) -> None:
    page.goto(f"{url}/account")


def part(page: Page, name: str) -> None:
    """Open a part of the administration."""
    page.get_by_role("link", name=name, exact=True).click()
    expect(page.get_by_role("heading", name=name, level=1)).to_be_visible()
    expect(page.locator("#view")).not_to_have_attribute("aria-busy", "true")


@contextmanager
def held_up(page: Page, pattern: str) -> Iterator[None]:
    """Requests to these addresses wait until the block is over; one of them at least must have come."""
    waiting: list[Route] = []
    over = False

    def hold(route: Route) -> None:
        if over:
            route.continue_()
        else:
            waiting.append(route)

    page.route(pattern, hold)
    with page.expect_request(pattern):
        yield
    over = True
    for route in waiting:
        route.continue_()


def tokens(page: Page) -> dict[str, Any]:
    """What the tab holds, as the page reads it."""
    held: dict[str, Any] = page.evaluate(
        """() => {
          const keys = [...Object.keys(sessionStorage), ...Object.keys(localStorage)];
          const key = keys.find((name) => name.startsWith("gatehouse.tokens"));
          return JSON.parse(sessionStorage.getItem(key) ?? localStorage.getItem(key));
        }"""
    )
    return held


def spoil_access_token(page: Page) -> None:
    """As if it had expired without the page noticing."""
    page.evaluate(
        """() => {
          for (const storage of [sessionStorage, localStorage]) {
            for (const key of Object.keys(storage).filter((k) => k.startsWith("gatehouse.tokens"))) {
              storage.setItem(key, JSON.stringify({ ...JSON.parse(storage.getItem(key)), access: "expired" }));
            }
          }
        }"""
    )


def wait_until_allow_can_be_clicked(page: Page) -> None:
    """It can be before the page's script holds it back, too: a click meant for then would be lost."""
    page.locator("#allow").wait_for()
    page.wait_for_load_state("load")
    expect(page.locator("#allow")).to_be_enabled()


def allow(page: Page) -> None:
    wait_until_allow_can_be_clicked(page)
    page.locator("#allow").click()
