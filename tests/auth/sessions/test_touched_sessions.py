"""Sessions that are used without being refreshed: extended, logged in again, opened from another, kept as grants."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gatehouse.auth.audit import ClientInfo, Event, RefreshFailure, SessionEndReason
from gatehouse.auth.refusals import RefreshTokenInvalid
from gatehouse.stores.state.protocol import EXPIRED_KEPT_SECONDS, GRANT_OWNERS, Session, SessionLogin
from tests.support.inprocess import InProcess

pytestmark = [pytest.mark.usefixtures("engines"), pytest.mark.every_engine]

IDLE, LONGEST = 604_800, 2_592_000
CLIENT = ClientInfo(address="192.0.2.1", user_agent="Browser")


@pytest.fixture
def gatehouse(tmp_path: Path) -> Iterator[InProcess]:
    with InProcess(tmp_path / "data") as running:
        yield running


def opened(gatehouse: InProcess, user: int = 1, parent: Session | None = None) -> Session:
    session, _ = gatehouse.run(gatehouse.service.sessions.open(user, CLIENT, ["pwd"], parent=parent))
    return session


def test_a_touch_extends_as_a_refresh_does_and_no_further(gatehouse: InProcess) -> None:
    sessions, session = gatehouse.service.sessions, opened(gatehouse)
    for _ in range(LONGEST // (IDLE - 1)):
        gatehouse.clock.move(IDLE - 1)
        touched = gatehouse.run(sessions.touch(session.id))
        assert touched is not None
        assert touched.ends == min(gatehouse.clock() + IDLE, session.absolute_end)
    gatehouse.clock.move(IDLE)
    assert gatehouse.run(sessions.touch(session.id, SessionLogin(gatehouse.clock(), "pwd"))) is None


def test_a_session_from_another_is_as_old_and_ends_no_later(gatehouse: InProcess) -> None:
    parent = opened(gatehouse)
    gatehouse.clock.move(LONGEST - IDLE / 2)
    child = opened(gatehouse, parent=parent)
    assert (child.opened, child.absolute_end, child.ends) == (parent.opened, parent.absolute_end, parent.absolute_end)
    assert child.rotated == gatehouse.clock()


def test_the_end_of_a_grant_is_neither_audited_nor_in_the_feed(gatehouse: InProcess) -> None:
    service = gatehouse.service
    reused, ended, expired, replaced = (opened(gatehouse, GRANT_OWNERS + number) for number in (1, 1, 1, 2))
    gatehouse.run(service.sessions.refresh(reused.id, 1, CLIENT))
    gatehouse.run(service.sessions.refresh(reused.id, 2, CLIENT))
    with pytest.raises(RefreshTokenInvalid) as refusal:
        gatehouse.run(service.sessions.refresh(reused.id, 1, CLIENT))
    assert refusal.value.reason == RefreshFailure.REUSE
    assert gatehouse.run(service.sessions.end(ended.id, SessionEndReason.LOGOUT, CLIENT)) is not None
    assert gatehouse.run(service.feeds.ended_sessions.read(None)).entries == []
    gatehouse.clock.move(IDLE + EXPIRED_KEPT_SECONDS)
    while gatehouse.run(service.sessions.sweep()):
        pass
    opened(gatehouse, expired.user)  # Redis removes at the next login what has expired
    with pytest.raises(RefreshTokenInvalid):
        gatehouse.run(service.sessions.refresh(replaced.id, 1, CLIENT))
    assert expired.id not in {one.id for one in gatehouse.run(service.stores.state.sessions_of(expired.user))}
    session = opened(gatehouse)
    gatehouse.run(service.sessions.end(session.id, SessionEndReason.LOGOUT, CLIENT))
    page = gatehouse.run(service.feeds.ended_sessions.read(None))
    assert [entry.session for entry in page.entries] == [session.id]
    gatehouse.run(service.audit.stop())
    trail = gatehouse.run(service.stores.audit_trail.read(newest=100, events=[Event.SESSION_ENDED]))
    assert [entry.session for entry in trail] == [session.id]
