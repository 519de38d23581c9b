"""What one is logged in to, on one's own account page."""

from __future__ import annotations

import pytest

from tests.api.oauth.application import Application
from tests.api.oauth.flow import Browser
from tests.api.oauth.test_sign_in import add_person
from tests.support.inprocess import InProcess

APPLICATIONS = "/api/v1/users/me/applications"


@pytest.fixture
def token(gatehouse: InProcess) -> str:
    return str(gatehouse.login().data["accessToken"])


def listed(gatehouse: InProcess, token: str) -> list[dict[str, object]]:
    return list(gatehouse.request("GET", APPLICATIONS, token=token).json["data"])


def test_applications_appear_once_they_have_tokens(
    browser: Browser, app: Application, gatehouse: InProcess, token: str
) -> None:
    app.change(name="Grafana")
    app.edit(url="https://grafana.example/")
    assert listed(gatehouse, token) == []
    for scope in ("openid email", "openid offline_access"):
        page = browser.authorize(scope=scope)
        back = page if page.status == 303 else browser.sign_in(page)
        app.exchange(back.query["code"], code_verifier="")
        gatehouse.clock.move(60)
    [one] = listed(gatehouse, token)
    assert (one["clientId"], one["name"], one["url"]) == ("app", "Grafana", "https://grafana.example/")
    assert set(one["scopes"]) == {"openid", "email", "offline_access"}  # type: ignore[call-overload]
    assert one["since"] == "2030-03-17T17:46:40Z"


def test_an_application_is_left(browser: Browser, app: Application, gatehouse: InProcess, token: str) -> None:
    app.edit(first_party=False)
    back = browser.submit(browser.sign_in(browser.authorize(scope="openid offline_access")), "allow")
    tokens = app.exchange(back.query["code"], code_verifier="").json
    assert gatehouse.request("DELETE", f"{APPLICATIONS}/app", token=token).status == 200
    assert listed(gatehouse, token) == []
    assert app.userinfo(tokens["access_token"]).status == 401
    assert app.refresh(tokens["refresh_token"]).json["error"] == "invalid_grant"
    assert "allow" in browser.authorize().buttons, "it must ask again"


def test_applications_go_with_the_session(browser: Browser, app: Application, gatehouse: InProcess, token: str) -> None:
    back = browser.sign_in(browser.authorize())
    app.exchange(back.query["code"], code_verifier="")
    browser.submit(browser.open("/oauth2/logout"), "log-out")
    assert listed(gatehouse, token) == []


def test_nobody_sees_or_leaves_those_of_others(
    browser: Browser, app: Application, gatehouse: InProcess, token: str
) -> None:
    add_person(gatehouse)
    tokens = app.exchange(browser.sign_in(browser.authorize(), "ann").query["code"], code_verifier="").json
    assert listed(gatehouse, token) == []
    gatehouse.request("DELETE", f"{APPLICATIONS}/app", token=token)
    assert app.userinfo(tokens["access_token"]).status == 200
    assert gatehouse.request("DELETE", f"{APPLICATIONS}/unknown", token=token).status == 404
    assert gatehouse.request("GET", APPLICATIONS).status == 401
