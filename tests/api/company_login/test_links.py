"""Linking an account at a provider to one's own, and unlinking it."""

from __future__ import annotations

from typing import Any

import pytest

from gatehouse.auth.audit import Event
from tests.api.company_login.browser import IDENTITIES, Browser, Company, problem_of, recorded
from tests.support.inprocess import Answer
from tests.support.running import PASSWORD

PROOF = {"currentPassword": PASSWORD}


@pytest.fixture
def token(company: Company) -> str:
    return str(company.service.login().data["accessToken"])


def link(browser: Browser, token: str, body: Any = PROOF, source: str = "corp") -> Answer:
    return browser.request("POST", f"{IDENTITIES}/{source}", body=body, token=token)


def identities(browser: Browser, token: str) -> list[dict[str, Any]]:
    return list(browser.request("GET", IDENTITIES, token=token).json["data"])


def test_a_user_links_her_account_and_logs_in_with_it(company: Company, browser: Browser, token: str) -> None:
    url = link(browser, token).data["url"]
    assert url.startswith(f"{company.provider.url}/authorize?")
    back = browser.come_back(browser.answer_of(url))
    assert back.headers["location"] == f"{company.url}/account?linked=corp"
    [found] = identities(browser, token)
    assert (found["source"], found["title"], found["name"], found["lastUsed"]) == ("corp", "Corp", "caroline", None)
    tokens = browser.login()
    assert company.service.me(tokens["accessToken"]).data["username"] == "admin"
    assert identities(browser, token)[0]["lastUsed"]
    [entry] = recorded(company, Event.IDENTITY_LINKED)
    assert (entry.user, entry.detail) == (1, '{"source":"corp","name":"caroline"}')


@pytest.mark.parametrize("body", [{}, {"currentPassword": "wrong"}])
def test_an_open_session_alone_links_nothing(browser: Browser, token: str, body: dict[str, str]) -> None:
    answer = link(browser, token, body)
    assert (answer.status, answer.cookies) == (400, ())
    assert link(browser, "").status == 401


def test_another_browser_cannot_bring_the_answer(company: Company, browser: Browser, token: str) -> None:
    """The attacker begins to link her own user, and has the victim's browser go to the provider."""
    url = link(browser, token).data["url"]
    victim = Browser(company)
    assert problem_of(victim.come_back(victim.answer_of(url))) == "expired"
    assert identities(browser, token) == []


def test_an_answer_for_a_link_logs_nobody_in_and_the_other_way_round(
    company: Company, browser: Browser, token: str
) -> None:
    url = link(browser, token).data["url"]
    location = browser.come_back(browser.answer_of(url)).headers["location"]
    assert "ticket" not in location
    Browser(company).login(sub="person-2", preferred_username="dora")
    assert len(identities(browser, token)) == 1


def test_the_session_that_asked_must_still_live(company: Company, browser: Browser, token: str) -> None:
    answer = browser.answer_of(link(browser, token).data["url"])
    company.service.logout(token)
    location = browser.come_back(answer).headers["location"]
    assert location == f"{company.url}/account?problem=expired&provider=corp"
    assert identities(browser, str(company.service.login().data["accessToken"])) == []


def test_somebody_who_is_linked_already_is_not_linked_again(company: Company, browser: Browser, token: str) -> None:
    Browser(company).login()
    location = browser.come_back(browser.answer_of(link(browser, token).data["url"])).headers["location"]
    assert location == f"{company.url}/account?problem=name_taken&provider=corp"
    url = link(browser, token).data["url"]
    browser.come_back(browser.answer_of(url, sub="person-2"))
    url = link(browser, token).data["url"]
    assert problem_of(browser.come_back(browser.answer_of(url, sub="person-3"))) == "name_taken"
    assert len(identities(browser, token)) == 1


def test_an_unknown_provider_and_one_that_is_out(company: Company, browser: Browser, token: str) -> None:
    assert link(browser, token, source="nobody").status == 404
    company.provider.routes.clear()
    assert link(browser, token).code == "C0300"


def test_unlinking_needs_a_proof_and_ends_what_the_identity_has_opened(
    company: Company, browser: Browser, token: str
) -> None:
    browser.come_back(browser.answer_of(link(browser, token).data["url"]))
    other = browser.login()["accessToken"]
    [found] = identities(browser, token)
    path = f"{IDENTITIES}/{found['id']}"
    assert browser.request("DELETE", path, body={}, token=token).status == 400
    assert browser.request("DELETE", f"{IDENTITIES}/999", body=PROOF, token=token).status == 404
    assert browser.request("DELETE", path, body=PROOF, token=token).status == 200
    assert identities(browser, token) == []
    assert company.service.me(other).status == 401
    assert company.service.me(token).status == 200


def test_the_only_way_in_stays(company: Company, browser: Browser) -> None:
    """Who has no password can show no proof to unlink with; the rule itself is tested with the sources."""
    token = browser.login()["accessToken"]
    [found] = identities(browser, token)
    path = f"{IDENTITIES}/{found['id']}"
    assert browser.request("DELETE", path, body=PROOF, token=token).code == "A0210"
    assert len(identities(browser, token)) == 1
    assert company.service.me(token).status == 200
