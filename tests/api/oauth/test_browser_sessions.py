"""The session of a browser: its cookie, logging in again, and the pages with scripts."""

from __future__ import annotations

from typing import Any

import pytest

from gatehouse.auth.audit import Event
from tests.api.oauth.application import Application
from tests.api.oauth.flow import Browser
from tests.api.oauth.test_sign_in import add_person
from tests.support.inprocess import InProcess
from tests.support.running import ANSWER, PASSWORD

pytestmark = [pytest.mark.usefixtures("engines"), pytest.mark.every_engine]

COOKIE = "__Host-gatehouse_session"
BROWSER_SESSION = "/api/v1/auth/browser-session"


def session_of(gatehouse: InProcess, app: Application, browser: Browser) -> str:
    code = gatehouse.service.oauth.codes.read(browser.authorize().query["code"])
    assert code is not None
    assert app.client.id == code.content.client
    return code.content.session


def lives(gatehouse: InProcess, session: str) -> bool:
    return gatehouse.run(gatehouse.service.stores.state.session_status(session)) is not None


def follow(gatehouse: InProcess) -> None:
    """What the service does by itself every now and then."""
    gatehouse.run(gatehouse.service.oauth.session_ends.follow())


def enter(browser: Browser, token: str) -> Any:
    return browser.send("POST", browser.url + BROWSER_SESSION, headers={"authorization": f"Bearer {token}"})


def test_the_cookie_is_for_this_host_alone_and_no_script(browser: Browser) -> None:
    sent = browser.submit(
        browser.authorize(), "sign-in", follow=False, username="admin", password=PASSWORD, captchaCode=ANSWER
    )
    [cookie] = sent.answer.cookies
    assert cookie.startswith(f"{COOKIE}=")
    assert cookie.split("; ")[1:] == ["Path=/", "HttpOnly", "SameSite=Lax", "Secure"]


def test_without_https_it_has_another_name(tmp_path: Any) -> None:
    with InProcess(tmp_path / "data", base_path="/auth") as gatehouse:
        Application(gatehouse)
        browser = Browser(gatehouse)
        browser.sign_in(browser.authorize())
        assert set(browser.cookies) == {"gatehouse_session", "gatehouse_browser"}
        assert "code" in browser.authorize().query


@pytest.mark.parametrize("forged", ["", "x", "A" * 5000, "é", "0" * 64])
def test_a_made_up_cookie_is_nobody(browser: Browser, forged: str) -> None:
    browser.cookies[COOKIE] = forged
    assert browser.authorize(prompt="none").query["error"] == "login_required"


def test_a_ticket_for_something_else_is_no_cookie(browser: Browser, gatehouse: InProcess) -> None:
    page = browser.authorize()
    for other in (page.fields["next"].rpartition("request_uri%3A")[2], page.fields["captchaId"]):
        browser.cookies[COOKIE] = other
        assert browser.authorize(prompt="none").query["error"] == "login_required"
    assert gatehouse.run(gatehouse.service.sessions.of_user(1)) == []


def test_logging_in_again_as_the_same_user_keeps_the_session_and_voids_the_old_cookie(
    browser: Browser, app: Application, gatehouse: InProcess
) -> None:
    browser.sign_in(browser.authorize())
    session, old = session_of(gatehouse, app, browser), browser.cookies[COOKIE]
    gatehouse.clock.move(5)
    browser.sign_in(browser.authorize(prompt="login"))
    assert session_of(gatehouse, app, browser) == session
    assert browser.cookies[COOKIE] != old
    browser.cookies[COOKIE] = old
    assert browser.authorize(prompt="none").query["error"] == "login_required"
    assert len(gatehouse.run(gatehouse.service.sessions.of_user(1))) == 1


def test_logging_in_as_somebody_else_ends_the_old_session_and_its_applications(
    browser: Browser, app: Application, gatehouse: InProcess
) -> None:
    add_person(gatehouse)
    back = browser.sign_in(browser.authorize(scope="openid offline_access"))
    tokens = app.exchange(back.query["code"], code_verifier="").json
    gatehouse.clock.move(5)
    old = session_of(gatehouse, app, browser)
    browser.sign_in(browser.authorize(prompt="login"), "ann")
    assert not lives(gatehouse, old)
    assert session_of(gatehouse, app, browser) != old
    assert app.userinfo(tokens["access_token"]).status == 401
    assert app.refresh(tokens["refresh_token"]).json["error"] == "invalid_grant"


def test_a_failed_login_changes_nothing(browser: Browser, app: Application, gatehouse: InProcess) -> None:
    browser.sign_in(browser.authorize())
    gatehouse.clock.move(5)
    session = session_of(gatehouse, app, browser)
    browser.sign_in(browser.authorize(prompt="login"), password="wrong")
    assert session_of(gatehouse, app, browser) == session


def test_using_it_keeps_it_alive(browser: Browser, gatehouse: InProcess) -> None:
    browser.sign_in(browser.authorize())
    for _ in range(3):
        gatehouse.clock.move(gatehouse.settings.refresh_ttl - 1)
        assert "code" in browser.authorize().query
    gatehouse.clock.move(gatehouse.settings.refresh_ttl + 1)
    assert "captchaCode" in browser.authorize().fields


# Pages with scripts


def test_a_login_by_script_is_one_for_applications(browser: Browser, app: Application, gatehouse: InProcess) -> None:
    tokens = gatehouse.login().data
    assert enter(browser, tokens["accessToken"]).status == 200
    session = session_of(gatehouse, app, browser)
    out = browser.send(
        "POST", f"{browser.url}/api/v1/auth/logout", headers={"authorization": f"Bearer {tokens['accessToken']}"}
    )
    assert out.status == 200
    assert not browser.is_logged_in, "the cookie goes with it"
    assert not lives(gatehouse, session)


def test_a_token_is_needed_for_it(browser: Browser) -> None:
    assert enter(browser, "made-up").status == 401
    assert not browser.is_logged_in


def test_a_second_login_by_script_and_the_session_of_the_browser_end_together(
    browser: Browser, app: Application, gatehouse: InProcess
) -> None:
    browser.sign_in(browser.authorize())
    session, old = session_of(gatehouse, app, browser), browser.cookies[COOKIE]
    gatehouse.clock.move(5)
    tokens = gatehouse.login().data
    for _ in range(2):  # a page that is loaded again
        assert enter(browser, tokens["accessToken"]).status == 200
    assert session_of(gatehouse, app, browser) == session, "applications stay logged in"
    assert browser.cookies[COOKIE] != old
    back = browser.authorize()
    claims = app.read(app.exchange(back.query["code"], code_verifier="").json["id_token"])
    assert claims["auth_time"] == int(gatehouse.clock()), "the newer login counts"
    bearer = {"authorization": f"Bearer {tokens['accessToken']}"}
    browser.send("POST", f"{browser.url}/api/v1/auth/logout", headers=bearer)
    assert not lives(gatehouse, session), "at once"
    assert not browser.is_logged_in


def test_an_older_login_by_script_makes_the_browsers_no_older(
    browser: Browser, app: Application, gatehouse: InProcess
) -> None:
    tokens = gatehouse.login().data
    gatehouse.clock.move(5)
    browser.sign_in(browser.authorize())
    assert enter(browser, tokens["accessToken"]).status == 200
    claims = app.read(app.exchange(browser.authorize().query["code"], code_verifier="").json["id_token"])
    assert claims["auth_time"] == int(gatehouse.clock())


def test_the_end_of_the_browsers_session_ends_the_other(
    browser: Browser, app: Application, gatehouse: InProcess
) -> None:
    browser.sign_in(browser.authorize())
    gatehouse.clock.move(5)
    tokens = gatehouse.login().data
    enter(browser, tokens["accessToken"])
    hint = app.exchange(browser.authorize().query["code"], code_verifier="").json["id_token"]
    browser.open("/oauth2/logout", id_token_hint=hint)
    follow(gatehouse)
    assert gatehouse.me(tokens["accessToken"]).status == 401


def test_a_login_by_script_as_somebody_else_ends_the_old_one(
    browser: Browser, app: Application, gatehouse: InProcess
) -> None:
    add_person(gatehouse)
    browser.sign_in(browser.authorize())
    old = session_of(gatehouse, app, browser)
    enter(browser, gatehouse.login("ann").data["accessToken"])
    assert not lives(gatehouse, old)
    assert session_of(gatehouse, app, browser) != old
    gatehouse.run(gatehouse.service.audit.stop())
    trail = gatehouse.run(gatehouse.service.stores.audit_trail.read(newest=50))
    ended = [(entry.session, entry.reason) for entry in trail if entry.event == Event.SESSION_ENDED]
    assert ended == [(old, "logout")]


def test_the_logout_of_another_session_leaves_the_cookie(browser: Browser, gatehouse: InProcess) -> None:
    browser.sign_in(browser.authorize())
    token = gatehouse.login().data["accessToken"]
    browser.send("POST", f"{browser.url}/api/v1/auth/logout", headers={"authorization": f"Bearer {token}"})
    assert "code" in browser.authorize().query
