"""The login page, as somebody who logs in meets it, on a desktop and on a phone."""

from __future__ import annotations

import re
import secrets
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Serving, Visiting, add_person
from tests.browser.visits import Visit, arrived, held_up, log_in
from tests.support.running import Running

pytestmark = pytest.mark.full


def test_remembered_tokens_are_there_in_a_new_tab(desk: Visit) -> None:
    desk.logged_in(remember=True)
    arrived(desk.page("/"))


def test_a_wrong_captcha_is_told_beside_it_and_a_new_one_comes(visit: Visit) -> None:
    page = visit.page()
    page.locator("#captcha-image[src]").wait_for()
    before = page.locator("#captcha-image").get_attribute("src")
    log_in(page, captcha="zzzz")
    field = page.get_by_label("Characters in the picture")
    expect(page.locator("#captcha-message")).to_have_text("That was not it. Here is a new picture.")
    expect(field).to_be_focused()
    expect(field).to_have_value("")
    expect(field).to_have_attribute("aria-invalid", "true")
    assert page.locator("#captcha-image").get_attribute("src") != before
    log_in(page)
    arrived(page)


def test_a_login_that_comes_before_its_picture_waits_for_it(desk: Visit) -> None:
    page = desk.page()
    page.locator("#captcha-image[src]").wait_for()
    with held_up(page, "**/auth/captcha"):
        log_in(page, password="not the right one")
        expect(page.locator("#password-message")).to_have_text("Wrong username or password")
        log_in(page)
    arrived(page)


def test_what_is_missing_is_told_without_asking_the_service(desk: Visit) -> None:
    page = desk.page()
    page.locator("#captcha-image[src]").wait_for()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.get_by_role("button", name="Log in", exact=True).click()
    expect(page.locator("#username-message")).to_have_text("Enter your username")
    expect(page.locator("#password-message")).to_have_text("Enter your password")
    expect(page.get_by_label("Username")).to_be_focused()
    assert asked == []


def test_an_empty_captcha_is_asked_for_unless_one_is_exempt(desk: Visit, running: Running) -> None:
    page = desk.page()
    log_in(page, captcha="")
    expect(page.locator("#captcha-message")).to_have_text("Enter what the picture shows")
    log_in(page, add_person(running, "--captcha-exempt"), captcha="")
    arrived(page)


@pytest.mark.parametrize("by", ["click", "key"])
def test_the_picture_is_changed_by_click_and_by_key(desk: Visit, by: str) -> None:
    page = desk.page()
    image = page.locator("#captcha-image[src]")
    image.wait_for()
    before = image.get_attribute("src")
    button = page.get_by_role("button", name="Show another picture")
    if by == "click":
        button.click()
    else:
        button.press("Enter")
    expect(image).not_to_have_attribute("src", str(before))
    expect(page.get_by_label("Characters in the picture")).to_be_focused()


def test_the_password_can_be_looked_at(desk: Visit) -> None:
    page = desk.page()
    field = page.get_by_label("Password", exact=True)
    field.fill("secret")
    eye = page.get_by_role("button", name="Show the password")
    eye.click()
    expect(field).to_have_attribute("type", "text")
    expect(eye).to_have_attribute("aria-pressed", "true")
    eye.click()
    expect(field).to_have_attribute("type", "password")


def test_caps_lock_is_told(desk: Visit) -> None:
    page = desk.page()
    page.locator("#captcha-image[src]").wait_for()
    press = """(on) => document.getElementById("password").dispatchEvent(
      new KeyboardEvent("keydown", { key: "a", modifierCapsLock: on, bubbles: true }))"""
    page.evaluate(press, True)
    expect(page.locator("#password-message")).to_have_text("Caps Lock is on")
    page.evaluate(press, False)
    expect(page.locator("#password-message")).to_have_text("")


def test_a_name_that_must_wait_sees_the_time_run_down(
    visiting: Visiting, strict: Running, size: dict[str, Any]
) -> None:
    page = visiting(strict, **size).page()
    page.clock.install()
    name = secrets.token_hex(4)
    use_up(page, name)
    submit = page.locator("#submit")
    expect(page.locator("#username-message")).to_have_text("Too many failed tries for this name")
    expect(submit).to_have_text(re.compile(r"Try again in 0:[0-3]\d"))
    expect(submit).to_have_attribute("aria-disabled", "true")
    # From here on time moves only when it is told to: how long the machine took until now does not matter.
    page.clock.pause_at(page.evaluate("Date.now()") / 1000 + 3)
    left = int(submit.inner_text().rpartition(":")[2])
    assert 5 < left <= 30
    page.clock.run_for(5_000)
    expect(submit).to_have_text(f"Try again in 0:{left - 5:02}")
    page.clock.run_for((left - 5) * 1000)
    expect(submit).to_have_text("Log in")
    expect(submit).to_have_attribute("aria-disabled", "false")
    expect(page.locator("#username-message")).to_have_text("")


def test_another_name_need_not_wait(visiting: Visiting, strict: Running) -> None:
    page = visiting(strict).page()
    use_up(page, secrets.token_hex(4))
    expect(page.locator("#submit")).to_contain_text("Try again in 0:")
    log_in(page)
    arrived(page)


def use_up(page: Page, name: str) -> None:
    for _ in range(2):
        log_in(page, name, "wrong password")
        expect(page.locator("#password-message")).to_have_text("Wrong username or password")
    log_in(page, name, "wrong password")


def test_an_address_that_must_wait_is_told_above_the_button(serving: Serving, visiting: Visiting) -> None:
    page = visiting(serving(limits="on", limit_login_address="1/minute")).page()
    log_in(page, password="wrong password")
    expect(page.locator("#password-message")).to_have_text("Wrong username or password")
    log_in(page)
    expect(page.locator("#form-message")).to_have_text("Too many tries from here")
    expect(page.locator("#submit")).to_contain_text("Try again in ")


def test_a_captcha_that_must_wait_says_how_long(serving: Serving, visiting: Visiting) -> None:
    page = visiting(serving(limits="on", limit_captcha_address="1/minute")).page()
    page.locator("#captcha-image[src]").wait_for()
    page.locator("#captcha-reload").click()
    message = re.compile(r"Too many requests, try again in \d+ seconds?")
    expect(page.locator("#captcha-message")).to_have_text(message)


def test_a_service_that_is_away_is_told(desk: Visit) -> None:
    page = desk.page()
    page.locator("#captcha-image[src]").wait_for()
    answer = '{"code":"C0300","msg":"The service is not available, try again in a moment"}'
    headers = {"Retry-After": "20", "Content-Type": "application/json"}
    page.route("**/auth/login", lambda route: route.fulfill(status=503, headers=headers, body=answer))
    log_in(page)
    expect(page.locator("#form-message")).to_have_text("The service is not available just now")
    expect(page.locator("#submit")).to_have_text(re.compile(r"Try again in 0:(20|[01]\d)"))


def test_english_and_chinese_by_the_browser_with_a_switch(visiting: Visiting, running: Running) -> None:
    page = visiting(running, locale="zh-CN").page()
    expect(page.get_by_role("heading", name="登录")).to_be_visible()
    page.get_by_role("button", name="English").click()
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    expect(page.get_by_role("button", name="Show another picture")).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    expect(page.locator("html")).to_have_attribute("lang", "en")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark_by_the_browser_with_a_switch(visiting: Visiting, running: Running, scheme: str) -> None:
    page = visiting(running, color_scheme=scheme).page()
    ground = "() => getComputedStyle(document.body).backgroundColor"
    preferred = page.evaluate(ground)
    page.locator("#captcha-image[src]").wait_for()
    page.get_by_role("button", name="Switch between light and dark").click()
    switched = page.evaluate(ground)
    assert switched != preferred
    page.reload()
    assert page.evaluate(ground) == switched
    page.locator("#captcha-image[src]").wait_for()
    page.get_by_role("button", name="Switch between light and dark").click()
    assert page.evaluate(ground) == preferred


def test_by_keyboard_alone(desk: Visit) -> None:
    page = desk.page()
    page.locator("#captcha-image[src]").wait_for()
    expect(page.get_by_label("Username")).to_be_focused()
    page.keyboard.type("admin")
    page.keyboard.press("Tab")
    page.keyboard.type("correct horse battery staple")
    page.keyboard.press("Tab")  # the eye
    page.keyboard.press("Tab")
    page.keyboard.type("abcd")
    page.keyboard.press("Enter")
    arrived(page)
