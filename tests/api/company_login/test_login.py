"""Login with a provider, from the button to the tokens."""

from __future__ import annotations

from typing import Any

import jwt
import msgspec

from gatehouse.auth.audit import Event
from gatehouse.identity_sources.definitions import Mapping
from tests.api.company_login.browser import Browser, Company, problem_of, query_of, recorded

MAPPING = Mapping(groups="groups", roles={"staff": ("STAFF",)})


def claims_of(tokens: dict[str, Any]) -> dict[str, Any]:
    return dict(jwt.decode(tokens["accessToken"], options={"verify_signature": False}))


def test_the_buttons(company: Company) -> None:
    company.add("other", icon="keycloak")
    buttons = company.service.request("GET", "/api/v1/auth/providers").json["data"]
    assert buttons == [
        {"name": "corp", "title": "Corp", "icon": "", "url": f"{company.url}/login/corp"},
        {"name": "other", "title": "Corp", "icon": "keycloak", "url": f"{company.url}/login/other"},
    ]


def test_a_first_login_makes_the_user_with_the_roles_of_her_groups(company: Company, browser: Browser) -> None:
    company.configure(mapping=MAPPING)
    location = browser.arrive(groups=["staff", "other"], amr=["pwd"], acr="1")
    assert location.startswith(f"{company.url}/?ticket=")
    tokens = browser.exchange(location).data
    me = company.service.me(tokens["accessToken"]).data
    assert (me["username"], me["nickname"], me["roles"]) == ("caroline", "Caroline", ["STAFF"])
    claims = claims_of(tokens)
    assert (claims["amr"], claims["idp"], claims["acr"]) == (["oidc"], "corp", "1")
    again = browser.login(groups=[], name="Caroline B.")
    me = company.service.me(again["accessToken"]).data
    assert (me["nickname"], me["roles"]) == ("Caroline B.", [])
    assert company.service.refresh(again["refreshToken"]).status == 200


def test_the_way_back_leads_to_the_console(company: Company, browser: Browser) -> None:
    location = browser.arrive("https://console.example/enter?x=1#/login")
    ticket = query_of(location)["ticket"]
    assert location == f"https://console.example/enter?x=1&ticket={ticket}#/login"
    answer = browser.exchange(location)
    assert answer.status == 200
    assert answer.headers["cache-control"] == "no-store"


def test_two_tabs_do_not_disturb_each_other(browser: Browser) -> None:
    first, second = browser.depart(), browser.depart()
    for url in (first, second):
        answer = browser.come_back(browser.answer_of(url))
        assert browser.exchange(answer.headers["location"]).status == 200
    assert browser.cookies == {}


def test_the_trail_says_which_way_somebody_came(company: Company, browser: Browser) -> None:
    browser.login()
    [entry] = recorded(company, Event.LOGIN)
    assert msgspec.json.decode(entry.detail or "") == {"source": "corp"}
    assert company.service.service.identity.sources.counts == {("corp", "success"): 1}


def test_a_provider_that_makes_no_users_admits_those_who_are_linked(company: Company, browser: Browser) -> None:
    company.configure(create_users=False)
    assert problem_of(browser.arrive()) == "not_admitted"
    company.configure()
    browser.login()
    company.configure(create_users=False)
    assert browser.login()
    [failure] = recorded(company, Event.LOGIN_FAILED)
    assert (failure.reason, failure.detail) == ("not_admitted", '{"source":"corp"}')
    assert company.service.service.identity.sources.counts["corp", "refused"] == 1
