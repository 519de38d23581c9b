"""Authenticator apps in the browser: set up on the account page or because it is required, asked for at login."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.authenticators import code_of, prove, set_up_app
from tests.browser.conftest import Serving, Visiting, add_person
from tests.browser.visits import Visit, arrived, log_in
from tests.support.running import Running


def test_an_app_is_set_up_and_its_codes_log_in(visit: Visit, running: Running) -> None:
    person = add_person(running)
    page = visit.logged_in(person)
    page.get_by_role("button", name="Set up an app").click()
    prove(page)
    expect(page.locator("img.qr")).to_be_visible()
    page.get_by_label("Code from the app").fill("000000")
    page.get_by_role("button", name="Switch it on").click()
    expect(page.locator("#totp-code-message")).not_to_be_empty()
    _, codes = set_up_app(page)
    assert len(set(codes)) == 10
    expect(page.locator("#factor")).to_contain_text("On; 10 recovery codes left.")

    page.get_by_role("button", name="Log out").click()
    log_in(page, person)
    code = page.get_by_label("Code from your authenticator app")
    code.fill("123456")
    page.get_by_role("button", name="Log in", exact=True).click()
    expect(page.locator("#code-message")).to_have_text("The code or the password is wrong")
    code.fill(codes[0])
    page.get_by_role("button", name="Log in", exact=True).click()
    arrived(page)
    expect(page.locator("#factor")).to_contain_text("On; 9 recovery codes left.")
    expect(page.locator("#logins li").first).to_contain_text("password and recovery code")


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
