"""Gitea, a whole application: with what the recipe says, and with a login that has neither PKCE nor a nonce."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.relying_parties.conftest import at, ready
from tests.relying_parties.gitea import Gitea
from tests.relying_parties.journeys import assert_is_asked_to_log_in, fill_in
from tests.relying_parties.parties import Party
from tests.support.running import Running

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def gitea(running: Running) -> Iterator[Party]:
    with ready(Gitea, at(running)) as gitea:
        yield gitea


@pytest.fixture
def home(page: Page, gitea: Party, person: str) -> Page:
    """Her first page there."""
    gitea.open(page)
    fill_in(page, person)
    expect(page).to_have_url(f"{gitea.url}/")
    return page


def test_a_login_makes_the_user_with_the_rights_of_the_role(home: Page, gitea: Party, person: str) -> None:
    home.goto(f"{gitea.url}/user/settings")
    expect(home.get_by_label("Username")).to_have_value(person)
    expect(home.get_by_label("Full Name")).to_have_value("Anna Person")
    answer = home.goto(f"{gitea.url}/-/admin")
    assert answer is not None
    assert answer.ok, "an administrator here is one there"


def test_a_logout_in_gitea_is_confirmed_here_and_comes_back(home: Page, gitea: Party, running: Running) -> None:
    # Gitea sends no ID token along, so anybody could have made the link.
    gitea.log_out(home)
    expect(home).to_have_url(re.compile(f"^{re.escape(running.url)}/oauth2/logout"))
    home.get_by_role("button", name="Log out").click()
    expect(home).to_have_url(f"{gitea.url}/")
    expect(home.get_by_role("link", name="Sign In")).to_be_visible()
    assert_is_asked_to_log_in(home, gitea, running)
