"""Login with a provider, from the button to the tokens."""

from __future__ import annotations

from tests.api.company_login.browser import Browser, Company, query_of


def test_the_buttons(company: Company) -> None:
    assert company.service.request("GET", "/api/v1/auth/providers").json["data"] == [
        {"name": "corp", "title": "Corp", "icon": "", "url": f"{company.url}/login/corp"}
    ]


def test_a_first_login_makes_the_user_and_gives_tokens(company: Company, browser: Browser) -> None:
    location = browser.arrive()
    assert location.startswith(f"{company.url}/?ticket=")
    tokens = browser.exchange(location).data
    me = company.service.me(tokens["accessToken"]).data
    assert (me["username"], me["nickname"]) == ("caroline", "Caroline")
    assert query_of(location).keys() == {"ticket"}
