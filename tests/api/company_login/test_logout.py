"""Logout in both directions."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest

from gatehouse.auth.identity.provider_logout import MAX_ID_TOKEN, TICKET_SECONDS
from tests.api.company_login.browser import Browser, Company, query_of
from tests.api.company_login.conftest import CONSOLE
from tests.identity_sources.provider.hostile_provider import ABSENT, OTHER_RSA_KEY, sign
from tests.support.inprocess import Answer


def told(company: Company, token: str, name: str = "corp") -> Answer:
    """The provider tells of a logout."""
    return company.service.request(
        "POST",
        f"/login/{name}/backchannel-logout",
        content=urlencode({"logout_token": token}).encode(),
        headers={"content-type": "application/x-www-form-urlencoded"},
    )


def tell(company: Company, **claims: Any) -> Answer:
    return told(company, sign(company.provider.logout_claims(**claims), typ="logout+jwt"))


# The provider ends our sessions


@pytest.mark.usefixtures("engines")
@pytest.mark.every_engine
def test_a_logout_at_the_provider_ends_the_session_that_it_names(company: Company, browser: Browser) -> None:
    one = browser.login(sid="session-1")["accessToken"]
    other = browser.login(sid="session-2")["accessToken"]
    local = company.service.login().data["accessToken"]
    answer = tell(company, sid="session-1")
    assert (answer.status, answer.content, answer.headers["cache-control"]) == (200, b"", "no-store")
    assert [company.service.me(token).status for token in (one, other, local)] == [401, 200, 200]
    assert company.service.service.audit.counts["session.ended", "provider"] == 1
    assert tell(company, sid=ABSENT, jti="token-2").status == 200
    assert [company.service.me(token).status for token in (one, other, local)] == [401, 401, 200]


def test_a_logout_token_is_good_once(company: Company, browser: Browser) -> None:
    token = sign(company.provider.logout_claims(sid=ABSENT), typ="logout+jwt")
    assert told(company, token).status == 200
    company.service.clock.move(1)
    tokens = browser.login()
    again = told(company, token)
    assert (again.status, again.json) == (400, {"error": "invalid_request"})
    assert company.service.me(tokens["accessToken"]).status == 200


@pytest.mark.parametrize(
    "claims",
    [{"aud": "another-client"}, {"iss": "https://evil.example"}, {"nonce": "x"}, {"events": {}}, {"jti": ABSENT}],
)
def test_a_logout_token_that_is_not_for_us_ends_nothing(
    company: Company, browser: Browser, claims: dict[str, Any]
) -> None:
    tokens = browser.login(sid="session-1")
    assert tell(company, **claims).status == 400
    assert company.service.me(tokens["accessToken"]).status == 200


def test_forged_ones_and_those_of_another_source(company: Company, browser: Browser) -> None:
    company.add("other")
    tokens = browser.login(sid="session-1")
    forged = sign(company.provider.logout_claims(), key=OTHER_RSA_KEY, typ="logout+jwt")
    for text in (forged, company.provider.id_token, "", "x", "a.b.c"):
        assert told(company, text).status == 400
    assert told(company, sign(company.provider.logout_claims(), typ="logout+jwt"), "other").status == 200
    assert company.service.me(tokens["accessToken"]).status == 200


@pytest.mark.usefixtures("engines")
@pytest.mark.every_engine
@pytest.mark.parametrize("claims", [{}, {"sid": ABSENT}, {"sub": ABSENT}])
def test_a_logout_while_a_login_is_under_way_ends_that_too(
    company: Company, browser: Browser, claims: dict[str, Any]
) -> None:
    location = browser.arrive(sid="session-1")
    company.service.clock.move(1)
    assert tell(company, **claims).status == 200
    assert browser.exchange(location).code == "A0242"
    company.service.clock.move(1)
    assert browser.login(sid="session-1")


def test_a_provider_that_cannot_be_asked_for_its_keys(company: Company) -> None:
    company.provider.routes.clear()
    assert tell(company).status == 400


# Our logout goes on to the provider


def onward(browser: Browser, tokens: dict[str, Any]) -> str:
    answer = browser.request("POST", "/api/v1/auth/logout", token=tokens["accessToken"])
    assert answer.status == 200
    return answer.headers.get("logout-location", "")


@pytest.mark.usefixtures("engines")
@pytest.mark.every_engine
def test_our_logout_goes_on_to_the_provider_and_comes_back(company: Company, browser: Browser) -> None:
    location = onward(browser, browser.login())
    assert location.startswith(f"{company.url}/login/corp/logout?ticket=")
    there = browser.open(location).headers["location"]
    query = query_of(there)
    assert there.startswith(f"{company.provider.url}/logout?")
    assert query["id_token_hint"] == company.provider.id_token
    back = query["post_logout_redirect_uri"]
    assert back == f"{company.url}/login/corp/logged-out"
    assert browser.open(back).headers["location"] == CONSOLE
    assert browser.open(location).headers["location"] == CONSOLE, "the ticket is good once"


def test_a_logout_ticket_belongs_to_one_browser_for_a_minute(company: Company, browser: Browser) -> None:
    location = onward(browser, browser.login())
    assert Browser(company, agent="curl").open(location).headers["location"] == CONSOLE
    assert browser.open(location.partition("?")[0] + "?ticket=made-up").headers["location"] == CONSOLE
    company.service.clock.move(TICKET_SECONDS)
    assert browser.open(location).headers["location"] == CONSOLE


def test_local_logouts_and_those_where_it_is_off_stay_here(company: Company, browser: Browser) -> None:
    assert onward(browser, company.service.login().data) == ""
    company.configure(logout=False)
    assert onward(browser, browser.login()) == ""
    # Switched on meanwhile: the ID token was not kept, so the provider will ask.
    tokens = browser.login()
    company.configure()
    location = onward(browser, tokens)
    assert "id_token_hint" not in query_of(browser.open(location).headers["location"])


def test_a_provider_that_is_out_or_has_no_logout(company: Company, browser: Browser) -> None:
    tokens = browser.login()
    company.provider.metadata.pop("end_session_endpoint")
    company.configure(scopes=("openid",))  # opened anew, so it asks again
    assert browser.open(onward(browser, tokens)).headers["location"] == CONSOLE
    tokens = browser.login()
    company.provider.routes.clear()
    company.configure()
    assert browser.open(onward(browser, tokens)).headers["location"] == CONSOLE


def test_an_id_token_that_is_too_long_is_not_kept(company: Company, browser: Browser) -> None:
    tokens = browser.login(groups=["x" * 100] * (MAX_ID_TOKEN // 100))
    there = browser.open(onward(browser, tokens)).headers["location"]
    assert there.startswith(f"{company.provider.url}/logout?")
    assert "id_token_hint" not in query_of(there)
