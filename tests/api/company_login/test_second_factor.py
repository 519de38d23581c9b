"""Our own second factor at a login with a provider, and when the provider's counts instead."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jwt
import pytest

from gatehouse.auth.login.company_tickets import PENDING_SECONDS
from gatehouse.auth.passwords.hashing import hash_password
from tests.api.company_login.browser import CODE, EXCHANGE, Browser, Company, query_of
from tests.identity_sources.provider.hostile_provider import HostileProvider
from tests.support.factors import App, enrol
from tests.support.inprocess import Answer, InProcess
from tests.support.running import PASSWORD


def with_app(company: Company, browser: Browser) -> App:
    """Caroline has an authenticator app. She has a password of ours as well, which enrolling asks for."""
    token = browser.login()["accessToken"]
    company.service.run(company.service.accounts.set_password("caroline", hash_password(PASSWORD)))
    token = browser.login()["accessToken"]
    app, _ = enrol(
        lambda method, path, body: company.service.request(method, path, body=body, token=token).data,
        company.service.clock,
    )
    company.service.clock.move(30)  # the code of the enrolment is used
    return app


def show(browser: Browser, location: str, code: str | None = None) -> Answer:
    return browser.request("POST", CODE, body={"ticket": query_of(location)["pending"], "otpCode": code})


def methods(tokens: dict[str, Any]) -> list[str]:
    return list(jwt.decode(tokens["accessToken"], options={"verify_signature": False})["amr"])


def test_whoever_has_an_app_is_asked_for_its_code(company: Company, browser: Browser) -> None:
    app = with_app(company, browser)
    location = browser.arrive("https://console.example/enter", amr=["pwd", "otp", "mfa"])
    assert location.startswith(f"{company.url}/?pending=")
    assert browser.request("POST", EXCHANGE, body={"ticket": query_of(location)["pending"]}).code == "A0242"
    assert show(browser, location).code == "A0220"
    assert show(browser, location, app.wrong()).code == "A0220"
    url = show(browser, location, app.code()).data["url"]
    assert url.startswith("https://console.example/enter?ticket=")
    assert methods(browser.exchange(url).data) == ["oidc", "otp"]
    company.service.clock.move(30)
    assert show(browser, location, app.code()).code == "A0242", "a pending ticket is good once"
    counts = company.service.service.audit.counts
    assert counts["login.failed", "second_factor_missing"] == counts["login.failed", "second_factor"] == 1


def test_a_code_is_good_once(company: Company, browser: Browser) -> None:
    app = with_app(company, browser)
    first, second = browser.arrive(), browser.arrive()
    assert show(browser, first, app.code()).status == 200
    assert show(browser, second, app.code()).code == "A0220"


@pytest.mark.parametrize("trusted", [True, False])
def test_a_factor_that_the_provider_vouches_for_counts_by_a_setting(
    company: Company, browser: Browser, *, trusted: bool
) -> None:
    with_app(company, browser)
    company.configure(trust_factors=trusted)
    location = browser.arrive(amr=["pwd", "otp"])
    assert ("ticket" in query_of(location)) == trusted
    if trusted:
        assert methods(browser.exchange(location).data) == ["oidc", "pwd", "otp", "mfa"]
    assert "pending" in query_of(browser.arrive(amr=["pwd"]))


def test_guessing_codes_locks_the_name_as_at_a_login(tmp_path: Path, hostile: HostileProvider) -> None:
    with InProcess(tmp_path / "data", limits="on", limit_login_name="3/minute") as service:
        hostile.clock = service.clock  # type: ignore[assignment]
        company = Company(service, hostile)
        company.add()
        browser = Browser(company)
        app = with_app(company, browser)
        location = browser.arrive()
        codes = [show(browser, location, app.wrong()).code for _ in range(3)]
        assert codes == ["A0220"] * 3
        assert show(browser, location, app.code()).code == "A0211"
        assert show(browser, browser.arrive(), app.code()).code == "A0211", "a new login does not begin anew"


def test_a_pending_ticket_belongs_to_one_browser_and_expires(company: Company, browser: Browser) -> None:
    app = with_app(company, browser)
    location = browser.arrive()
    thief = Browser(company, agent="curl")
    assert show(thief, location, app.code()).code == "A0242"
    company.service.clock.move(PENDING_SECONDS)
    assert show(browser, location, app.code()).code == "A0242"


def test_a_user_who_is_disabled_meanwhile(company: Company, browser: Browser) -> None:
    app = with_app(company, browser)
    location = browser.arrive()
    company.service.run(company.service.accounts.disable_user("caroline"))
    assert show(browser, location, app.code()).code == "A0242"


def test_an_app_that_is_switched_on_meanwhile_is_asked_for(company: Company, browser: Browser) -> None:
    browser.login()
    company.service.run(company.service.accounts.set_password("caroline", hash_password(PASSWORD)))
    token = browser.login()["accessToken"]
    location = browser.arrive()
    enrol(
        lambda method, path, body: company.service.request(method, path, body=body, token=token).data,
        company.service.clock,
    )
    assert browser.exchange(location).code == "A0242"


class TestRequired:
    """Everybody must have a second factor."""

    @pytest.fixture
    def browser(self, tmp_path: Path, hostile: HostileProvider) -> Any:
        with InProcess(tmp_path / "strict", second_factor="required") as service:
            hostile.clock = service.clock  # type: ignore[assignment]
            company = Company(service, hostile)
            company.add()
            yield Browser(company)

    def test_a_new_person_enrols_and_goes_on(self, browser: Browser) -> None:
        service = browser.company.service
        location = browser.arrive(amr=["pwd", "otp"])
        refused = show(browser, location)
        assert refused.code == "A0220"
        ticket = refused.headers["enrolment-ticket"]
        new = browser.request("POST", "/api/v1/auth/enrolment", body={"ticket": ticket}).data
        app = App(new["secret"], service.clock)
        body = {"ticket": ticket, "code": app.code()}
        assert browser.request("PUT", "/api/v1/auth/enrolment", body=body).status == 200
        service.clock.move(30)
        tokens = browser.exchange(show(browser, location, app.code()).data["url"]).data
        assert methods(tokens) == ["oidc", "otp"]
        assert service.me(tokens["accessToken"]).status == 200

    def test_the_provider_cannot_get_around_it(self, browser: Browser) -> None:
        for claims in ({}, {"amr": ["mfa"]}, {"amr": ["otp", "hwk", "pwd"]}, {"acr": "gold"}):
            assert "pending" in query_of(browser.arrive(**claims))

    def test_one_that_is_trusted_may_show_it_for_us(self, browser: Browser) -> None:
        browser.company.configure(trust_factors=True, factor_acrs=("gold",))
        assert browser.company.service.me(browser.login(acr="gold")["accessToken"]).status == 200
        assert "pending" in query_of(browser.arrive(acr="silver"))
