"""Applications that run in the browser alone: oidc-client-ts, which has no secret and calls the provider directly."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.visits import arrived
from tests.relying_parties.conftest import at, ready
from tests.relying_parties.journeys import assert_is_asked_to_log_in, log_in, log_out_here
from tests.relying_parties.parties import OidcClientTs, Party
from tests.support.running import Running
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def party(running: Running) -> Iterator[Party]:
    with ready(OidcClientTs, at(running)) as party:
        yield party


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """With scripts."""
    context = browser.new_context(locale="en-GB")
    context.set_default_timeout(PATIENCE * 1000)
    yield context.new_page()
    context.close()


def test_a_login_new_tokens_and_a_logout(page: Page, party: Party, running: Running, person: str) -> None:
    log_in(page, party, running, person)
    page.get_by_role("button", name="Renew").click()
    expect(page.locator("#problem")).to_have_text("renewed")
    party.log_out(page)
    assert_is_asked_to_log_in(page, party, running)


def test_who_stays_logged_in_opens_the_account_page_without_a_form(
    page: Page, party: Party, running: Running, person: str
) -> None:
    log_in(page, party, running, person)
    page.goto(f"{running.url}/oauth2/logout")
    page.get_by_role("link", name="Stay logged in").click()
    arrived(page)
    expect(page.locator("#name")).to_have_text(person)


def test_no_new_tokens_after_a_logout_here(page: Page, party: Party, running: Running, person: str) -> None:
    log_in(page, party, running, person)
    other = page.context.new_page()
    log_out_here(other, running)
    page.get_by_role("button", name="Renew").click()
    expect(page.locator("#problem")).to_contain_text("ErrorResponse")  # of the token endpoint
