"""What a person does in a browser on the way into an application, and out of it."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.relying_parties.parties import Party
from tests.support.running import ANSWER, PASSWORD, Running
from tests.support.waiting import wait_until


def fill_in(page: Page, person: str) -> None:
    """The provider's form, as a browser without scripts sends it."""
    page.get_by_label("Username").fill(person)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Characters in the picture").fill(ANSWER)
    page.get_by_role("button", name="Log in", exact=True).click()


def log_in(page: Page, party: Party, running: Running, person: str) -> None:
    party.open(page)
    expect(page).to_have_url(re.compile(f"^{re.escape(running.url)}/oauth2/"))
    fill_in(page, person)
    party.come_back(page)
    assert_is_in(page, party, person)


def assert_is_in(page: Page, party: Party, person: str) -> None:
    expect(page).to_have_url(re.compile(f"^{re.escape(party.url)}/"))
    expect(page.locator("#user")).to_have_text(person)


def assert_is_asked_to_log_in(page: Page, party: Party, running: Running) -> None:
    """Nobody is logged in, neither in the application nor at the provider, which would let people in at once."""
    party.open(page)
    expect(page).to_have_url(re.compile(f"^{re.escape(running.url)}/oauth2/"))
    expect(page.get_by_label("Username")).to_be_visible()


def wait_until_out(page: Page, party: Party) -> None:
    """Until a request to the application is that of somebody unknown."""

    def is_out() -> bool:
        page.goto(party.url)
        return page.locator("#user").count() == 0

    wait_until(is_out, lambda: f"the application hears of the logout:\n{party.log()[-3000:]}")


def visited(page: Page) -> list[str]:
    """The addresses that the browser asks for from now on."""
    urls: list[str] = []
    page.on("request", lambda request: urls.append(request.url))
    return urls


def log_out_here(page: Page, running: Running) -> None:
    """At the provider's own page."""
    page.goto(f"{running.url}/oauth2/logout")
    page.get_by_role("button", name="Log out").click()
    expect(page.locator("#logged-out")).to_be_visible()
