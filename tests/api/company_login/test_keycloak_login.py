"""A served Gatehouse and Keycloak: login, roles, logout in both directions, outages."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from gatehouse.identity_sources.definitions import Mapping, ProviderConfig
from tests.api.company_login.browser import problem_of
from tests.api.company_login.real_provider import BACK_CHANNEL, CALLBACK, LOGGED_OUT, LogIn, Served
from tests.support import html_forms
from tests.support.conversation import login
from tests.support.keycloak import KeycloakServer
from tests.support.waiting import wait_until

pytestmark = pytest.mark.full

PASSWORD = "a password of a person"


@pytest.fixture(scope="module")
def served(keycloak: KeycloakServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    service = Served(tmp_path_factory.mktemp("keycloak") / "data")
    client = keycloak.create_client(
        [service.url + CALLBACK], after_logout=service.url + LOGGED_OUT, backchannel_url=service.url + BACK_CHANNEL
    )
    config = ProviderConfig(
        issuer=keycloak.issuer,
        client_id=client.id,
        mapping=Mapping(groups="groups", roles={"company-staff": ("STAFF",)}),
    )
    service.add_provider(config, client.secret)
    with service:
        yield service


@pytest.fixture
def browser() -> Iterator[httpx.Client]:
    with html_forms.browser() as client:
        yield client


def by_form(keycloak: KeycloakServer, served: Served, browser: httpx.Client, name: str) -> LogIn:
    return lambda url: keycloak.log_in(browser, url, served.url + CALLBACK, name, PASSWORD)


def test_a_login_makes_the_user_and_our_logout_goes_on(
    keycloak: KeycloakServer, served: Served, browser: httpx.Client
) -> None:
    user = keycloak.create_user("irene", PASSWORD, groups=("company-staff",))
    tokens = served.login(browser, by_form(keycloak, served, browser, "irene"))
    me = served.me(browser, tokens).json()["data"]
    assert (me["username"], me["nickname"], me["roles"]) == ("irene", "Irene Person", ["STAFF"])
    keycloak.leave_group(user, "company-staff")
    tokens = served.login(browser, by_form(keycloak, served, browser, "irene"))
    assert served.me(browser, tokens).json()["data"]["roles"] == []
    assert len(keycloak.admin("GET", f"/users/{user}/sessions")) == 1
    there = served.log_out(browser, tokens)
    back = keycloak.log_out(browser, there, served.url + LOGGED_OUT)
    assert browser.get(back).headers["location"] == f"{served.url}/"
    assert keycloak.admin("GET", f"/users/{user}/sessions") == []
    assert served.me(browser, tokens).status_code == 401


def test_a_logout_there_ends_our_session(keycloak: KeycloakServer, served: Served, browser: httpx.Client) -> None:
    user = keycloak.create_user("jana", PASSWORD)
    tokens = served.login(browser, by_form(keycloak, served, browser, "jana"))
    with served.client() as other:
        local = login(other)
        assert served.me(browser, tokens).status_code == 200
        keycloak.log_out_user(user)
        wait_until(lambda: served.me(browser, tokens).status_code == 401, "our session ends")
        assert served.me(other, local).status_code == 200


def test_somebody_who_is_disabled_there_does_not_come_back(
    keycloak: KeycloakServer, served: Served, browser: httpx.Client
) -> None:
    user = keycloak.create_user("karl", PASSWORD)
    tokens = served.login(browser, by_form(keycloak, served, browser, "karl"))
    keycloak.change_user(user, enabled=False)
    keycloak.log_out_user(user)
    wait_until(lambda: served.me(browser, tokens).status_code == 401)
    page = html_forms.follow(browser, browser.get(f"{served.url}/login/corp"), served.url + CALLBACK)
    answer = html_forms.submit(browser, page, username="karl", password=PASSWORD)
    assert "disabled" in answer.text
    keycloak.change_user(user, enabled=True)
    assert served.login(browser, by_form(keycloak, served, browser, "karl"))


def test_while_it_does_not_answer_local_logins_go_on(
    keycloak: KeycloakServer, served: Served, browser: httpx.Client
) -> None:
    keycloak.create_user("lena", PASSWORD)
    there = browser.get(f"{served.url}/login/corp").headers["location"]
    back = keycloak.log_in(browser, there, served.url + CALLBACK, "lena", PASSWORD)
    keycloak.pause()
    try:
        assert problem_of(browser.get(back).headers["location"]) == "unavailable"
        with served.client() as other:
            assert login(other)
    finally:
        keycloak.resume()
    assert "does not answer within" in served.output()
    assert served.login(browser, by_form(keycloak, served, browser, "lena"))
