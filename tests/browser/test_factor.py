"""Authenticator apps in the browser: set up on the account page or because it is required, asked for at login."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.authenticators import code_of, prove, set_up_app
from tests.browser.chromium import SIZES
from tests.browser.conftest import Serving, Visiting, add_person
from tests.browser.visits import arrived, log_in
from tests.support.running import Running

pytestmark = pytest.mark.full


def test_who_must_have_one_is_led_through_setting_it_up(serving: Serving, visiting: Visiting) -> None:
    running = serving(second_factor_roles="ADMIN")
    page = visiting(running).page()
    log_in(page)
    expect(page.get_by_role("dialog")).to_contain_text("Set up an authenticator app")
    expect(page.get_by_role("dialog")).to_contain_text("Your account must have a second factor.")
    assert "account" not in page.url
    secret, _ = set_up_app(page)
    expect(page.locator("#notice")).to_contain_text("The app is set up")
    page.get_by_label("Code from your authenticator app").fill(code_of(secret, 1))
    page.get_by_role("button", name="Log in", exact=True).click()
    arrived(page)
    # Whom it does not concern is asked for nothing.
    visiting(running).logged_in(add_person(running))


@pytest.mark.parametrize("secure", [True, False], ids=["clipboard", "without a clipboard"])
def test_on_a_phone_the_app_is_opened_or_the_key_copied(visiting: Visiting, running: Running, secure: bool) -> None:
    visit = visiting(running, permissions=["clipboard-read", "clipboard-write"], **SIZES["phone"])
    page = visit.logged_in(add_person(running))
    if not secure:
        page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.get_by_role("button", name="Set up an app").click()
    prove(page)
    secret = page.locator(".secret").inner_text().replace(" ", "")
    link = page.get_by_role("link", name="Open in the app on this device")
    expect(link).to_be_visible()
    expect(link).to_have_attribute("href", re.compile(f"^otpauth://totp/.*secret={secret}"))
    page.get_by_role("button", name="Copy the key").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    code = page.get_by_label("Code from the app")
    code.press("Control+v")
    expect(code).to_have_value(secret[:8])  # as much as a code may have
