"""Two applications and one browser: one login for both, one logout for both."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import add_person
from tests.relying_parties.conftest import at, ready
from tests.relying_parties.journeys import (
    assert_is_asked_to_log_in,
    assert_is_in,
    fill_in,
    log_in,
    wait_until_out,
)
from tests.relying_parties.parties import NextAuth, OpenidClient, Party
from tests.support.running import Running
from tests.support.waiting import wait_until

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def wiki(running: Running) -> Iterator[Party]:
    with ready(OpenidClient, at(running)) as party:
        yield party


@pytest.fixture(scope="module")
def board(running: Running) -> Iterator[Party]:
    with ready(NextAuth, at(running)) as party:
        yield party


@pytest.fixture
def tab(page: Page) -> Page:
    """Another one of the same browser."""
    return page.context.new_page()


def test_one_login_opens_both_and_a_logout_in_one_ends_both(
    page: Page, tab: Page, wiki: Party, board: Party, running: Running, person: str
) -> None:
    log_in(page, wiki, running, person)
    board.open(tab)
    assert_is_in(tab, board, person)
    wiki.log_out(page)
    wait_until_out(tab, board)
    assert_is_asked_to_log_in(tab, board, running)


def test_two_forms_that_were_open_at_once_lead_to_one_session(
    page: Page, tab: Page, wiki: Party, board: Party, running: Running, person: str
) -> None:
    wiki.open(page)
    board.open(tab)
    fill_in(page, person)
    assert_is_in(page, wiki, person)
    fill_in(tab, person)
    assert_is_in(tab, board, person)
    page.reload()
    assert_is_in(page, wiki, person)
    wiki.log_out(page)
    wait_until_out(tab, board)


def test_somebody_else_at_the_same_browser_ends_the_first_login(
    page: Page, tab: Page, wiki: Party, board: Party, running: Running, person: str
) -> None:
    somebody = add_person(running)
    wiki.open(page)
    board.open(tab)
    fill_in(page, person)
    assert_is_in(page, wiki, person)
    fill_in(tab, somebody)
    assert_is_in(tab, board, somebody)

    def is_somebody() -> bool:
        wiki.open(page)
        return page.locator("#user").inner_text() == somebody

    wait_until(is_somebody, "the application has heard, and asked who is there now")
