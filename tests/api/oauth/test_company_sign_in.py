"""Signing in for an application with a company account: to the provider, and back to what it was for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urljoin

import pytest

from tests.api.company_login.browser import Browser as CompanyBrowser
from tests.api.company_login.browser import Company, query_of
from tests.api.company_login.test_second_factor import with_app
from tests.api.oauth.application import CALLBACK, Application
from tests.api.oauth.flow import Browser, Page
from tests.identity_sources.provider.conftest import _authorities_read_once, hostile  # noqa: F401 - fixtures
from tests.identity_sources.provider.hostile_provider import DISCOVERY, HostileProvider
from tests.identity_sources.provider.loopback_server import json_reply
from tests.support.inprocess import InProcess

CONSOLE = "https://console.example/app"


@pytest.fixture
def company(tmp_path: Path, hostile: HostileProvider) -> Iterator[Company]:  # noqa: F811 - the fixture
    with InProcess(tmp_path / "data", console_url=CONSOLE) as service:
        hostile.clock = service.clock  # type: ignore[assignment]
        company = Company(service, hostile)
        company.add()
        yield company


@pytest.fixture
def app(company: Company) -> Application:
    return Application(company.service)


@pytest.fixture
def browser(company: Company, app: Application) -> Browser:
    return Browser(company.service)


def depart(browser: Browser, page: Page, name: str = "corp") -> str:
    """The provider's URL that the button leads to."""
    return browser.follow(browser.send("GET", urljoin(page.url, page.links[name]))).location


def come_back(company: Company, browser: Browser, url: str, **claims: Any) -> Page:
    """The provider lets Caroline in, or whom the claims say."""
    query = CompanyBrowser(company).answer_of(url, claims.pop("query", None), **claims)
    return browser.open("/login/corp/callback", **query)


def test_one_button_leads_to_the_provider_and_back_to_the_application(
    company: Company, browser: Browser, app: Application
) -> None:
    back = come_back(company, browser, depart(browser, browser.authorize()))
    assert back.location.startswith(f"{CALLBACK}?code=")
    claims = app.read(app.exchange(back.query["code"], code_verifier="").json["id_token"])
    assert (claims["amr"], claims["acr"]) == (["oidc"], "1")
    assert back.query["state"] == "a state"
    assert "code" in browser.authorize(prompt="none").query


def test_logging_in_again_keeps_the_session(company: Company, browser: Browser) -> None:
    come_back(company, browser, depart(browser, browser.authorize()))
    for _ in range(2):
        company.service.clock.move(10)
        page = browser.authorize(prompt="login")
        assert "code" in come_back(company, browser, depart(browser, page)).query
    [user] = {session.user for session in _sessions(company)}
    assert len(_sessions(company)) == 1
    assert user


@pytest.mark.parametrize(
    ("wish", "prompt", "max_age"),
    [
        ({"prompt": "login"}, "login", "0"),
        ({"prompt": "select_account"}, "login", "0"),
        ({"max_age": "0"}, "login", "0"),
        ({"max_age": "300"}, "", "300"),
        ({}, "", ""),
    ],
)
def test_a_fresh_login_is_asked_of_the_provider_too(
    company: Company, browser: Browser, wish: dict[str, str], prompt: str, max_age: str
) -> None:
    """Else it sends back at once whoever sits at a browser that is logged in there."""
    url = depart(browser, browser.authorize(**wish))
    asked = query_of(url)
    assert (asked.get("prompt", ""), asked.get("max_age", "")) == (prompt, max_age)
    long_ago = int(company.service.clock()) - 1000
    page = come_back(company, browser, url, auth_time=long_ago)
    assert ("code" in page.query) if not wish else ("captchaCode" in page.fields), "the provider has not asked"
    if wish:
        url = depart(browser, browser.authorize(**wish))
        assert "code" in come_back(company, browser, url, auth_time=int(company.service.clock())).query


def _sessions(company: Company) -> list[Any]:
    service = company.service.service
    profile = company.service.run(company.service.accounts.user("caroline"))
    return list(company.service.run(service.sessions.of_user(profile.user.id)))


def test_whoever_changes_her_mind_is_back_at_the_form(company: Company, browser: Browser) -> None:
    url = depart(browser, browser.authorize())
    page = come_back(company, browser, url, query={"error": "access_denied", "code": None})
    assert page.status == 200
    assert page.texts["problem"] == "The login was cancelled. Nothing has changed."
    assert "code" in browser.sign_in(page).query, "the application is not forgotten"


def test_a_provider_that_cannot_be_reached_is_told_on_the_form(company: Company, browser: Browser) -> None:
    page = browser.authorize()
    company.provider.routes[DISCOVERY] = lambda _: json_reply({}, 500)
    told = browser.follow(browser.send("GET", urljoin(page.url, page.links["corp"])))
    assert told.texts["problem"].startswith("Corp cannot be reached just now.")
    assert "code" in browser.sign_in(told).query


def test_an_unknown_provider_is_told_on_the_form(browser: Browser) -> None:
    page = browser.authorize()
    told = browser.follow(browser.send("GET", urljoin(page.url, page.links["corp"]).replace("corp", "nobody")))
    assert "captchaCode" in told.fields
    assert told.texts["problem"].startswith("The company login cannot be reached just now.")


# Our own second factor


def test_the_code_of_our_own_factor_is_asked_for_without_a_script(
    company: Company, browser: Browser, app: Application
) -> None:
    device = with_app(company, CompanyBrowser(company))
    page = come_back(company, browser, depart(browser, browser.authorize()))
    assert "otpCode" in page.fields
    assert not browser.is_logged_in
    refused = browser.submit(page, "confirm", otpCode=device.wrong())
    assert (refused.status, bool(refused.texts["otpCode-message"])) == (400, True)
    back = browser.submit(refused, "confirm", otpCode=device.code())
    claims = app.read(app.exchange(back.query["code"], code_verifier="").json["id_token"])
    assert (claims["amr"], claims["acr"]) == (["oidc", "otp"], "2")


def test_who_must_enrol_is_sent_to_the_login_page_and_comes_back(tmp_path: Path, company: Company) -> None:
    with InProcess(tmp_path / "strict", second_factor="required") as service:
        company = Company(service, company.provider)
        company.provider.clock = service.clock  # type: ignore[assignment]
        company.add()
        Application(service)
        browser = Browser(service)
        page = come_back(company, browser, depart(browser, browser.authorize()))
        assert page.status == 400
        pending = query_of(urljoin(page.url, page.links["elsewhere"]))["pending"]
        call = {"body": {"ticket": pending}, "headers": {"user-agent": "Firefox"}}
        refused = service.request("POST", "/api/v1/auth/company-login/code", **call)
        assert refused.headers["enrolment-ticket"], "the login page goes on with it"


def test_a_pending_login_is_good_once(company: Company, browser: Browser) -> None:
    device = with_app(company, CompanyBrowser(company))
    page = come_back(company, browser, depart(browser, browser.authorize()))
    assert "code" in browser.submit(page, "confirm", otpCode=device.code()).query
    company.service.clock.move(30)
    assert "captchaCode" in browser.submit(page, "confirm", otpCode=device.code()).fields


# Attacks


def test_nobody_goes_on_with_the_login_of_another_browser(company: Company, browser: Browser) -> None:
    """Login CSRF: an attacker stops before the last step, and lets the victim's browser take it."""
    url = depart(browser, browser.authorize())
    query = CompanyBrowser(company).answer_of(url)
    last = browser.send("GET", f"{browser.url}/login/corp/callback?{urlencode(query)}").location
    assert "/oauth2/continue?id=" in last
    victim = Browser(company.service)
    victim.authorize()
    page = victim.send("GET", last)
    assert page.status == 400
    assert page.texts["problem"]
    assert not victim.is_logged_in
    assert "code" in browser.follow(browser.send("GET", last)).query, "it was good for its own browser"


def test_a_ticket_is_good_once(company: Company, browser: Browser) -> None:
    url = depart(browser, browser.authorize())
    query = CompanyBrowser(company).answer_of(url)
    last = browser.send("GET", f"{browser.url}/login/corp/callback?{urlencode(query)}").location
    assert browser.send("GET", last).status == 303
    browser.cookies = {name: value for name, value in browser.cookies.items() if "session" not in name}
    again = browser.follow(browser.send("GET", last))
    assert "captchaCode" in again.fields
    assert "took too long" in again.texts["problem"]


@pytest.mark.parametrize(
    "going_on", ["https://evil.example/", "//evil.example", "/oauth2/enter?to=https://evil.example", ""]
)
def test_no_other_address_is_gone_on_to(browser: Browser, going_on: str) -> None:
    page = browser.open("/oauth2/company", provider="corp", next=going_on)
    assert page.status == 400
    assert "evil" not in page.text
