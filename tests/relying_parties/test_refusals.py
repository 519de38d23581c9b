"""What an application hears when people may not, or do not want to, log in to it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import add_person
from tests.browser.visits import allow
from tests.relying_parties.conftest import at, ready
from tests.relying_parties.journeys import assert_is_in, fill_in
from tests.relying_parties.parties import OpenidClient, Party
from tests.support.running import Running

pytestmark = pytest.mark.full


class Survey(OpenidClient):
    """Not the company's own, and not for everybody."""

    def options(self) -> list[str]:
        return [*super().options(), "--name", "Survey", "--third-party", "--role", "ADMIN"]


@pytest.fixture(scope="module")
def survey(running: Running) -> Iterator[Party]:
    with ready(Survey, at(running)) as party:
        yield party


def test_people_are_asked_once_and_may_say_no(page: Page, survey: Party, person: str) -> None:
    survey.open(page)
    fill_in(page, person)
    expect(page.get_by_role("heading", name="Survey")).to_be_visible()
    page.get_by_role("button", name="Do not allow").click()
    expect(page.get_by_text("Failed")).to_be_visible()
    assert "access_denied" in survey.log()
    survey.open(page)
    allow(page)
    assert_is_in(page, survey, person)
    page.context.clear_cookies(domain="localhost")
    survey.open(page)
    assert_is_in(page, survey, person)


def test_who_has_no_role_for_it_is_sent_back(page: Page, survey: Party, running: Running) -> None:
    before = survey.log().count("access_denied")
    survey.open(page)
    fill_in(page, add_person(running))
    expect(page.get_by_text("Failed")).to_be_visible()
    assert survey.log().count("access_denied") > before
