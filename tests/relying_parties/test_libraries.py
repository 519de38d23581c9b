"""The libraries that most applications log people in with: in and out, from both ends, in a browser without scripts."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.relying_parties.conftest import at, ready
from tests.relying_parties.journeys import (
    assert_is_asked_to_log_in,
    assert_is_in,
    log_in,
    visited,
    wait_until_out,
)
from tests.relying_parties.parties import ApacheModule, NextAuth, OpenidClient, Party, SpringSecurity
from tests.support.conversation import ME, bearer, login
from tests.support.running import Running

pytestmark = pytest.mark.full


@pytest.fixture(
    scope="module",
    params=[OpenidClient, NextAuth, ApacheModule, SpringSecurity],
    ids=["openid-client", "next-auth", "mod_auth_openidc", "spring-security"],
)
def party(running: Running, request: pytest.FixtureRequest) -> Iterator[Party]:
    with ready(request.param, at(running)) as party:
        yield party


def test_a_login_and_the_next_one_without_a_form(page: Page, party: Party, running: Running, person: str) -> None:
    log_in(page, party, running, person)
    page.context.clear_cookies(domain="localhost")  # the application has forgotten, the provider has not
    party.open(page)
    assert_is_in(page, party, person)


def test_a_logout_in_the_application_ends_the_session_and_comes_back(
    page: Page, party: Party, running: Running, person: str
) -> None:
    log_in(page, party, running, person)
    urls = visited(page)
    party.log_out(page)
    page.wait_for_load_state()
    ends = [url for url in urls if url.startswith(f"{running.url}/oauth2/logout?")]
    assert len(ends) == 1
    assert f"{party.url}/" in urls[urls.index(ends[0]) :], "back in the application"
    assert_is_asked_to_log_in(page, party, running)


def log_out_at_the_page(page: Page, running: Running, person: str) -> None:
    page.goto(f"{running.url}/oauth2/logout")
    page.get_by_role("button", name="Log out").click()
    expect(page.locator("#logged-out")).to_be_visible()


def log_out_elsewhere(page: Page, running: Running, person: str) -> None:
    """All other sessions, from another device."""
    with running.client() as client:
        answer = client.delete(f"{ME}/sessions", headers=bearer(login(client, username=person)))
        assert answer.is_success


def disable(page: Page, running: Running, person: str) -> None:
    assert running.cli("user", "disable", person).returncode == 0


@pytest.mark.parametrize("end", [log_out_at_the_page, log_out_elsewhere, disable])
def test_the_application_hears_of_every_end_of_the_session(
    page: Page, party: Party, running: Running, person: str, end: Callable[[Page, Running, str], None]
) -> None:
    log_in(page, party, running, person)
    end(page, running, person)
    wait_until_out(page, party)
    assert_is_asked_to_log_in(page, party, running)
