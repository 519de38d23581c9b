"""Moving about in the administration: history, titles, the keyboard, and where the focus goes."""

from __future__ import annotations

import secrets

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import add_person
from tests.browser.visits import part, tokens
from tests.support.conversation import ME, bearer
from tests.support.running import Running

pytestmark = pytest.mark.full


def test_the_history_knows_the_parts_and_leaves_no_dialog_behind(admin: Page) -> None:
    expect(admin).to_have_title("Overview · Administration · Gatehouse")
    part(admin, "Users")
    part(admin, "Roles")
    expect(admin).to_have_title("Roles · Administration · Gatehouse")
    admin.get_by_role("button", name="Add a role").click()
    expect(admin.get_by_role("dialog")).to_be_visible()
    admin.go_back()
    expect(admin.get_by_role("heading", name="Users", level=1)).to_be_visible()
    expect(admin.get_by_role("dialog")).to_have_count(0)
    expect(admin.locator("#view")).to_be_focused()
    admin.get_by_role("button", name="中文").click()
    expect(admin).to_have_title("用户 · 系统管理 · Gatehouse")


def test_changes_that_are_not_saved_are_not_lost_without_a_question(admin: Page, running: Running) -> None:
    code = f"UNSAVED_{secrets.token_hex(3).upper()}"
    assert running.cli("role", "add", code, "--name", code.title()).returncode == 0
    part(admin, "Roles")
    admin.get_by_role("button", name=code.title()).click()
    expect(admin.get_by_role("heading", name=code.title())).to_be_visible()
    admin.get_by_role("checkbox").first.check()
    users = admin.get_by_role("link", name="Users", exact=True)
    users.click()
    dialog = admin.get_by_role("dialog", name="Leave without saving?")
    dialog.get_by_role("button", name="Cancel").click()
    expect(admin.get_by_role("heading", name="Roles", level=1)).to_be_visible()
    expect(admin.get_by_role("checkbox").first).to_be_checked()
    users.click()
    dialog.get_by_role("button", name="Leave").click()
    expect(admin.get_by_role("heading", name="Users", level=1)).to_be_visible()
    part(admin, "Overview")  # without a question: nothing is unsaved any more


def test_the_focus_stays_on_the_page_when_its_row_is_gone(admin: Page, running: Running) -> None:
    name = add_person(running)
    part(admin, "Users")
    admin.get_by_role("searchbox").fill(name)
    expect(admin.locator("tbody tr")).to_have_count(1)
    pick = admin.get_by_label("Pick this row")
    pick.focus()
    admin.keyboard.press("Space")
    expect(pick).to_be_focused()
    admin.get_by_role("button", name="Delete").focus()
    admin.keyboard.press("Enter")
    admin.get_by_role("button", name="Delete for good").focus()
    admin.keyboard.press("Enter")
    expect(admin.get_by_text("No user found")).to_be_visible()
    expect(admin.locator("#view")).to_be_focused()


def test_the_focus_stays_in_its_row_when_the_list_is_fetched_again(admin: Page, running: Running) -> None:
    name = add_person(running)
    part(admin, "Users")
    admin.get_by_role("searchbox").fill(name)
    expect(admin.locator("tbody tr")).to_have_count(1)
    admin.get_by_label("Pick this row").focus()
    admin.locator("tbody tr").evaluate("row => row.classList.add('before')")
    admin.get_by_role("button", name="中文").evaluate("button => button.click()")  # leaves the focus where it is
    expect(admin.locator("tbody tr.before")).to_have_count(0)
    expect(admin.get_by_label("选择此行")).to_be_focused()


def test_the_same_search_again_leaves_what_was_picked(admin: Page, running: Running) -> None:
    name = add_person(running)
    part(admin, "Users")
    search = admin.get_by_role("searchbox")
    search.fill(name)
    expect(admin.locator("tbody tr")).to_have_count(1)
    admin.get_by_label("Pick this row").check()
    asked: list[str] = []
    admin.on("request", lambda request: asked.append(request.url))
    admin.clock.install()
    search.fill(f"{name} ")
    admin.clock.run_for(1000)  # longer than the box waits for a pause
    expect(admin.get_by_label("Pick this row")).to_be_checked()
    with admin.expect_response("**keywords=another**"):
        search.fill("another")
    assert not any(f"keywords={name}" in url for url in asked)


def test_the_buttons_of_a_long_form_are_in_sight(admin: Page) -> None:
    part(admin, "Users")
    admin.get_by_role("button", name="Add a user").click()
    expect(admin.get_by_role("dialog").get_by_role("button", name="Save")).to_be_in_viewport()


def test_one_logs_out_from_here(admin: Page, running: Running) -> None:
    held = tokens(admin)
    admin.get_by_role("button", name="Log out").click()
    expect(admin.locator("#notice")).to_have_text("You are logged out.")
    with running.client() as client:
        assert client.get(ME, headers=bearer(held["access"])).status_code == 401


@pytest.mark.parametrize("size", ["phone"], indirect=True)
def test_the_line_of_parts_shows_that_it_goes_on(admin: Page) -> None:
    rail = admin.locator("#rail")
    arrows = "rail => ['::before', '::after'].map(each => getComputedStyle(rail, each).visibility)"
    expect(rail).to_have_class("rail more-after")
    assert rail.evaluate(arrows) == ["hidden", "visible"]
    part(admin, "Roles")
    expect(rail).to_have_class("rail more-after more-before")
    rail.evaluate("rail => (rail.scrollLeft = rail.scrollWidth)")
    expect(rail).to_have_class("rail more-before")
    assert rail.evaluate(arrows) == ["visible", "hidden"]
