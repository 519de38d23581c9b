"""Logging in with a company account in the browser: our own pages, and the way into a console that stays as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from playwright.sync_api import Page, expect

from gatehouse.auth.login.company_login import Problem
from gatehouse.messages import section
from tests.browser.authenticators import code_of, prove, set_up_app
from tests.browser.chromium import SIZES
from tests.browser.company import QuickProvider, add_provider, remove_provider
from tests.browser.conftest import Serving, Visiting, add_person
from tests.browser.stand_in_console import PREFIX, StandInConsole
from tests.browser.test_accessibility import LOCALES, faults
from tests.browser.visits import Visit, arrived
from tests.support.running import Running

pytestmark = pytest.mark.full

BUTTON = "Log in with Corp"
STORED = "() => ({ local: { ...localStorage }, session: { ...sessionStorage } })"


@pytest.fixture(scope="module")
def provider() -> Iterator[QuickProvider]:
    with QuickProvider() as provider:
        yield provider


@pytest.fixture(autouse=True)
def _as_usual(provider: QuickProvider) -> None:
    provider.name, provider.error = "caroline", ""


@pytest.fixture(scope="module")
def console() -> Iterator[StandInConsole]:
    with StandInConsole() as console:
        yield console


@pytest.fixture(scope="module")
def running(
    provider: QuickProvider, console: StandInConsole, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Running]:
    with Running(tmp_path_factory.mktemp("company") / "data", console_url=console.url) as running:
        console.target = running.url
        add_provider(running, provider, icon="building")
        yield running


@pytest.fixture
def visit(visiting: Visiting, running: Running, provider: QuickProvider, size: dict[str, Any]) -> Visit:
    visit = visiting(running, **size)
    visit.context.route(re.compile(re.escape(provider.url)), lambda route: route.continue_())
    return visit


def with_corp(page: Page) -> Page:
    page.get_by_role("link", name=BUTTON).click()
    return page


def test_one_button_and_the_account_page(visit: Visit) -> None:
    page = with_corp(visit.page())
    arrived(page)
    expect(page.locator("#name")).to_have_text("caroline")
    expect(page.locator("#roles")).to_contain_text("ADMIN")
    expect(page.locator(".row.current")).to_contain_text("with Corp")
    expect(page.locator("#logins li").first).to_contain_text("with Corp")
    assert "ticket" not in page.url
    # She has no password here, so none can be changed.
    expect(page.locator("#change")).to_be_hidden()
    expect(page.locator("#change-about")).to_contain_text("no password here")


def test_the_buttons_are_there_from_the_first_byte_in_order_and_nothing_moves(
    visit: Visit, running: Running, provider: QuickProvider
) -> None:
    add_provider(
        running, provider, "another", title='A "very" <b>long</b> name of a company & its subsidiaries', sort=9
    )
    try:
        page = visit.context.new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(visit.url)
        page.locator("#captcha-image[src]").wait_for()
        buttons = page.locator("#company a span[data-t]")
        expect(buttons).to_have_text([BUTTON, re.compile('^Log in with A "very" <b>long</b> name')])
        assert not [url for url in asked if "providers" in url]
        moved = page.evaluate(
            "new Promise(done => new PerformanceObserver(list => done(list.getEntries().map(each => each.value)))"
            ".observe({ type: 'layout-shift', buffered: true }) ?? setTimeout(() => done([]), 300))"
        )
        assert moved == []
        page.locator("#language").click()
        expect(buttons.first).to_have_text("使用 Corp 登录")
    finally:
        remove_provider(running, "another")


def test_who_wants_to_stay_logged_in_is_remembered(visit: Visit) -> None:
    page = visit.page()
    page.get_by_label("Keep me logged in").check()
    arrived(with_corp(page))
    arrived(visit.page("/"))  # another tab


def test_without_providers_there_is_nothing_to_see(serving: Serving, visiting: Visiting) -> None:
    page = visiting(serving()).page()
    page.locator("#captcha-image[src]").wait_for()
    expect(page.locator("#company")).to_be_hidden()
    assert page.locator("#company a").count() == 0


@pytest.mark.parametrize("problem", Problem)
def test_each_problem_is_told_beside_the_buttons(visiting: Visiting, running: Running, problem: Problem) -> None:
    for language in ("en", "zh"):
        page = visiting(running, locale=LOCALES[language], **SIZES["phone"]).page(f"/?problem={problem}&provider=corp")
        told = page.locator("#problem[role=alert]")
        expect(told).to_have_text(section("pages", language)[f"login.problem.{problem}"].replace("{title}", "Corp"))
        expect(told).to_be_in_viewport()
        assert "problem" not in page.url
        page.close()


def test_whoever_changes_her_mind_at_the_provider_comes_back_and_may_try_again(
    visit: Visit, provider: QuickProvider
) -> None:
    provider.error = "access_denied"
    page = with_corp(visit.page())
    expect(page.locator("#problem")).to_have_text("The login was cancelled. Nothing has changed.")
    provider.error = ""
    arrived(with_corp(page))


def test_a_ticket_that_is_not_good_is_told_and_the_form_works(desk: Visit) -> None:
    page = desk.page("/?ticket=made-up")
    expect(page.locator("#problem")).to_contain_text("took too long")
    assert "ticket" not in page.url
    page.locator("#captcha-image[src]").wait_for()


def test_our_own_second_factor_is_set_up_and_then_asked_for(
    serving: Serving, visiting: Visiting, provider: QuickProvider, size: dict[str, Any], axe: str
) -> None:
    running = serving(second_factor_roles="ADMIN")
    add_provider(running, provider)
    page = with_corp(visiting(running, **size).page())
    expect(page.get_by_role("dialog")).to_contain_text("Your account must have a second factor.")
    secret, recovery = set_up_app(page)
    code = page.get_by_label("Code from your authenticator app")
    expect(code).to_be_focused()
    expect(page.locator("#password")).to_be_hidden()
    code.fill(code_of(secret, 1))
    page.get_by_role("button", name="Log in", exact=True).click()
    arrived(page)

    page = with_corp(visiting(running, **size).page())
    expect(code_field := page.get_by_label("Code from your authenticator app")).to_be_focused()
    assert faults(page, axe) == []
    code_field.fill("123456")
    page.get_by_role("button", name="Log in", exact=True).click()
    expect(page.locator("#code-message")).to_have_text("That code is wrong, or it was used already")
    code_field.fill(recovery[0])
    code_field.press("Enter")
    arrived(page)


def test_a_code_that_never_comes_leads_back_to_the_beginning(desk: Visit) -> None:
    page = desk.page("/?pending=made-up")
    expect(page.locator("#problem")).to_contain_text("took too long")
    page.locator("#captcha-image[src]").wait_for()


def test_logout_goes_on_to_the_provider(visit: Visit, provider: QuickProvider, console: StandInConsole) -> None:
    page = with_corp(visit.page())
    arrived(page)
    visit.context.unroute_all()  # the way leads to the provider and to the console
    before = provider.times("/logout")
    page.get_by_role("button", name="Log out").click()
    page.wait_for_url(f"{console.url}/")
    assert provider.times("/logout") == before + 1
    expect(visit.page().locator("#form")).to_be_visible()  # nobody is logged in here


def test_an_account_is_linked_and_unlinked(visit: Visit, running: Running, provider: QuickProvider) -> None:
    person, provider.name = add_person(running), "somebody-at-corp"
    page = visit.logged_in(person)
    page.get_by_role("button", name="Link: Corp").click()
    prove(page)
    expect(page.locator(".toast")).to_contain_text("Corp is linked")
    expect(page.locator("#identities-list")).to_contain_text("somebody-at-corp")
    assert "linked" not in page.url
    page.get_by_role("button", name="Log out").click()
    page = with_corp(visit.page())
    arrived(page)
    expect(page.locator("#name")).to_have_text(person)
    page.get_by_role("button", name="Unlink: Corp").click()
    page.get_by_role("dialog").get_by_role("button", name="Unlink").click()
    prove(page)
    expect(page.get_by_role("button", name="Link: Corp")).to_be_visible()


def test_an_account_of_somebody_else_is_not_linked(visit: Visit, visiting: Visiting, running: Running) -> None:
    arrived(with_corp(visiting(running).page()))  # it belongs to Caroline
    page = visit.logged_in(add_person(running))
    page.get_by_role("button", name="Link: Corp").click()
    prove(page)
    expect(page.locator("#identities-problem")).to_contain_text("belongs to another user here")
    expect(page.locator("#identities-problem")).to_be_in_viewport()


# Into a console

# What each version reads: where, and in which form.
VERSIONS = [
    pytest.param("", "letters", id="current"),
    pytest.param("4.3.0", "letters", id="4.3.0"),
    pytest.param("3.4.0", "numbers", id="3.4.0"),
    pytest.param("2.30.2", "numbers", id="2.30.2"),
    pytest.param("2.25.2", "numbers", id="2.25.2"),
    pytest.param("2.20.0", "words", id="2.20.0"),
    pytest.param("2.18.6", "words", id="2.18.6"),
    pytest.param("2.11.5", "words", id="2.11.5"),
]
TYPES = {"letters": "C", "numbers": 2, "words": "CATALOG"}  # of a menu that contains others


def access_token(version: str, stored: dict[str, dict[str, str]]) -> str:
    """As a console of that version reads it."""
    local, session = stored["local"], stored["session"]
    parts = tuple(map(int, version.split("."))) if version else (9,)
    if parts >= (3, 3, 1):
        assert local["vea:auth:remember_me"] == "false"
        assert json.loads(session["vea:auth:refresh_token"])
        return str(json.loads(session["vea:auth:access_token"]))
    if parts >= (2, 29):
        assert local["remember_me"] == "false"
        assert json.loads(session["refresh_token"])
        return str(json.loads(session["access_token"]))
    name = "admin-token" if (2, 16, 6) <= parts <= (2, 18, 6) else "accessToken" if parts < (2, 15) else "access_token"
    assert ("refresh_token" in local) == (parts > (2, 18, 6))
    kept = local[name]
    assert kept.startswith("Bearer ") == (parts < (2, 22, 1))
    return kept.removeprefix("Bearer ")


@pytest.fixture
def at_console(visiting: Visiting, running: Running, console: StandInConsole) -> Visit:
    visit = visiting(running, **SIZES["desktop"])
    visit.url = console.url
    visit.context.route(re.compile(re.escape(console.url)), lambda route: route.continue_())
    return visit


@pytest.mark.parametrize(("version", "menus"), VERSIONS)
def test_a_console_finds_the_tokens_where_it_keeps_them(
    at_console: Visit, running: Running, version: str, menus: str
) -> None:
    page = at_console.page("/")
    # What is left from before must not win over what comes now.
    page.evaluate("localStorage.setItem('vea:auth:remember_me', 'true'); localStorage.setItem('userInfo', '{}')")
    page.goto(f"{at_console.url}{PREFIX}/enter{f'?console={version}' if version else ''}")
    expect(page.get_by_role("heading", name="A console")).to_be_visible()
    assert page.url == f"{at_console.url}/"
    stored = page.evaluate(STORED)
    bearer = {"Authorization": f"Bearer {access_token(version, stored)}"}
    with running.client(headers=bearer) as client:
        me = client.get("/api/v1/users/me").json()["data"]
        assert (me["username"], me["roles"]) == ("caroline", ["ADMIN"])
        if "2.17.1" <= version <= "3.2.1":  # they read it from here, and ask users/me at a login by form alone
            assert json.loads(stored["local"]["userInfo"])["roles"] == ["ADMIN"]
        types = {menu["type"] for menu in client.get("/api/v1/menus").json()["data"]}
        assert types == {TYPES[menus]}, "written as that version reads it"


def test_the_way_into_a_console_asks_which_of_several_at_our_page(
    at_console: Visit, running: Running, provider: QuickProvider, axe: str
) -> None:
    add_provider(running, provider, "another", sort=9)
    provider.name = "brigitte"  # Caroline is a user of the other
    try:
        page = at_console.page(f"{PREFIX}/enter?provider=another")
        expect(page.get_by_role("heading", name="A console")).to_be_visible()
        page.goto(f"{at_console.url}{PREFIX}/enter")
        expect(page.locator("#company a span[data-t]")).to_have_text([BUTTON, "Log in with Another"])
        assert faults(page, axe) == []
        provider.name = "caroline"
        with_corp(page)
        expect(page.get_by_role("heading", name="A console")).to_be_visible()
    finally:
        remove_provider(running, "another")


def test_a_ticket_opens_a_console_once(at_console: Visit, axe: str) -> None:
    page = at_console.page(f"{PREFIX}/enter?ticket=made-up")
    expect(page.locator("#problem")).to_contain_text("took too long")
    assert "ticket" not in page.url
    assert faults(page, axe) == []
    assert page.evaluate(STORED) == {"local": {}, "session": {}}
    page.get_by_role("link", name="Try again").click()
    expect(page.get_by_role("heading", name="A console")).to_be_visible()


def test_what_is_not_a_console_is_told(desk: Visit, at_console: Visit) -> None:
    expect(desk.page("/enter").locator("#problem")).to_contain_text("only under the address of the console")
    expect(at_console.page(f"{PREFIX}/enter?console=1.2").locator("#problem")).to_contain_text("that version")


def test_nothing_else_is_returned_to(running: Running) -> None:
    answer = httpx.get(f"{running.url}/login/corp?to={quote('https://elsewhere.example/enter')}")
    assert answer.status_code != 302 or "elsewhere" not in answer.headers["location"]


@pytest.mark.parametrize("language", LOCALES)
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES, indirect=True)
def test_axe_finds_nothing(
    visiting: Visiting, running: Running, axe: str, size: dict[str, Any], theme: str, language: str
) -> None:
    visit = visiting(running, color_scheme=theme, reduced_motion="reduce", locale=LOCALES[language], **size)
    page = visit.page("/?problem=name_taken&provider=corp")
    expect(page.locator("#problem")).to_be_visible()
    assert faults(page, axe) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= size["viewport"]["width"]
    page.locator("#company a").click()
    arrived(page)
    expect(page.locator("#identities")).to_be_visible()
    assert faults(page, axe) == []
    page = visit.page("/enter")
    expect(page.locator("#problem")).to_be_visible()
    assert faults(page, axe) == []
