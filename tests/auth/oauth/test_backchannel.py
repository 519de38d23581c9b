"""Back-channel logout to applications that are away, slow, wrong or gone: nothing is lost, nobody holds up another."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from sqlalchemy import delete, update

from gatehouse.auth.audit import ClientInfo, Event, SessionEndReason
from gatehouse.auth.oauth.definitions import ClientConfig
from gatehouse.auth.outbox import GIVE_UP_SECONDS, MAX_FOR_RECIPIENT, RECIPIENT_MAX_PAUSE_SECONDS
from gatehouse.composition.service import REFUSED_KEPT_SECONDS
from gatehouse.doctor.diagnosis import diagnose
from gatehouse.messages import in_language
from gatehouse.stores.database.schema import oauth_clients
from tests.support.applications import Applications, LogoutReceiver
from tests.support.inprocess import Clock, InProcess
from tests.support.waiting import async_wait_until


@pytest.fixture
def receiver() -> Iterator[LogoutReceiver]:
    with LogoutReceiver() as server:
        yield server


@pytest.fixture
def gatehouse(tmp_path: Path) -> Iterator[InProcess]:
    with InProcess(tmp_path / "data") as running:
        for task in running.service.tasks:
            task.cancel()  # the test says when each thing happens
        yield running


@pytest.fixture
def grafana(gatehouse: InProcess, receiver: LogoutReceiver) -> int:
    return add(gatehouse, receiver, "grafana")


def add(gatehouse: InProcess, receiver: LogoutReceiver, name: str) -> int:
    return gatehouse.run(Applications(gatehouse.service.stores.database).add(name, logout=receiver.uri(name)))


def end_session(gatehouse: InProcess, *clients: int) -> str:
    """One that these applications were granted something in."""

    async def work() -> str:
        session, _ = await gatehouse.service.sessions.open(1, ClientInfo(), ["pwd"])
        for client in clients:
            await Applications(gatehouse.service.stores.database).grant(session.id, client)
        await gatehouse.service.sessions.end(session.id, SessionEndReason.LOGOUT, ClientInfo())
        await gatehouse.service.stores.grants.any()  # which the test has written
        await gatehouse.service.oauth.session_ends.follow()
        return session.id

    return gatehouse.run(work())


def deliver(gatehouse: InProcess, *, after: float = 0) -> None:
    gatehouse.clock.move(after)
    gatehouse.run(gatehouse.service.outbox.deliver_due())


def findings(gatehouse: InProcess) -> list[str]:
    """What doctor says about recipients."""

    async def texts() -> list[str]:
        found = [each async for each in diagnose(gatehouse.service) if each.check == "outbox" and each.level != "ok"]
        return [str(in_language(each.found, "en")) for each in found]

    return gatehouse.run(texts())


def given_up(gatehouse: InProcess) -> list[str | None]:
    gatehouse.run(gatehouse.service.audit.stop())
    found = gatehouse.run(gatehouse.service.stores.audit_trail.read(events=[Event.DELIVERY_GIVEN_UP]))
    return [entry.detail for entry in found]


def test_an_application_that_is_away_hears_it_when_it_is_back(
    gatehouse: InProcess, receiver: LogoutReceiver, grafana: int
) -> None:
    receiver.stop()
    session = end_session(gatehouse, grafana)
    deliver(gatehouse)
    [found] = findings(gatehouse)
    assert found.startswith("application grafana has not taken 1 logout yet and refused 0: cannot be reached: ")
    for _ in range(5):
        deliver(gatehouse, after=RECIPIENT_MAX_PAUSE_SECONDS)
    receiver.start()
    deliver(gatehouse, after=RECIPIENT_MAX_PAUSE_SECONDS)
    deliver(gatehouse, after=RECIPIENT_MAX_PAUSE_SECONDS)
    assert receiver.heard("grafana") == {session: 1}
    assert findings(gatehouse) == []


def test_a_restart_of_gatehouse_loses_nothing(tmp_path: Path, receiver: LogoutReceiver) -> None:
    """Neither what the log has and nobody has followed, nor what waits for an application."""
    clock = Clock()
    receiver.stop()
    with InProcess(tmp_path / "data", clock) as gatehouse:
        client = add(gatehouse, receiver, "grafana")
        waiting = end_session(gatehouse, client)
        deliver(gatehouse)
        session, _ = gatehouse.run(gatehouse.service.sessions.open(1, ClientInfo(), ["pwd"]))
        gatehouse.run(Applications(gatehouse.service.stores.database).grant(session.id, client))
        gatehouse.run(gatehouse.service.sessions.end(session.id, SessionEndReason.LOGOUT, ClientInfo()))
    receiver.start()
    clock.move(RECIPIENT_MAX_PAUSE_SECONDS)
    with InProcess(tmp_path / "data", clock) as gatehouse:
        gatehouse.run(gatehouse.service.oauth.session_ends.follow())
        deliver(gatehouse)
        deliver(gatehouse, after=RECIPIENT_MAX_PAUSE_SECONDS)
    assert receiver.heard("grafana") == {waiting: 1, session.id: 1}


@pytest.mark.parametrize("status", [500, 502, 503, 408, 425, 429])
def test_what_may_pass_is_tried_again_with_the_same_jti_and_a_fresh_time(
    gatehouse: InProcess, receiver: LogoutReceiver, grafana: int, status: int
) -> None:
    receiver.answers["/grafana"] = status
    session = end_session(gatehouse, grafana)
    deliver(gatehouse)
    assert f"answers {status}" in findings(gatehouse)[0]
    deliver(gatehouse, after=1)  # too early
    deliver(gatehouse, after=1)
    receiver.answers.clear()
    deliver(gatehouse, after=4)
    deliver(gatehouse, after=99)
    tokens = receiver.tokens("grafana")
    assert [(claims["sid"], claims["jti"]) for claims in tokens] == [(session, tokens[0]["jti"])] * 3
    assert [claims["iat"] - tokens[0]["iat"] for claims in tokens] == [0, 2, 6]
    assert findings(gatehouse) == given_up(gatehouse) == []


@pytest.mark.parametrize("status", [400, 401, 404, 302, 307])
def test_a_refusal_is_given_up_at_once_and_an_operator_sees_whose(
    gatehouse: InProcess, receiver: LogoutReceiver, grafana: int, status: int
) -> None:
    receiver.answers["/grafana"] = status
    end_session(gatehouse, grafana)
    deliver(gatehouse)
    deliver(gatehouse, after=99)
    assert [path for path, _ in receiver.posts] == ["/grafana"], "tried once, and no redirect is followed"
    expected = f"application grafana has not taken 0 logouts yet and refused 1: answers {status}"
    assert findings(gatehouse) == [expected]
    assert given_up(gatehouse) == [
        f'{{"kind":"backchannel-logout","attempts":1,"recipient":"grafana","problem":"answers {status}"}}'
    ]


def test_a_refusal_is_no_finding_any_more_once_the_application_takes_the_next_or_after_a_week(
    gatehouse: InProcess, receiver: LogoutReceiver, grafana: int
) -> None:
    for _ in range(2):
        receiver.answers["/grafana"] = 400
        end_session(gatehouse, grafana)
        deliver(gatehouse)
        assert len(findings(gatehouse)) == 1
        receiver.answers.clear()
        end_session(gatehouse, grafana)
        deliver(gatehouse)
        assert findings(gatehouse) == []
    receiver.answers["/grafana"] = 400
    end_session(gatehouse, grafana)
    deliver(gatehouse)
    gatehouse.clock.move(REFUSED_KEPT_SECONDS - 1)
    gatehouse.run(gatehouse.service.prune_audit())
    assert len(findings(gatehouse)) == 1
    gatehouse.clock.move(2)
    gatehouse.run(gatehouse.service.prune_audit())
    assert findings(gatehouse) == []


def test_an_application_that_is_away_for_days_is_given_up(
    gatehouse: InProcess, receiver: LogoutReceiver, grafana: int
) -> None:
    receiver.stop()
    end_session(gatehouse, grafana)
    deliver(gatehouse)
    deliver(gatehouse, after=GIVE_UP_SECONDS)
    assert "has not taken 0 logouts yet and refused 1: cannot be reached" in findings(gatehouse)[0]
    assert '"recipient":"grafana"' in str(given_up(gatehouse))


def test_one_that_does_not_answer_holds_up_nobody_else(
    gatehouse: InProcess, receiver: LogoutReceiver, grafana: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However much waits for it: a few at a time, and the rest after the first that fails."""
    gitea, number = add(gatehouse, receiver, "gitea"), 3 * MAX_FOR_RECIPIENT
    receiver.go_on["/grafana"] = threading.Event()
    gatehouse.service.oauth.form_post._seconds = 1.0
    with monkeypatch.context() as waiting:
        waiting.setattr(gatehouse.service.outbox, "deliver_soon", lambda: None)
        sessions = [end_session(gatehouse, grafana) for _ in range(number)]
        other = end_session(gatehouse, gitea)

    async def work() -> None:
        delivering = asyncio.create_task(gatehouse.service.outbox.deliver_due())
        await async_wait_until(heard_by_the_other)
        assert not delivering.done()
        await delivering

    async def heard_by_the_other() -> bool:
        return receiver.heard("gitea") == {other: 1}

    gatehouse.run(work())
    assert len(receiver.posts) - 1 == MAX_FOR_RECIPIENT, "the others are not tried in vain"
    [found] = findings(gatehouse)
    assert found == f"application grafana has not taken {number} logouts yet and refused 0: does not answer within 1 s"
    receiver.go_on.pop("/grafana").set()
    for _ in range(3):
        deliver(gatehouse, after=RECIPIENT_MAX_PAUSE_SECONDS)
    assert set(receiver.heard("grafana")) == set(sessions)
    assert gatehouse.service.audit.counts["application.logged_out", ""] == number + 1


def test_an_address_that_is_corrected_counts_at_the_next_attempt(
    gatehouse: InProcess, receiver: LogoutReceiver, grafana: int
) -> None:
    receiver.answers["/grafana"] = 503
    session = end_session(gatehouse, grafana)
    deliver(gatehouse)
    config = msgspec.json.encode(ClientConfig(backchannel_logout_uri=receiver.uri("moved"))).decode()
    change_client(gatehouse, grafana, config)
    deliver(gatehouse, after=2)
    assert receiver.heard("moved") == {session: 1}


@pytest.mark.parametrize("gone", ["application", "address"])
def test_what_nobody_wants_to_hear_any_more_is_dropped(
    gatehouse: InProcess, receiver: LogoutReceiver, grafana: int, gone: str
) -> None:
    receiver.answers["/grafana"] = 503
    end_session(gatehouse, grafana)
    deliver(gatehouse)
    change_client(gatehouse, grafana, None if gone == "application" else "{}")
    deliver(gatehouse, after=2)
    assert len(receiver.posts) == 1
    assert gatehouse.run(gatehouse.service.outbox.recipients()) == []


def change_client(gatehouse: InProcess, number: int, config: str | None) -> None:
    async def work() -> None:
        mine = oauth_clients.c.id == number
        async with gatehouse.service.stores.database.writing() as db:
            if config is None:
                await db.execute(delete(oauth_clients).where(mine))
            else:
                await db.execute(update(oauth_clients).where(mine).values(config=config))

    gatehouse.run(work())


def test_a_configuration_of_a_later_release_is_told_all_the_same(
    gatehouse: InProcess, receiver: LogoutReceiver, grafana: int
) -> None:
    uri = receiver.uri("grafana")
    change_client(gatehouse, grafana, f'{{"backchannel_logout_uri":"{uri}","of_a_later_release":true}}')
    session = end_session(gatehouse, grafana)
    deliver(gatehouse)
    assert receiver.heard("grafana") == {session: 1}


def test_a_stop_lets_what_is_under_way_come_to_its_end(tmp_path: Path, receiver: LogoutReceiver) -> None:
    """Else the next start would tell the application a second time."""
    clock = Clock()
    receiver.go_on["/grafana"] = threading.Event()
    with InProcess(tmp_path / "data", clock) as gatehouse:
        session = end_session(gatehouse, add(gatehouse, receiver, "grafana"))

        async def stopped_meanwhile() -> None:
            await async_wait_until(asked)
            asyncio.get_running_loop().call_later(0.3, receiver.go_on["/grafana"].set)
            await gatehouse.service.outbox.close()

        async def asked() -> bool:
            return bool(receiver.posts)

        gatehouse.run(stopped_meanwhile())
        assert receiver.heard("grafana") == {session: 1}
        later = end_session(gatehouse, 1)
        deliver(gatehouse)
        assert later not in receiver.heard("grafana"), "nothing more is begun"
    clock.move(GIVE_UP_SECONDS / 2)
    with InProcess(tmp_path / "data", clock) as gatehouse:
        deliver(gatehouse)
    assert receiver.heard("grafana") == {session: 1, later: 1}
