"""What every change must leave working: log in, manage sessions, log out, a second factor, the administration.

The other files have the rest, which only --all runs.
"""

from __future__ import annotations

import secrets

import pytest
from playwright.sync_api import Page, expect

from tests.browser.authenticators import prove, set_up_app
from tests.browser.chromium import SIZES
from tests.browser.conftest import Visiting, add_person
from tests.browser.test_admin_chinese import chinese_phone, found, opened, told
from tests.browser.test_refresh import reload_at_once, two_tabs
from tests.browser.visits import Visit, arrived, come_back, log_in, part, spoil_access_token, step_away, tokens
from tests.support.conversation import ME, bearer
from tests.support.running import Running


@pytest.mark.parametrize("size", SIZES, indirect=True)
def test_log_in(visit: Visit) -> None:
    page = visit.page()
    log_in(page)
    arrived(page)
    expect(page.get_by_role("heading", name="Administrator")).to_be_visible()
    assert page.evaluate("Object.keys(localStorage).length") == 0


def test_a_wrong_password_is_told_beside_it_and_nothing_jumps(visit: Visit) -> None:
    page = visit.page()
    page.locator("#captcha-image[src]").wait_for()
    before = page.locator("#submit").bounding_box()
    log_in(page, password="not the right one")
    expect(page.locator("#password-message")).to_have_text("Wrong username or password")
    expect(page.get_by_label("Password", exact=True)).to_be_focused()
    assert page.locator("#submit").bounding_box() == before
    log_in(page)
    arrived(page)


def test_end_another_session(visiting: Visiting, visit: Visit, running: Running, person: str) -> None:
    elsewhere = visiting(running).logged_in(person)
    step_away(elsewhere)
    page = visit.logged_in(person)
    rows = page.locator("#sessions .row")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("This one")
    page.get_by_role("button", name="End the session").click()
    page.get_by_role("button", name="Cancel").click()
    expect(rows).to_have_count(2)
    before = page.locator(".sessions").bounding_box()
    page.get_by_role("button", name="End the session").click()
    page.get_by_role("dialog").get_by_role("button", name="End it").click()
    expect(rows).to_have_count(1)
    expect(page.locator(".toast.good")).to_have_text("One session has ended.")
    after = page.locator("#sessions-title").bounding_box()
    assert before
    assert after
    assert after["y"] - before["y"] < 40  # the message moves nothing
    expect(page.locator("#sessions-title")).to_be_focused()
    come_back(elsewhere, running.url)
    expect(elsewhere.locator("#notice")).to_have_text("Your session has ended. Please log in again.")


def test_log_out_ends_the_session_in_every_tab(visit: Visit, running: Running) -> None:
    first = visit.logged_in(remember=True)
    second = visit.page("/account")
    arrived(second)
    held = tokens(first)
    first.get_by_role("button", name="Log out").click()
    for page in (first, second):
        expect(page.get_by_role("heading", name="Log in")).to_be_visible()
        expect(page.locator("#notice")).to_have_text("You are logged out.")
    with running.client() as client:
        assert client.get(ME, headers=bearer(held["access"])).status_code == 401


def test_two_tabs_that_find_their_token_expired_refresh_once(visit: Visit) -> None:
    first, second = two_tabs(visit)
    spoil_access_token(first)
    reload_at_once(first, second)
    assert len(visit.refreshes) == 1


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


def test_escape_closes_a_dialog_and_gives_the_focus_back(admin: Page) -> None:
    part(admin, "Users")
    add = admin.get_by_role("button", name="Add a user")
    add.focus()
    admin.keyboard.press("Enter")
    expect(admin.get_by_label("Username")).to_be_focused()
    admin.keyboard.press("Enter")
    expect(admin.get_by_role("alert").last).to_have_text("Fill in: Username")
    expect(admin.get_by_label("Username")).to_have_accessible_description("Fill in: Username")
    admin.keyboard.press("Escape")
    expect(admin.get_by_role("dialog")).to_have_count(0)
    expect(add).to_be_focused()


def test_a_user_is_added_edited_disabled_and_deleted_in_chinese(visiting: Visiting, running: Running) -> None:
    phone = chinese_phone(visiting, running)
    name = f"zh-{secrets.token_hex(3)}"
    part(phone, "用户")
    phone.get_by_role("button", name="新增用户").click()
    opened(phone).get_by_role("button", name="保存").click()
    expect(phone.get_by_text("请填写：用户名")).to_be_visible()
    expect(phone.get_by_label("用户名")).to_be_focused()
    phone.get_by_label("用户名").fill(name)
    phone.get_by_label("昵称").fill("李雷")
    opened(phone).get_by_role("button", name="保存").click()
    expect(phone.get_by_role("heading", name=f"{name} 的链接")).to_be_visible()
    opened(phone).get_by_role("button", name="关闭").click()
    found(phone, name).locator(".open").click()
    phone.get_by_label("昵称").fill("韩梅梅")
    opened(phone).get_by_role("button", name="保存").click()
    told(phone, "用户已保存。")
    row = found(phone, name)
    expect(row).to_contain_text("韩梅梅")
    row.get_by_label("选择此行").check()
    expect(row.get_by_label("选择此行")).to_be_focused()
    phone.get_by_role("button", name="禁用").click()
    opened(phone).get_by_role("button", name="禁用").click()
    told(phone, "已禁用 1 个用户。")
    expect(row).to_contain_text("禁用")
    row.get_by_label("选择此行").check()
    phone.get_by_role("button", name="删除").click()
    opened(phone).get_by_role("button", name="永久删除").click()
    told(phone, "已删除 1 个用户。")
    expect(phone.get_by_text("没有找到用户")).to_be_visible()
