"""What administrators do about passwords and second factors of others, in the browser."""

from __future__ import annotations

import secrets

import pytest
from playwright.sync_api import Page, expect

from tests.browser.authenticators import prove, set_up_app
from tests.browser.conftest import Visiting, add_person
from tests.browser.visits import Visit, arrived, log_in, part
from tests.support.running import PASSWORD, Running

pytestmark = pytest.mark.full

NEW_PASSWORD = "a wholly different phrase"


def open_user(page: Page, name: str) -> None:
    part(page, "Users")
    page.get_by_role("searchbox").fill(name)
    expect(page.locator("tbody tr")).to_have_count(1)
    page.locator("tbody .open").click()
    expect(page.get_by_role("dialog")).to_be_visible()


def test_a_new_user_sets_the_own_password_by_a_link(admin: Page, visiting: Visiting, running: Running) -> None:
    name = f"linked-{secrets.token_hex(3)}"
    part(admin, "Users")
    admin.get_by_role("button", name="Add a user").click()
    admin.get_by_label("Username").fill(name)
    admin.get_by_role("button", name="Save").click()
    link = admin.get_by_role("dialog").get_by_label("Link", exact=True)
    expect(link).to_be_visible()
    url = link.input_value()
    ticket = url.partition("#")[2]

    visit = visiting(running)
    asked: list[str] = []
    visit.context.on("request", lambda request: asked.append(request.url))
    page = visit.context.new_page()
    page.goto(url)
    expect(page.locator("#whose")).to_contain_text(name)
    assert page.url == f"{running.url}/set-password"
    page.get_by_label("New password").fill("password1")
    page.get_by_role("button", name="Set the password").click()
    expect(page.locator("#fresh-message")).to_contain_text("This password is too common")
    page.get_by_label("New password").fill(NEW_PASSWORD)
    page.get_by_role("button", name="Set the password").click()
    page.get_by_role("link", name="Log in").click()
    log_in(page, name, NEW_PASSWORD)
    arrived(page)

    page.goto("about:blank")
    page.goto(url)
    expect(page.get_by_role("heading", name="This link does not work any more")).to_be_visible()
    sent = [each for each in asked if "#" not in each]
    assert sent
    assert not any(ticket[:30] in each for each in sent)
    log = running.output()
    assert "password_link.made" in log
    assert ticket[:30] not in log
    assert NEW_PASSWORD not in log


def test_a_password_is_set_without_standing_in_an_address(admin: Page, visiting: Visiting, running: Running) -> None:
    name = add_person(running)
    asked: list[str] = []
    admin.on("request", lambda request: asked.append(request.url))
    open_user(admin, name)
    admin.get_by_role("button", name="Set a password").click()
    admin.get_by_label("New password").fill(NEW_PASSWORD)
    admin.get_by_role("dialog").last.get_by_role("button", name="Set a password").click()
    expect(admin.locator(".toast.good").last).to_have_text(f"{name} has a new password.")
    assert admin.locator(".toasts:popover-open").count() == 1, "the message stands above the dialog that is open"
    assert any(each.endswith("/password") for each in asked)
    assert not any("wholly" in each or "password=" in each for each in asked)
    visiting(running).logged_in(name, NEW_PASSWORD)


def test_the_own_password_is_changed_on_the_account_page(admin: Page) -> None:
    open_user(admin, "admin")
    dialog = admin.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Sessions")).to_be_visible()
    expect(dialog.get_by_role("button", name="Set a password")).to_have_count(0)
    dialog.get_by_role("link", name="Your account").click()
    expect(admin.get_by_role("heading", name="Your account")).to_be_visible()


def test_a_second_factor_is_seen_and_reset(admin: Page, visiting: Visiting, running: Running) -> None:
    name = add_person(running)
    page = visiting(running).logged_in(name)
    page.get_by_role("button", name="Set up an app").click()
    prove(page)
    set_up_app(page)
    page.get_by_role("button", name="Log out").click()

    open_user(admin, name)
    admin.get_by_role("button", name="Second factor").click()
    dialog = admin.get_by_role("dialog").last
    expect(dialog).to_contain_text("Authenticator app: on; 10 recovery codes left")
    dialog.get_by_role("button", name="Remove all").click()
    admin.get_by_role("dialog").last.get_by_role("button", name="Remove all").click()
    expect(admin.locator(".toast.good").last).to_have_text(f"{name} has no second factor any more.")
    log_in(page, name)
    arrived(page)


@pytest.mark.parametrize("link", ["", "#made-up"])
def test_a_link_that_is_not_ours_opens_nothing(visit: Visit, link: str) -> None:
    page = visit.page(f"/set-password{link}")
    expect(page.get_by_role("heading", name="This link does not work any more")).to_be_visible()
    expect(page.locator("#form")).to_be_hidden()
    assert PASSWORD not in page.content()
