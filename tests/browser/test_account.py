"""The account page: profile, sessions, password, logout."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.authenticators import prove, set_up_app
from tests.browser.chromium import SIZES
from tests.browser.conftest import Visiting, add_person
from tests.browser.visits import Visit, arrived, come_back, log_in, step_away, tokens
from tests.support.conversation import LOGIN, ME, bearer, credentials
from tests.support.running import Running

pytestmark = pytest.mark.full

NEW_PASSWORD = "a wholly different phrase"


def test_the_profile_is_there(visit: Visit) -> None:
    page = visit.logged_in()
    expect(page.locator("#name")).to_have_text("admin")
    expect(page.locator("#roles li")).to_have_text(["ADMIN"])
    expect(page.locator("#department")).to_have_text("Headquarters")
    expect(page.locator("#perms").get_by_text("reset-password")).to_be_visible()


def test_a_perm_with_several_names_is_counted_once(desk: Visit) -> None:
    page = desk.logged_in()
    shown = page.locator("#perms li").all_inner_texts()
    expect(page.locator("#perms-count")).to_have_text(str(len(shown)))
    users = page.locator("#perms > div").filter(has=page.get_by_text("sys:user", exact=True)).locator("li")
    assert sorted(users.all_inner_texts()) == [
        "create", "delete", "export", "import", "list", "reset-password", "update",
    ]  # fmt: skip


def test_what_a_stolen_password_is_good_for_is_said_as_it_is(desk: Visit, running: Running) -> None:
    page = desk.logged_in(add_person(running))
    about = page.locator("#factor-about")
    expect(about).to_contain_text("Off. Once an app is set up")
    page.get_by_role("button", name="Set up an app").click()
    prove(page)
    set_up_app(page)
    expect(about).to_have_text("A stolen password alone lets nobody in.")


def test_passkeys_on_a_number_are_offered_by_name(desk: Visit, running: Running) -> None:
    page = desk.logged_in(add_person(running))
    link = page.locator("#factor").get_by_role("link", name=f"localhost:{running.port}")
    expect(link).to_have_attribute("href", f"http://localhost:{running.port}/account")


def test_without_tokens_the_account_page_leads_to_login(desk: Visit) -> None:
    page = desk.page("/account")
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()


def test_end_all_other_sessions(visit: Visit, running: Running, person: str) -> None:
    with running.client() as client:
        others = [client.post(LOGIN, json=credentials(client, username=person)).json()["data"] for _ in range(3)]
        page = visit.logged_in(person)
        page.get_by_role("button", name="End all others").click()
        page.get_by_role("dialog").get_by_role("button", name="End all others").click()
        expect(page.locator("#sessions .row")).to_have_count(1)
        expect(page.locator(".toast")).to_have_text("3 sessions have ended.")
        assert {client.get(ME, headers=bearer(other)).status_code for other in others} == {401}
        assert client.get(ME, headers=bearer(tokens(page)["access"])).status_code == 200


def test_change_password(visit: Visit, running: Running) -> None:
    person = add_person(running)
    page = visit.logged_in(person)
    current, new = page.get_by_label("Current password"), page.get_by_label("New password")
    change = page.get_by_role("button", name="Change password")

    current.fill("not the right one")
    new.fill(NEW_PASSWORD)
    change.click()
    expect(page.locator("#current-message")).to_have_text("That is not your current password")
    expect(current).to_be_focused()

    current.fill("correct horse battery staple")
    new.fill("password1")
    change.click()
    expect(page.locator("#fresh-message")).to_have_text("This password is too common. Choose another.")

    new.fill(NEW_PASSWORD)
    change.click()
    expect(page.locator(".toast.good")).to_have_text("Your password is changed. Your other sessions have ended.")
    expect(current).to_have_value("")
    page.reload()
    arrived(page)
    page.get_by_role("button", name="Log out").click()
    log_in(page, person)
    expect(page.locator("#password-message")).to_have_text("Wrong username or password")
    log_in(page, person, NEW_PASSWORD)
    arrived(page)


def test_edit_the_own_profile(visit: Visit, running: Running) -> None:
    page = visit.logged_in(add_person(running))
    page.get_by_role("button", name="Edit name and picture").click()
    page.get_by_label("Nickname").fill("")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#edit-nickname-message")).to_have_text("Enter a nickname")
    page.get_by_label("Nickname").fill("Ann Lee")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#nickname")).to_have_text("Ann Lee")
    expect(page.locator(".toast.good")).to_have_text("Your profile is saved.")
    expect(page.get_by_role("link", name="Administration")).to_be_hidden()


def test_the_list_of_sessions_renews_itself(desk: Visit, running: Running, person: str) -> None:
    page = desk.context.new_page()
    page.clock.install()
    page.goto(desk.url)
    log_in(page, person)
    arrived(page)
    with running.client() as client:
        client.post(LOGIN, json=credentials(client, username=person))
    page.clock.fast_forward(31_000)
    expect(page.locator("#sessions .row")).to_have_count(2)
    expect(page.locator("#sessions .row").nth(1)).to_contain_text("active a moment ago")


def test_a_login_from_a_new_place_is_told_until_it_is_known(visiting: Visiting, running: Running) -> None:
    person = add_person(running)
    windows = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0"
    visit = visiting(running)
    page = visit.logged_in(person)
    expect(page.locator("#logins li")).to_have_count(1)
    expect(page.locator("#news")).to_be_empty()
    elsewhere = visiting(running, user_agent=windows).logged_in(person)
    expect(elsewhere.locator("#logins li")).to_have_count(2)
    expect(elsewhere.locator("#news")).to_be_empty()  # nobody is told of the own login
    step_away(elsewhere)
    page.reload()
    news = page.locator("#news .notice")
    expect(news).to_contain_text("New: Firefox on Windows, 127.0.0.1, just now. Not you?")
    expect(page.locator("#logins li").first).to_contain_text("New place")
    news.get_by_role("button", name="End it").click()
    page.get_by_role("dialog").get_by_role("button", name="End it").click()
    expect(page.locator("#sessions .row")).to_have_count(1)
    expect(page.get_by_label("Current password")).to_be_focused()
    come_back(elsewhere, running.url)
    expect(elsewhere.locator("#notice")).to_contain_text("Your session has ended")
    expect(news.get_by_role("button", name="Change password")).to_be_visible()
    news.get_by_role("button", name="That was me").click()
    expect(page.locator("#news")).to_be_empty()
    page.reload()
    arrived(page)
    expect(page.locator("#logins li")).to_have_count(2)
    expect(page.locator("#news")).to_be_empty()


def test_a_message_goes_away_by_itself(desk: Visit, running: Running) -> None:
    page = desk.context.new_page()
    page.clock.install()
    page.goto(desk.url)
    log_in(page, add_person(running))
    arrived(page)
    page.get_by_role("button", name="Edit name and picture").click()
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".toast.good")).to_be_visible()
    page.clock.fast_forward(10_000)
    expect(page.locator(".toast")).to_have_count(0)


def test_what_can_be_touched_is_large_enough(visiting: Visiting, running: Running) -> None:
    page, width = visiting(running, **SIZES["phone"]).logged_in(), SIZES["phone"]["viewport"]["width"]
    for path in ("/account", "/docs", "/admin", "/admin#users", "/admin#roles", "/admin#settings", "/set-password"):
        page.goto("about:blank")
        page.goto(running.url + path)
        expect(page.get_by_role("button").last).to_be_visible()
        expect(page.locator("[aria-busy=true], .waiting")).to_have_count(0)
        small = page.evaluate(
            """() => [...document.querySelectorAll("button, a.quiet, .ways a, summary, .foot a")]
              .filter((one) => one.checkVisibility() && one.getBoundingClientRect().height < 43.5)
              .map((one) => one.outerHTML.slice(0, 90))"""
        )
        assert small == [], path
        assert page.evaluate("document.documentElement.scrollWidth") <= width, f"{path} is wider than the screen"
        title = page.locator("h1:visible, h2:visible").first.bounding_box()
        assert title
        assert title["y"] < 360, f"the title of {path} is out of sight"


def test_the_language_switch_reaches_dates_and_buttons(desk: Visit, running: Running, person: str) -> None:
    with running.client() as client:
        client.post(LOGIN, json=credentials(client, username=person))
    page = desk.logged_in(person)
    page.get_by_role("button", name="中文").click()
    expect(page.get_by_role("button", name="退出登录")).to_be_visible()
    expect(page.get_by_role("button", name="结束会话")).to_have_text("结束")
    expect(page.locator(".row.current .when")).to_contain_text("当前活跃")


@pytest.fixture(scope="module")
def adapted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """As an operator has set it up: under a path, and with words of its own."""
    settings = {"console_url": "https://console.example.com/app", "forgot_password": "Ask Ann <ann@example.com>"}
    with Running(tmp_path_factory.mktemp("adapted") / "data", base_path="/sso/gate", **settings) as running:
        yield running


def test_the_operator_says_where_to_go_on_and_where_to_turn(adapted: Running, visiting: Visiting) -> None:
    visit = visiting(adapted)
    expect(visit.page().locator(".foot")).to_contain_text("Ask Ann <ann@example.com>")
    page = visit.logged_in()
    console = page.get_by_role("link", name="Console")
    assert console.get_attribute("href") == "https://console.example.com/app"
    expect(page.get_by_role("link", name="Administration")).to_have_attribute("href", "admin")


def test_pages_work_under_a_base_path(adapted: Running, visiting: Visiting) -> None:
    page = visiting(adapted).page("")
    assert page.url == f"{adapted.url}/"
    log_in(page)
    arrived(page)
    assert page.url == f"{adapted.url}/account"
    page.get_by_role("button", name="Log out").click()
    expect(page.locator("#notice")).to_be_visible()
    assert page.url == f"{adapted.url}/"
