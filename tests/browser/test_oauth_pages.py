"""The plain pages of a login for applications, as people meet them: with scripts and without, on any screen."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from gatehouse.messages import section
from tests.browser.authenticators import code_of, set_up_app
from tests.browser.chromium import SIZES
from tests.browser.company import QuickProvider, add_provider
from tests.browser.conftest import Serving, Visiting, add_person
from tests.browser.painted import unreadable
from tests.browser.relying_party import RelyingParty
from tests.browser.stand_in_console import PREFIX, StandInConsole
from tests.browser.test_accessibility import LOCALES, faults
from tests.browser.test_passkeys import IGNORE_OFFER, registered
from tests.browser.visits import Visit, allow, wait_until_allow_can_be_clicked
from tests.support.conversation import bearer, login
from tests.support.factors import App, enrol
from tests.support.running import ANSWER, PASSWORD, Running, free_port

pytestmark = pytest.mark.full

NARROW = {"viewport": {"width": 320, "height": 568}, "is_mobile": True, "has_touch": True}
WITHOUT = {"java_script_enabled": False}
BOTH = pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "plain"])


@pytest.fixture(scope="module")
def party() -> Iterator[RelyingParty]:
    with RelyingParty() as party:
        yield party


@pytest.fixture(autouse=True)
def _as_usual(party: RelyingParty) -> None:
    party.elsewhere = ""


@pytest.fixture(scope="module")
def provider() -> Iterator[QuickProvider]:
    with QuickProvider() as provider:
        yield provider


@pytest.fixture(scope="module")
def console() -> Iterator[StandInConsole]:
    with StandInConsole() as console:
        yield console


@pytest.fixture(scope="module")
def running(
    party: RelyingParty, provider: QuickProvider, console: StandInConsole, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Running]:
    with Running(tmp_path_factory.mktemp("oauth") / "data", console_url=console.url) as running:
        console.target = running.url
        party.register(running)
        party.register(running, "foreign", "An application of others with a name of some length", first_party=False)
        add_provider(running, provider, icon="building")
        yield running


Opening = Any


@pytest.fixture
def opening(
    visiting: Visiting, running: Running, party: RelyingParty, provider: QuickProvider, console: StandInConsole
) -> Opening:
    """Visits that may leave for the application, the provider and the console."""

    def visit(*, scripts: bool = True, **options: Any) -> Visit:
        opened = visiting(running, **({} if scripts else WITHOUT), **{**SIZES["desktop"], **options})
        for url in (party.url, provider.url, console.url):
            opened.context.route(re.compile(re.escape(url)), lambda route: route.continue_())
        return opened

    return visit


@pytest.fixture(scope="module")
def enrolled(running: Running) -> tuple[str, App, list[str]]:
    """Somebody with an authenticator app."""
    name = add_person(running)
    with running.client() as client:
        headers = bearer(login(client, username=name))
        app, codes = enrol(
            lambda method, path, body: client.request(method, path, json=body, headers=headers).json()["data"],
            time.time,
        )
    return name, app, codes


def sign_in(page: Page, name: str = "admin", password: str = PASSWORD, captcha: str = ANSWER) -> None:
    page.locator("#username").fill(name)
    page.locator("#password").fill(password)
    page.locator("#captchaCode").fill(captcha)
    page.locator("#sign-in").click()


def welcome(page: Page, method: str = "GET") -> str:
    """With what the browser has come to the application."""
    expect(page.get_by_role("heading", name="Welcome")).to_be_visible()
    got = page.locator("#got").inner_text()
    assert got.startswith(f"{method} ")
    return got


@BOTH
def test_into_an_application_and_out_again(opening: Opening, party: RelyingParty, scripts: bool) -> None:
    visit = opening(scripts=scripts)
    page = visit.page(party.asks())
    expect(page.locator("main")).to_contain_text("to continue to Grafana")
    sign_in(page, password="wrong")
    expect(page.locator("#password-message")).to_have_text("Wrong username or password")
    expect(page.locator("#username")).to_have_value("admin")
    sign_in(page)
    assert re.search("code=[^&]+&state=a-state&iss=", welcome(page))
    assert "code=" in welcome(visit.page(party.asks(prompt="none")))
    page.goto(f"{visit.url}/oauth2/logout")
    page.locator("#log-out").click()
    expect(page.locator("#logged-out")).to_be_visible()
    assert "error=login_required" in welcome(visit.page(party.asks(prompt="none")))


def test_enter_sends_the_form_and_not_for_another_picture(opening: Opening, party: RelyingParty) -> None:
    for scripts in (True, False):
        page = opening(scripts=scripts).page(party.asks())
        page.locator("#username").fill("admin")
        page.locator("#captchaCode").fill(ANSWER)
        page.locator("#password").fill(PASSWORD)
        page.locator("#password").press("Enter")
        welcome(page)


@BOTH
def test_another_picture(opening: Opening, party: RelyingParty, scripts: bool) -> None:
    page = opening(scripts=scripts).page(party.asks())
    page.locator("#username").fill("admin")
    page.locator("#password").fill(PASSWORD)
    before = page.locator("#captcha-image").get_attribute("src")
    page.get_by_role("button", name="Show another picture").click()
    expect(page.locator("#captcha-image")).not_to_have_attribute("src", str(before))
    expect(page.locator("#username")).to_have_value("admin")
    if scripts:
        expect(page.locator("#password")).to_have_value(PASSWORD)
        assert page.url.startswith(f"{page.url.partition('/oauth2')[0]}/oauth2/authorize"), "no new page"
    sign_in(page)
    welcome(page)


@BOTH
def test_a_second_factor(
    opening: Opening, party: RelyingParty, enrolled: tuple[str, App, list[str]], scripts: bool
) -> None:
    name, _, codes = enrolled
    page = opening(scripts=scripts).page(party.asks())
    sign_in(page, name)
    expect(page.locator("#otpCode")).to_be_focused()
    page.locator("#otpCode").fill("123456")
    page.locator("#confirm").click()
    expect(page.locator("#otpCode-message")).to_have_text("That code is wrong, or it was used already")
    page.locator("#otpCode").fill(codes.pop())
    page.locator("#otpCode").press("Enter")
    welcome(page)


@BOTH
def test_consent(opening: Opening, party: RelyingParty, scripts: bool) -> None:
    visit = opening(scripts=scripts)
    page = visit.page(party.asks(client_id="foreign", scope="openid email", prompt="consent"))
    sign_in(page)
    expect(page.locator(".scopes li")).to_have_text(
        ["who you are: a number that stands for you", "your e-mail address"]
    )
    page.locator("#deny").click()
    assert "error=access_denied" in welcome(page)
    page = visit.page(party.asks(client_id="foreign", scope="openid email", prompt="consent"))
    page.locator("#switch").click()
    expect(page.locator("#captchaCode")).to_be_visible()
    sign_in(page)
    allow(page)
    assert "code=" in welcome(page)


def test_no_consent_by_half_a_double_click(opening: Opening, party: RelyingParty) -> None:
    """The first click closes a window of the attacker's, the second meets this page."""
    page = opening().page(party.asks(client_id="foreign", scope="openid phone", prompt="consent"))
    sign_in(page)
    wait_until_allow_can_be_clicked(page)
    page.evaluate("() => { dispatchEvent(new Event('focus')); document.getElementById('allow').click(); }")
    expect(page.locator("#allow")).to_be_disabled()
    expect(page.locator("#deny")).to_be_enabled()
    page.locator("#allow").click()  # waits until it can be clicked
    assert "code=" in welcome(page)


@BOTH
def test_the_answer_as_a_form(opening: Opening, party: RelyingParty, scripts: bool) -> None:
    page = opening(scripts=scripts).page(party.asks(response_mode="form_post"))
    sign_in(page)
    if not scripts:
        page.get_by_role("button", name="Continue").click()
    assert "code=" in welcome(page, "POST")


@BOTH
def test_an_application_may_send_people_on_to_another_host_of_its_own(
    opening: Opening, party: RelyingParty, console: StandInConsole, scripts: bool
) -> None:
    """Chromium applies the page's policy for forms to all redirects that follow."""
    party.elsewhere = console.url
    page = opening(scripts=scripts).page(party.asks())
    sign_in(page)
    page.wait_for_url(f"{console.url}/home")


@BOTH
def test_a_company_account(opening: Opening, party: RelyingParty, provider: QuickProvider, scripts: bool) -> None:
    provider.name, provider.error = "caroline", "access_denied"
    page = opening(scripts=scripts).page(party.asks())
    page.get_by_role("link", name="Log in with Corp").click()
    expect(page.locator("#problem")).to_have_text("The login was cancelled. Nothing has changed.")
    provider.error = ""
    page.get_by_role("link", name="Log in with Corp").click()
    assert "code=" in welcome(page)


@pytest.mark.parametrize("offer", ["button", "quiet"])
def test_a_passkey(visiting: Visiting, party: RelyingParty, tmp_path: Path, offer: str) -> None:
    port = free_port()
    running = Running(tmp_path / "named", port=port, issuer=f"http://localhost:{port}")  # browsers want a name
    running.url = f"http://localhost:{port}"
    with running:
        party.register(running)
        visit = visiting(running, **SIZES["desktop"])
        visit.context.route(re.compile(re.escape(party.url)), lambda route: route.continue_())
        if offer == "button":
            visit.context.add_init_script(IGNORE_OFFER)
        page = registered(visit, running)
        page.get_by_role("button", name="Log out").click()
        expect(page.locator("#username")).to_be_visible()
        page.goto("about:blank")
        page.goto(running.url + party.asks())
        if offer == "button":
            page.get_by_role("button", name="Log in with a passkey").click()
        assert "code=" in welcome(page)
        page.close()


def test_who_must_enrol_does_so_on_the_login_page_and_comes_back(
    serving: Serving, visiting: Visiting, party: RelyingParty
) -> None:
    running = serving(second_factor="required")
    party.register(running)
    visit = visiting(running, **SIZES["desktop"])
    visit.context.route(re.compile(re.escape(party.url)), lambda route: route.continue_())
    page = visit.page(party.asks())
    sign_in(page)
    page.locator("#elsewhere").click()
    page.locator("#captcha-image[src]").wait_for()
    page.get_by_label("Username").fill("admin")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Characters in the picture").fill(ANSWER)
    page.get_by_role("button", name="Log in", exact=True).click()
    secret, _ = set_up_app(page)
    page.get_by_label("Code from your authenticator app").fill(code_of(secret, 1))
    page.get_by_role("button", name="Log in", exact=True).click()
    assert "code=" in welcome(page)


# One login for all of it


def test_a_login_at_our_page_opens_applications_and_shows_them(
    opening: Opening, party: RelyingParty, running: Running
) -> None:
    visit = opening()
    secret = party.register(running, "wiki", "Wiki")
    page = visit.logged_in(add_person(running))
    expect(page.locator("#applications")).to_be_hidden()
    party.exchange(running, welcome(visit.page(party.asks(client_id="wiki"))), "wiki", secret)
    page.reload()
    expect(page.locator("#applications-list li")).to_have_count(1)
    expect(page.locator("#applications-list")).to_contain_text("Wiki")
    page.get_by_role("button", name="Log out: Wiki").click()
    page.get_by_role("dialog").get_by_role("button", name="Log out").click()
    expect(page.locator(".toast")).to_contain_text("Wiki is logged out.")
    expect(page.locator("#applications")).to_be_hidden()
    page.get_by_role("button", name="Log out").click()
    expect(page.locator("#form")).to_be_visible()
    assert "error=login_required" in welcome(visit.page(party.asks(prompt="none")))


def test_a_console_is_opened_without_a_form(opening: Opening, party: RelyingParty, console: StandInConsole) -> None:
    visit = opening()
    sign_in(page := visit.page(party.asks()))
    welcome(page)
    page.goto(f"{console.url}{PREFIX}/enter")
    expect(page.get_by_role("heading", name="A console")).to_be_visible()
    assert page.url == f"{console.url}/"


def test_who_is_not_logged_in_signs_in_for_a_console(
    serving: Serving, visiting: Visiting, console: StandInConsole, running: Running
) -> None:
    alone = serving(console_url=console.url)
    console.target = alone.url
    try:
        visit = visiting(alone, **SIZES["desktop"])
        visit.context.route(re.compile(re.escape(console.url)), lambda route: route.continue_())
        page = visit.context.new_page()
        page.goto(f"{console.url}{PREFIX}/enter")
        expect(page.locator("main")).to_contain_text("to open the console")
        sign_in(page)
        expect(page.get_by_role("heading", name="A console")).to_be_visible()
        # From here on without a form; and a logout there is one here.
        again = visit.context.new_page()
        again.goto(f"{console.url}{PREFIX}/enter")
        expect(again.get_by_role("heading", name="A console")).to_be_visible()
    finally:
        console.target = running.url


# How they look


def steps(visit: Visit, party: RelyingParty, name: str) -> Iterator[tuple[str, Page]]:
    page = visit.page(party.asks())
    yield "sign-in", page
    sign_in(page, password="wrong")
    expect(page.locator("#password-message")).not_to_be_empty()
    yield "refused", page
    sign_in(page, name)
    expect(page.locator("#otpCode")).to_be_visible()
    yield "factor", page
    page.locator("#otpCode").fill("123456")
    page.locator("#confirm").click()
    expect(page.locator("#otpCode-message")).not_to_be_empty()
    yield "wrong code", page
    page.goto(visit.url + party.asks(client_id="foreign", scope="openid profile email roles offline_access"))
    sign_in(page)
    expect(page.locator("#allow")).to_be_visible()
    yield "consent", page
    page.goto(f"{visit.url}/oauth2/logout")
    yield "logout", page
    page.locator("#log-out").click()
    expect(page.locator("#logged-out")).to_be_visible()
    yield "logged out", page
    page.goto(visit.url + party.asks(redirect_uri="https://elsewhere.example/"))
    expect(page.locator("#problem")).to_be_visible()
    yield "problem", page


@pytest.mark.parametrize("language", LOCALES)
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", [SIZES["desktop"], NARROW], ids=["desktop", "narrow"])
def test_nothing_is_covered_or_cut_off_and_axe_finds_nothing(
    opening: Opening,
    party: RelyingParty,
    enrolled: tuple[str, App, list[str]],
    axe: str,
    size: dict[str, Any],
    theme: str,
    language: str,
) -> None:
    visit = opening(color_scheme=theme, reduced_motion="reduce", locale=LOCALES[language], **size)
    for step, page in steps(visit, party, enrolled[0]):
        assert unreadable(page) == [], step
        assert faults(page, axe) == [], step
        assert page.locator("html").get_attribute("lang") == {"en": "en", "zh": "zh-CN"}[language], step


def test_the_language_can_be_switched_where_scripts_run(opening: Opening, party: RelyingParty) -> None:
    page = opening().page(party.asks())
    sign_in(page, password="wrong")
    expect(page.locator("#password-message")).not_to_be_empty()
    page.locator("#language").click()
    chinese = section("pages", "zh")
    expect(page.locator("h1")).to_have_text(chinese["login.title"])
    expect(page.locator("#password-message")).to_have_text(chinese["A0210"])
    expect(page.locator("main")).to_contain_text(chinese["flow.for"].replace("{app}", "Grafana"))
    plain = opening(scripts=False).page(party.asks())
    expect(plain.locator("#language")).to_be_hidden()


def test_nothing_moves_when_the_scripts_have_come(opening: Opening, party: RelyingParty) -> None:
    page = opening().page(party.asks())
    expect(page.locator("#language")).to_be_visible()
    moved = page.evaluate(
        "new Promise(done => new PerformanceObserver(list => done(list.getEntries().map(each => each.value)))"
        ".observe({ type: 'layout-shift', buffered: true }) ?? setTimeout(() => done([]), 300))"
    )
    assert moved == []
