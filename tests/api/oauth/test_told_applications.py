"""Applications with real tokens hear that their user's session has ended, and from whom they would not think."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gatehouse.auth.audit import ClientInfo, SessionEndReason
from tests.api.oauth.application import CALLBACK, Application
from tests.api.oauth.flow import Browser
from tests.support.applications import LogoutReceiver
from tests.support.inprocess import Clock, InProcess


@pytest.fixture
def receiver() -> Iterator[LogoutReceiver]:
    with LogoutReceiver() as server:
        yield server


class LoggedIn:
    """One person in one browser, in two applications; the second has two grants."""

    def __init__(self, gatehouse: InProcess, receiver: LogoutReceiver) -> None:
        self.gatehouse = gatehouse
        self.receiver = receiver
        self.browser = Browser(gatehouse)
        self.apps = [Application(gatehouse, name, backchannel_logout_uri=receiver.uri(name)) for name in ("app", "two")]
        self.tokens: list[dict[str, Any]] = []
        for app in (*self.apps, self.apps[1]):
            page = self.browser.authorize(client_id=app.client_id, scope="openid offline_access", redirect_uri=CALLBACK)
            back = page if page.status == 303 else self.browser.sign_in(page)
            self.tokens.append(app.exchange(back.query["code"], code_verifier="").json)
        self.sid = self.apps[0].read(self.tokens[0]["id_token"])["sid"]

    def heard(self) -> list[dict[str, int]]:
        self.gatehouse.run(self.gatehouse.service.oauth.session_ends.follow())
        self.gatehouse.run(self.gatehouse.service.outbox.deliver_due())
        return [dict(self.receiver.heard(app.client_id)) for app in self.apps]


@pytest.fixture
def person(gatehouse: InProcess, receiver: LogoutReceiver) -> LoggedIn:
    return LoggedIn(gatehouse, receiver)


def test_a_logout_at_our_page(person: LoggedIn) -> None:
    person.browser.submit(person.browser.open("/oauth2/logout"), "log-out")
    assert person.heard() == person.heard() == [{person.sid: 1}] * 2


def test_a_logout_in_one_application(person: LoggedIn) -> None:
    person.browser.open("/oauth2/logout", id_token_hint=person.tokens[1]["id_token"])
    assert person.heard() == [{person.sid: 1}] * 2


def test_a_reused_refresh_token_of_one_application(person: LoggedIn) -> None:
    """The one that it was stolen from hears it as well."""
    first = person.tokens[0]["refresh_token"]
    person.apps[0].refresh(first)
    person.gatehouse.clock.move(11)
    person.apps[0].refresh(first)
    assert person.heard() == [{person.sid: 1}] * 2


def test_one_application_that_is_left_on_the_account_page(person: LoggedIn) -> None:
    token = person.gatehouse.login().data["accessToken"]
    path = "/api/v1/users/me/applications/two"
    assert person.gatehouse.request("DELETE", path, token=token).status == 200
    assert person.heard() == [{}, {person.sid: 1}]
    person.browser.submit(person.browser.open("/oauth2/logout"), "log-out")
    assert person.heard() == [{person.sid: 1}] * 2, "the other one has been told before"


def test_a_new_login_in_the_same_session_is_no_end(person: LoggedIn) -> None:
    person.gatehouse.clock.move(5)
    page = person.browser.authorize(client_id="app", prompt="login", redirect_uri=CALLBACK)
    back = person.browser.sign_in(page)
    tokens = person.apps[0].exchange(back.query["code"], code_verifier="").json
    assert person.apps[0].read(tokens["id_token"])["sid"] == person.sid
    assert person.heard() == [{}, {}]


def test_a_shorter_life_of_new_sessions_takes_nothing_from_older_ones(tmp_path: Path, receiver: LogoutReceiver) -> None:
    """They end when they were to end, and until then their applications go on, and hear of a logout."""
    clock = Clock()
    with InProcess(tmp_path / "data", clock) as gatehouse:
        app = Application(gatehouse, backchannel_logout_uri=receiver.uri("app"))
        session = app.session()
        token = app.tokens(session)["refresh_token"]
    clock.move(2 * 86_400)
    with InProcess(tmp_path / "data", clock, session_max=86_400, refresh_ttl=86_400) as gatehouse:
        app.gatehouse = gatehouse
        gatehouse.run(gatehouse.service.prune_audit())
        assert app.refresh(token).status == 200
        gatehouse.run(gatehouse.service.sessions.end(session.id, SessionEndReason.LOGOUT, ClientInfo()))
        gatehouse.run(gatehouse.service.oauth.session_ends.follow())
        gatehouse.run(gatehouse.service.outbox.deliver_due())
    assert receiver.heard("app") == {session.id: 1}
