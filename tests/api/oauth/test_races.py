"""What happens at the same time: a code comes twice, a session ends while tokens are made, refreshes race."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gatehouse.auth.audit import ClientInfo, Event, SessionEndReason
from gatehouse.management.authority import OPERATOR
from gatehouse.management.oauth_clients import ClientDraft
from gatehouse.stores.state.protocol import Session
from tests.api.oauth.application import CALLBACK, SCOPES, VERIFIER, Application
from tests.support.inprocess import Answer, InProcess

pytestmark = [pytest.mark.usefixtures("engines"), pytest.mark.every_engine]


@pytest.fixture
def gatehouse(tmp_path: Path) -> Iterator[InProcess]:
    with InProcess(tmp_path / "data") as running:
        yield running


@pytest.fixture
def app(gatehouse: InProcess) -> Application:
    return Application(gatehouse)


def exchanging(app: Application, code: str) -> Awaitable[Answer]:
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": CALLBACK, "code_verifier": VERIFIER}
    return app.post("/oauth2/token", form)


def refreshing(app: Application, token: str) -> Awaitable[Answer]:
    return app.post("/oauth2/token", {"grant_type": "refresh_token", "refresh_token": token})


def at_once(app: Application, *work: Awaitable[Answer]) -> list[Answer]:
    async def all_of_them() -> list[Answer]:
        return list(await asyncio.gather(*work))

    return app.gatehouse.run(all_of_them())


def before(monkeypatch: pytest.MonkeyPatch, owner: object, name: str, work: Callable[[], Awaitable[Any]]) -> None:
    """Let something happen once just before a method runs."""
    real, done = getattr(owner, name), list[bool]()

    async def first_that(*args: Any, **options: Any) -> Any:
        if not done:
            done.append(True)
            await work()
        return await real(*args, **options)

    monkeypatch.setattr(owner, name, first_that)


def at(app: Application, step: str) -> tuple[object, str]:
    """The method of the service that is called so."""
    part, _, name = step.partition(".")
    service = app.gatehouse.service
    return {"codes": service.oauth.codes, "grants": service.applications.grants, "sessions": service.sessions}[
        part
    ], name


def opens_nothing(app: Application, answers: list[Answer]) -> bool:
    given = [answer.json for answer in answers if answer.status == 200]
    return all(
        app.userinfo(tokens["access_token"]).status == 401 and app.refresh(tokens["refresh_token"]).status == 400
        for tokens in given
    )


def grants(app: Application) -> list[object]:
    return [*app.gatehouse.run(app.gatehouse.service.stores.grants.of_user(1))]


def test_of_many_who_bring_a_code_one_gets_tokens_and_loses_them(app: Application) -> None:
    code = app.code()
    answers = at_once(app, *(exchanging(app, code) for _ in range(8)))
    assert sum(answer.status == 200 for answer in answers) <= 1
    assert opens_nothing(app, answers)
    assert grants(app) == []


@pytest.mark.parametrize("step", ["grants.open", "sessions.live_epoch", "codes.was_reused"])
def test_a_code_that_comes_again_in_between_leaves_nothing(
    app: Application, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """The second one finds the grant not opened yet, or stored, or open."""
    code, seconds = app.code(), []

    async def again() -> None:
        seconds.append(await exchanging(app, code))

    before(monkeypatch, *at(app, step), again)
    answers = [*at_once(app, exchanging(app, code)), *seconds]
    assert len(answers) == 2
    assert opens_nothing(app, answers)
    assert grants(app) == []


@pytest.mark.parametrize("step", ["codes.use", "grants.open", "sessions.live_epoch"])
def test_a_session_that_ends_meanwhile_leaves_no_token(
    app: Application, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    session = app.session()
    before(monkeypatch, *at(app, step), lambda: end(app, session))
    [answer] = at_once(app, exchanging(app, app.code(session)))
    assert (answer.status, answer.json["error"]) == (400, "invalid_grant")
    assert grants(app) == []


@pytest.mark.parametrize("ends", ["switched off", "removed", "left"])
def test_an_application_that_ends_meanwhile_gets_no_token(
    app: Application, monkeypatch: pytest.MonkeyPatch, ends: str
) -> None:
    service = app.gatehouse.service
    app.edit(first_party=False)
    app.gatehouse.run(service.stores.consents.give(1, app.client.id, SCOPES, app.gatehouse.clock()))
    changes = service.management.client_changes
    works: dict[str, Callable[[], Awaitable[Any]]] = {
        "switched off": lambda: changes.edit(OPERATOR, "app", ClientDraft(enabled=False)),
        "removed": lambda: changes.remove(OPERATOR, "app"),
        "left": lambda: service.sign_in.own_applications.leave(1, "app"),
    }
    before(monkeypatch, *at(app, "grants.open"), works[ends])
    [answer] = at_once(app, exchanging(app, app.code()))
    assert (answer.status, answer.json["error"]) == (400, "invalid_grant")
    assert grants(app) == []


def test_a_code_is_worth_nothing_once_its_user_has_left_the_application(app: Application) -> None:
    app.edit(first_party=False)
    consents = app.gatehouse.service.stores.consents
    app.gatehouse.run(consents.give(1, app.client.id, SCOPES, app.gatehouse.clock()))
    codes = app.code(), app.code()
    assert app.exchange(codes[0]).status == 200
    app.gatehouse.run(app.gatehouse.service.sign_in.own_applications.leave(1, "app"))
    answer = app.exchange(codes[1])
    assert (answer.status, answer.json["error"]) == (400, "invalid_grant")
    assert grants(app) == []


def test_one_that_ends_after_the_last_check_finds_the_grant(app: Application, monkeypatch: pytest.MonkeyPatch) -> None:
    """So whoever follows ended sessions tells the application, and what it has got opens nothing."""
    session = app.session()
    before(monkeypatch, *at(app, "codes.was_reused"), lambda: end(app, session))
    answers = at_once(app, exchanging(app, app.code(session)))
    assert answers[0].status == 200
    assert opens_nothing(app, answers)
    assert len(grants(app)) == 1


def test_a_session_that_ends_during_a_refresh_leaves_no_token(
    app: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = app.session()
    tokens = app.tokens(session)
    before(monkeypatch, *at(app, "grants.rotate"), lambda: end(app, session))
    assert opens_nothing(app, at_once(app, refreshing(app, tokens["refresh_token"])))


def test_racing_refreshes_converge(app: Application) -> None:
    token = app.tokens()["refresh_token"]
    answers = at_once(app, *(refreshing(app, token) for _ in range(6)))
    assert [answer.status for answer in answers] == [200] * 6
    assert len({answer.json["refresh_token"] for answer in answers}) == 1


def test_two_tabs_have_a_grant_each(app: Application) -> None:
    session = app.session()
    tabs = [answer.json for answer in at_once(app, *(exchanging(app, app.code(session)) for _ in range(2)))]
    for tab in tabs:
        assert app.refresh(tab["refresh_token"]).status == 200
    assert len({app.read(tab["access_token"])["grant"] for tab in tabs}) == 2


def test_of_many_grants_the_oldest_end_and_one_for_each_application_stays(
    app: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app.gatehouse.service.grant_rotations, "_sessions_per_user", 3)
    session, other = app.session(), Application(app.gatehouse, "other")
    first = other.tokens(session)
    given = []
    for _ in range(5):
        app.gatehouse.clock.move(1)
        given.append(app.tokens(session))
    alive = [app.userinfo(tokens["access_token"]).status for tokens in given]
    assert alive == [401, 401, 200, 200, 200]
    assert other.userinfo(first["access_token"]).status == 401
    assert len(grants(app)) == 4, "three that live, and one by which the other application hears of a logout"


def test_what_happened_is_recorded(app: Application) -> None:
    session = app.session()
    code = app.code(session)
    app.exchange(code)
    app.exchange(code)
    app.revoke(app.tokens(session)["refresh_token"])
    stolen = app.tokens(session)["refresh_token"]
    app.refresh(stolen)
    app.gatehouse.clock.move(11)
    app.refresh(stolen)
    app.gatehouse.run(app.gatehouse.service.audit.stop())
    recorded = app.gatehouse.run(app.gatehouse.service.stores.audit_trail.read())
    told = {Event.GRANT_OPENED, Event.GRANT_ENDED, Event.REFRESH, Event.REFRESH_FAILED, Event.SESSION_ENDED}
    events = [(entry.event, entry.reason) for entry in recorded if entry.event in told]
    assert all(entry.session == session.id and entry.user == 1 for entry in recorded if entry.event in told)
    assert [event for event in events if event[0] != Event.GRANT_OPENED] == [
        (Event.GRANT_ENDED, "code_reused"),
        (Event.GRANT_ENDED, "revoked"),
        (Event.REFRESH, "rotated"),
        (Event.SESSION_ENDED, "reuse"),
        (Event.GRANT_ENDED, "reuse"),
        (Event.REFRESH_FAILED, "reuse"),
    ]
    assert events.count((Event.GRANT_OPENED, None)) == 3


async def end(app: Application, session: Session) -> None:
    await app.gatehouse.service.sessions.end(session.id, SessionEndReason.LOGOUT, ClientInfo())
