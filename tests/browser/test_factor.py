"""Authenticator apps in the browser: set up on the account page or because it is required, asked for at login."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.authenticators import code_of, set_up_app
from tests.browser.conftest import Serving, Visiting, add_person
from tests.browser.visits import arrived, log_in

pytestmark = pytest.mark.full


def test_who_must_have_one_is_led_through_setting_it_up(serving: Serving, visiting: Visiting) -> None:
    running = serving(second_factor_roles="ADMIN")
    page = visiting(running).page()
    log_in(page)
    expect(page.get_by_role("dialog")).to_contain_text("Set up an authenticator app")
    assert "account" not in page.url
    secret, _ = set_up_app(page)
    expect(page.locator("#notice")).to_contain_text("The app is set up")
    page.get_by_label("Code from your authenticator app").fill(code_of(secret, 1))
    page.get_by_role("button", name="Log in", exact=True).click()
    arrived(page)
    # Whom it does not concern is asked for nothing.
    visiting(running).logged_in(add_person(running))
