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
    log_out_here,
    visited,
    wait_until_out,
)
from tests.relying_parties.parties import (
    ApacheModule,
    NextAuth,
    OpenidClient,
    Party,
    SpringSecurity,
    StrictOpenidClient,
)
from tests.support.conversation import ME, bearer, login
from tests.support.running import Running

pytestmark = pytest.mark.full

KINDS = {
    "openid-client": OpenidClient,
    "strict": StrictOpenidClient,
    "next-auth": NextAuth,
    "mod_auth_openidc": ApacheModule,
    "spring-security": SpringSecurity,
}


@pytest.fixture(scope="module", params=list(KINDS.values()), ids=list(KINDS))
def party(running: Running, request: pytest.FixtureRequest) -> Iterator[Party]:
    with ready(request.param, at(running)) as party:
        yield party


def test_a_login_and_the_next_one_without_a_form(page: Page, party: Party, running: Running, person: str) -> None:
    log_in(page, party, running, person)
    page.context.clear_cookies(domain="localhost")  # the application has forgotten, the provider has not
    party.open(page)
    party.come_back(page)
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


def test_a_logout_here_reaches_the_application(page: Page, party: Party, running: Running, person: str) -> None:
    log_in(page, party, running, person)
    log_out_here(page, running)
    wait_until_out(page, party)
    assert_is_asked_to_log_in(page, party, running)


def end_other_sessions(running: Running, person: str) -> None:
    with running.client() as client:
        answer = client.delete(f"{ME}/sessions", headers=bearer(login(client, username=person)))
        assert answer.is_success


def disable(running: Running, person: str) -> None:
    assert running.cli("user", "disable", person).returncode == 0


def end_sessions_of_user(running: Running, person: str) -> None:
    done = running.cli("session", "end", "--user", person)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("party", [OpenidClient], indirect=True)
@pytest.mark.parametrize("end", [end_other_sessions, disable, end_sessions_of_user])
def test_however_the_session_ends_the_application_hears_of_it(
    page: Page, party: Party, running: Running, person: str, end: Callable[[Running, str], None]
) -> None:
    log_in(page, party, running, person)
    page.goto(f"{party.url}/renew")
    assert_is_in(page, party, person)
    end(running, person)
    page.goto(f"{party.url}/renew")  # at once
    expect(page.get_by_text("Failed")).to_be_visible()
    assert "invalid_grant" in party.log()
    wait_until_out(page, party)
    assert_is_asked_to_log_in(page, party, running)
