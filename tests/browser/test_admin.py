"""The administration: every part and its acts, at both sizes; nothing of it for whoever lacks the perms."""

from __future__ import annotations

import secrets
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visiting, add_person
from tests.browser.test_accessibility import AXE, faults
from tests.browser.visits import Visit, arrived, log_in, part
from tests.support.running import PASSWORD, Running


def test_overview_shows_people_logins_and_what_has_happened(admin: Page) -> None:
    expect(admin.locator(".figure").first.locator(".value")).not_to_be_empty()
    expect(admin.locator("svg.chart")).to_be_visible()
    expect(admin.locator(".happened li").first).to_be_visible()


def test_users_are_added_found_changed_and_deleted(admin: Page, visiting: Visiting, running: Running) -> None:
    name = f"new-{secrets.token_hex(3)}"
    part(admin, "Users")
    admin.get_by_role("button", name="Add a user").click()
    admin.get_by_label("Username").fill(name)
    admin.get_by_label("Nickname").fill("Nora New")
    admin.get_by_label("First password").fill(PASSWORD)
    admin.get_by_role("button", name="Save").click()
    expect(admin.locator(".toast.good")).to_contain_text(name)
    elsewhere = visiting(running).logged_in(name)

    admin.get_by_role("searchbox").fill(name)
    expect(admin.locator("tbody tr")).to_have_count(1)
    admin.get_by_role("button", name="Nora New").click()
    dialog = admin.get_by_role("dialog")
    dialog.get_by_label("Nickname").fill("Nora Newer")
    dialog.get_by_role("button", name="Save").click()
    expect(admin.get_by_role("button", name="Nora Newer")).to_be_visible()

    part(admin, "Sessions")
    admin.get_by_role("searchbox").fill(name)
    expect(admin.locator("tbody tr")).to_have_count(1)
    admin.get_by_role("button", name=f"{name}: End the session").click()
    admin.get_by_role("button", name="End it").click()
    expect(admin.get_by_text("Nobody is logged in")).to_be_visible()
    elsewhere.reload()
    expect(elsewhere.locator("#notice")).to_contain_text("Your session has ended")

    part(admin, "Users")
    admin.get_by_role("searchbox").fill(name)
    expect(admin.locator("tbody tr")).to_have_count(1)
    admin.get_by_label("Pick this row").check()
    admin.get_by_role("button", name="Delete").click()
    admin.get_by_role("button", name="Delete for good").click()
    expect(admin.get_by_text("No user found")).to_be_visible()


def test_the_perms_of_a_role_change_after_a_look_at_the_difference(admin: Page, running: Running) -> None:
    code = f"ROLE_{secrets.token_hex(3).upper()}"
    part(admin, "Roles")
    admin.get_by_role("button", name="Add a role").click()
    admin.get_by_label("Name").fill(code.title())
    admin.get_by_label("Code").fill(code)
    admin.get_by_role("button", name="Save", exact=True).click()
    expect(admin.get_by_role("heading", name=code.title())).to_be_visible()
    admin.get_by_label("Search permissions").fill("sys:user")
    admin.get_by_label("list", exact=True).check()
    admin.get_by_role("button", name="Review and save").click()
    expect(admin.locator(".diff li")).to_have_text(["+ sys:user:list"])
    admin.get_by_role("button", name="Save", exact=True).click()
    expect(admin.locator(".toast.good").last).to_have_text("The role is saved.")
    shown = running.cli("role", "show", code)
    assert "sys:user:list" in shown.stdout


def test_departments_are_walked_and_changed_by_keyboard(admin: Page) -> None:
    name = f"Team {secrets.token_hex(2)}"
    part(admin, "Departments")
    admin.locator(".tree li[aria-label=Headquarters]").focus()
    admin.keyboard.press("Enter")
    admin.keyboard.press("Enter")
    admin.get_by_label("Name").fill(name)
    admin.keyboard.press("Enter")
    expect(admin.locator(f".tree li[aria-label='{name}']")).to_be_visible()
    admin.get_by_role("button", name=f"Delete: {name}").click()
    admin.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(admin.locator(f".tree li[aria-label='{name}']")).to_have_count(0)


def test_the_audit_is_searched_and_exported(admin: Page) -> None:
    part(admin, "Audit")
    admin.get_by_role("searchbox").fill("login")
    expect(admin.locator("tbody tr").first).to_contain_text("Login")
    with admin.expect_download() as download:
        admin.get_by_role("button", name="Export CSV").click()
    assert "login" in Path(download.value.path()).read_text(encoding="utf-8-sig")


def test_whoever_lacks_the_perms_sees_nothing_of_it(desk: Visit, person: str) -> None:
    page = desk.page()
    log_in(page, person)
    arrived(page)
    expect(page.get_by_role("link", name="Administration")).to_be_hidden()
    page.goto(f"{desk.url}/admin")
    expect(page.get_by_text("You have no access to the administration")).to_be_visible()
    expect(page.locator("#rail a")).to_have_count(0)


def test_axe_finds_no_serious_fault(visiting: Visiting, running: Running) -> None:
    if not AXE.exists():
        pytest.skip("axe-core is not installed; with npm on the PATH `make test` installs it")
    add_person(running)
    page = visiting(running, color_scheme="dark", reduced_motion="reduce").logged_in()
    page.get_by_role("link", name="Administration").click()
    for name in ("Overview", "Users", "Roles", "Departments", "Sessions", "Audit"):
        part(page, name)
        expect(page.locator("[aria-busy=true], .waiting")).to_have_count(0)
        assert faults(page, AXE.read_text()) == [], name
