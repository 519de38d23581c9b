"""The administration: every part and its acts, at both sizes; nothing of it for whoever lacks the perms."""

from __future__ import annotations

import re
import secrets
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from gatehouse.transfer.xlsx import write_sheet
from tests.browser.chromium import SIZES
from tests.browser.conftest import Visiting, add_person
from tests.browser.test_accessibility import faults
from tests.browser.visits import Visit, arrived, come_back, held_up, log_in, part, step_away
from tests.support.conversation import LOGIN, credentials
from tests.support.running import PASSWORD, Running

pytestmark = pytest.mark.full


def test_overview_shows_people_logins_and_what_has_happened(admin: Page) -> None:
    expect(admin.locator(".figure").first.locator(".value")).not_to_be_empty()
    expect(admin.locator("svg.chart")).to_be_visible()
    people, logins = (
        float(admin.locator(f".chart .{bar}").last.get_attribute("width") or 0) for bar in ("bar-a", "bar-b")
    )
    assert 0 < people < logins, "both are seen when they are equally high"
    expect(admin.locator(".happened li").first).to_be_visible()


def test_overview_shows_failures_who_must_wait_and_how_the_stores_are(admin: Page) -> None:
    expect(admin.locator(".legend")).to_contain_text("Failed logins")
    expect(admin.get_by_role("heading", name="Locked names")).to_be_visible()
    expect(admin.get_by_text("No name is locked after failed logins.")).to_be_visible()
    health = admin.locator(".findings")
    for check in ("accounts", "state", "signing keys", "clock"):
        expect(health.get_by_text(check, exact=True).first).to_be_visible()
    # The tests run with switches that doctor warns of.
    admin.get_by_role("link", name="Running, with notes").click()
    expect(admin.get_by_role("heading", name="Settings", level=1)).to_be_visible()


def test_settings_say_what_is_set_and_from_where_and_no_secret(admin: Page) -> None:
    part(admin, "Settings")
    expect(admin.locator(".findings")).to_contain_text("unset GATEHOUSE_LIMITS")
    admin.get_by_role("searchbox").fill("admin_password")
    rows = admin.locator("table.settings tbody tr")
    expect(rows).to_have_count(1)
    expect(rows.first).to_contain_text("set, not shown")
    assert PASSWORD not in admin.content()
    admin.get_by_role("searchbox").fill("limits")
    expect(rows.first).to_contain_text("off")
    expect(rows.first).to_contain_text("GATEHOUSE_LIMITS")
    admin.get_by_role("searchbox").fill("")
    admin.get_by_label("Only what differs").check()
    expect(rows.filter(has_text="default")).to_have_count(0)


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
    step_away(elsewhere)

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
    come_back(elsewhere, running.url)
    expect(elsewhere.locator("#notice")).to_contain_text("Your session has ended")

    part(admin, "Users")
    admin.get_by_role("searchbox").fill(name)
    expect(admin.locator("tbody tr")).to_have_count(1)
    admin.get_by_label("Pick this row").check()
    admin.get_by_role("button", name="Delete").click()
    admin.get_by_role("button", name="Delete for good").click()
    expect(admin.get_by_text("No user found")).to_be_visible()


def test_a_user_whose_first_password_is_refused_is_not_added(admin: Page) -> None:
    name = f"weak-{secrets.token_hex(3)}"
    part(admin, "Users")
    admin.get_by_role("button", name="Add a user").click()
    admin.get_by_label("Username").fill(name)
    admin.get_by_label("First password").fill("12345678")
    admin.get_by_role("button", name="Save").click()
    expect(admin.get_by_role("dialog").get_by_role("alert")).to_contain_text("too common")
    expect(admin.locator(".toast")).to_have_count(0)
    admin.get_by_role("button", name="Cancel").click()
    admin.get_by_role("searchbox").fill(name)
    expect(admin.get_by_text("No user found")).to_be_visible()


def test_users_without_a_password_are_marked_and_found_and_deleted_from_their_form(admin: Page) -> None:
    name = f"bare-{secrets.token_hex(3)}"
    part(admin, "Users")
    admin.get_by_role("button", name="Add a user").click()
    admin.get_by_label("Username").fill(name)
    admin.get_by_role("button", name="Save").click()
    admin.get_by_role("dialog").get_by_role("button", name="Close").click()
    admin.get_by_label("Status").select_option("No password yet")
    admin.get_by_role("searchbox").fill(name)
    row = admin.locator("tbody tr")
    expect(row).to_have_count(1)
    expect(row).to_contain_text("No password yet")
    expect(row).to_contain_text("never")
    row.locator(".open").click()
    admin.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(admin.get_by_role("heading", name=f"Delete {name}?")).to_be_visible()
    admin.get_by_role("button", name="Delete for good").click()
    expect(admin.locator(".toast.good").last).to_have_text("1 user deleted.")
    expect(admin.get_by_role("dialog")).to_have_count(0)
    expect(admin.get_by_text("No user found")).to_be_visible()


def test_users_are_found_by_role_with_their_last_login(admin: Page, visiting: Visiting, running: Running) -> None:
    code = f"TEAM_{secrets.token_hex(3).upper()}"
    assert running.cli("role", "add", code, "--name", code.title()).returncode == 0
    name = add_person(running, "--role", code)
    visiting(running).logged_in(name)
    part(admin, "Users")
    admin.get_by_label("Role", exact=True).select_option(code.title())
    row = admin.locator("tbody tr")
    expect(row).to_have_count(1)
    expect(row).to_contain_text(name)
    expect(row).to_contain_text("just now")
    expect(row).not_to_contain_text("No password yet")


def test_several_users_are_disabled_and_found_by_department(admin: Page, running: Running) -> None:
    tag = secrets.token_hex(3)
    team = running.cli("dept", "add", f"Team {tag}", "--parent", "1").stdout
    number = re.search(r"with id (\d+)", team)
    assert number, team
    names = [add_person(running, "--dept", number[1]) for _ in range(2)]
    part(admin, "Users")
    admin.get_by_label("Department").select_option(number[1])
    rows = admin.locator("tbody tr")
    expect(rows).to_have_count(2)
    for row in rows.all():
        row.get_by_label("Pick this row").check()
    admin.get_by_role("button", name="Disable").click()
    expect(admin.get_by_role("dialog")).to_contain_text("logged out at once")
    admin.get_by_role("dialog").get_by_role("button", name="Disable").click()
    expect(admin.locator(".toast.good").last).to_have_text("2 users disabled.")
    admin.get_by_label("Status").select_option("0")
    expect(rows).to_have_count(2)
    with running.client() as client:
        for name in names:
            assert client.post(LOGIN, json=credentials(client, username=name)).json()["code"] == "A0210"


def test_a_name_that_must_wait_is_let_in(strict: Running, visiting: Visiting) -> None:
    page = visiting(strict).logged_in()
    name = f"ghost-{secrets.token_hex(3)}"
    with strict.client() as client:
        for _ in range(3):
            client.post(LOGIN, json=credentials(client, username=name, password="wrong password"))
    page.goto(f"{strict.url}/admin")
    expect(page.get_by_text("from unknown addresses").first).to_be_visible()
    let_in = page.get_by_role("button", name=f"Let in: {name}")
    let_in.click()
    page.get_by_role("dialog").get_by_role("button", name="Let in").click()
    expect(page.locator(".toast.good")).to_be_visible()
    expect(let_in).to_have_count(0)


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


def test_a_role_has_a_data_scope_and_says_which_codes_there_are(admin: Page, running: Running) -> None:
    code = f"SCOPE_{secrets.token_hex(3).upper()}"
    part(admin, "Roles")
    admin.get_by_role("button", name="Add a role").click()
    dialog = admin.get_by_role("dialog")
    dialog.get_by_label("Name").fill(code.title())
    dialog.get_by_label("Code").fill("two words")
    expect(dialog.get_by_label("Code")).to_have_accessible_description(re.compile("without spaces"))
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert")).not_to_be_empty()
    dialog.get_by_label("Code").fill(code)
    dialog.get_by_label("Data scope").select_option("Chosen departments")
    dialog.get_by_label("Headquarters").check()
    dialog.get_by_role("button", name="Save").click()
    expect(admin.get_by_text("Data scope: Chosen departments")).to_be_visible()
    assert "chosen" in running.cli("role", "show", code).stdout
    admin.get_by_role("button", name="Edit", exact=True).click()
    expect(dialog.get_by_label("Headquarters")).to_be_checked()
    dialog.get_by_label("Data scope").select_option("Own department")
    expect(dialog.get_by_label("Headquarters")).to_be_hidden()
    dialog.get_by_role("button", name="Save").click()
    expect(admin.get_by_text("Data scope: Own department")).to_be_visible()


def test_a_role_that_is_still_loading_shows_no_buttons_of_another(admin: Page, running: Running) -> None:
    code = f"SLOW_{secrets.token_hex(3).upper()}"
    assert running.cli("role", "add", code, "--name", code.title()).returncode == 0
    part(admin, "Roles")
    menus = admin.get_by_role("button", name="Menus")
    expect(menus).to_be_visible()
    with held_up(admin, "**/roles/*/perms"):
        admin.get_by_role("button", name=code.title()).click()
        expect(menus).to_have_count(0)
    expect(admin.get_by_role("heading", name=code.title())).to_be_visible()
    expect(menus).to_be_visible()


def test_the_menus_of_a_role_change_after_a_look_at_the_difference(admin: Page, running: Running) -> None:
    code = f"MENU_{secrets.token_hex(3).upper()}"
    assert running.cli("role", "add", code, "--name", code.title()).returncode == 0
    part(admin, "Roles")
    admin.get_by_role("button", name=code.title()).click()
    admin.get_by_role("button", name="Menus").click()
    dialog = admin.get_by_role("dialog")
    expect(dialog.locator(".diff")).to_have_text("Nothing yet")
    page = dialog.locator(".menu-tree > li > ul > li").filter(has_text="Departments")
    page.get_by_label("List").check()
    expect(dialog.locator(".diff li")).to_have_text(
        ["+ System", "+ System / Departments", "+ System / Departments / List"]
    )
    dialog.get_by_role("button", name="Save").click()
    expect(admin.locator(".toast.good").last).to_have_text("The role is saved.")
    assert "sys:dept:list" in running.cli("role", "show", code).stdout
    admin.get_by_role("button", name="Menus").click()
    dialog.get_by_label("System", exact=True).uncheck()
    expect(dialog.locator(".diff li.minus")).to_have_count(3)
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    assert "sys:dept:list" not in running.cli("role", "show", code).stdout


def test_a_department_is_moved_with_the_pointer_and_back(admin: Page, running: Running) -> None:
    one, other = f"One {secrets.token_hex(2)}", f"Other {secrets.token_hex(2)}"
    for name in (one, other):
        assert running.cli("dept", "add", name, "--parent", "1").returncode == 0
    part(admin, "Departments")
    row = admin.locator(f".tree li[aria-label='{one}']")
    target = admin.locator(f".tree li[aria-label='{other}'] > div")
    grip = row.locator(".grip")
    grip.scroll_into_view_if_needed()
    start, end = grip.bounding_box(), target.bounding_box()
    assert start
    assert end
    admin.mouse.move(start["x"] + 8, start["y"] + 12)
    admin.mouse.down()
    admin.mouse.move(end["x"] + 60, end["y"] + 20, steps=8)
    expect(admin.locator(".target")).to_have_attribute("aria-label", other)
    admin.mouse.up()
    expect(admin.locator(f".tree li[aria-label='{other}'] li[aria-label='{one}']")).to_be_visible()
    admin.get_by_role("button", name="Undo").click()
    expect(admin.locator(f".tree li[aria-label='{other}'] li")).to_have_count(0)


def test_an_import_is_looked_at_before_it_is_done(admin: Page, tmp_path: Path) -> None:
    name, file = f"row-{secrets.token_hex(3)}", tmp_path / "users.xlsx"
    header = ["Username", "Nickname", "Gender", "Mobile", "Email", "Department", "Roles"]
    file.write_bytes(write_sheet("users", [header, [name, "Rose Row", *[""] * 5], ["admin", *[""] * 6]]))
    part(admin, "Users")
    admin.get_by_role("button", name="Import").click()
    dialog = admin.get_by_role("dialog")
    dialog.get_by_label("File").set_input_files(file)
    expect(dialog.locator(".preview")).to_contain_text("1 user would be added, 1 row would not")
    expect(dialog.locator(".preview tbody tr")).to_have_count(1)
    expect(dialog.locator(".preview")).to_contain_text("row 3: there is a user admin already")
    dialog.get_by_role("button", name="Cancel").click()
    admin.get_by_role("searchbox").fill(name)
    expect(admin.get_by_text("No user found")).to_be_visible()
    admin.get_by_role("button", name="Import").click()
    dialog.get_by_label("File").set_input_files(file)
    expect(dialog.locator(".preview tbody tr")).to_have_count(1)
    dialog.get_by_role("button", name="Import").click()
    expect(dialog.last).to_contain_text("1 user is added, 1 row is not")
    dialog.last.get_by_role("button", name="Close").click()
    expect(admin.get_by_role("button", name="Rose Row")).to_be_visible()


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


def test_an_exported_name_is_no_formula(admin: Page, running: Running) -> None:
    key = secrets.token_hex(4)
    for sign in "＝＋－＠":
        added = running.cli("user", "add", "--password-stdin", "--", f"{sign}{key}", stdin=PASSWORD + "\n")
        assert added.returncode == 0, added.stderr
        with running.client() as client:
            client.post(LOGIN, json=credentials(client, username=f"{sign}{key}")).raise_for_status()
    part(admin, "Audit")
    admin.get_by_role("searchbox").fill(key)
    expect(admin.locator("tbody tr").filter(has_text="Login")).to_have_count(4)
    with admin.expect_download() as download:
        admin.get_by_role("button", name="Export CSV").click()
    written = Path(download.value.path()).read_text(encoding="utf-8-sig")
    assert [sign for sign in "＝＋－＠" if f'"\'{sign}{key}"' not in written] == []


def test_the_audit_is_filtered_by_kind_and_day_and_an_event_is_opened(admin: Page, running: Running) -> None:
    with running.client() as client:
        client.post(LOGIN, json=credentials(client, username="admin", password="wrong password"))
    part(admin, "Audit")
    for name in ("First day", "Last day"):
        expect(admin.get_by_text(name, exact=True)).to_be_visible()
        expect(admin.get_by_label(name)).to_be_visible()
    admin.get_by_label("Follow live").check()  # the event is written up to a second later
    admin.get_by_label("Event", exact=True).select_option("Failed login")
    rows = admin.locator("tbody tr")
    expect(rows.first).to_contain_text("login.failed")
    expect(rows.filter(has_not_text="login.failed")).to_have_count(0)
    admin.get_by_role("button", name="Failed login").first.click()
    facts = admin.get_by_role("dialog").locator(".details")
    for text in ("login.failed", "UTC", "127.0.0.1", "Request"):
        expect(facts).to_contain_text(text)
    admin.get_by_role("dialog").get_by_role("button", name="Close").click()
    admin.get_by_label("Last day").fill("2020-01-01")
    expect(admin.get_by_text("No event found")).to_be_visible()


def test_whoever_lacks_the_perms_sees_nothing_of_it(desk: Visit, person: str) -> None:
    page = desk.page()
    log_in(page, person)
    arrived(page)
    expect(page.get_by_role("link", name="Administration")).to_be_hidden()
    page.goto(f"{desk.url}/admin")
    expect(page.get_by_text("You have no access to the administration")).to_be_visible()
    expect(page.locator("#rail a")).to_have_count(0)


PARTS = ("Overview", "Users", "Roles", "Departments", "Company login", "Sessions", "Audit", "Settings")
PARTS_ZH = ("概览", "用户", "角色", "部门", "企业登录", "会话", "审计", "设置")


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_axe_finds_no_serious_fault(
    axe: str, visiting: Visiting, running: Running, size: str, theme: str, language: str
) -> None:
    add_person(running)
    page = visiting(running, color_scheme=theme, reduced_motion="reduce", **SIZES[size]).logged_in()
    page.goto(f"{running.url}/admin")
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    if language == "zh":
        page.get_by_role("button", name="中文").click()
    for name in PARTS if language == "en" else PARTS_ZH:
        part(page, name)
        expect(page.locator("[aria-busy=true], .waiting")).to_have_count(0)
        assert faults(page, axe) == [], name
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= SIZES[size]["viewport"]["width"], f"{name} is too wide"
