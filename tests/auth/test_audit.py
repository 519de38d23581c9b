"""The audit trail: what happened, to whom, whence and why; and that recording holds up nobody."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gatehouse.auth import audit
from gatehouse.auth.audit import Caller, Event, SessionEnd
from gatehouse.stores.accounts.audit_trail import AuditEntry
from tests.support.inprocess import InProcess
from tests.support.running import PASSWORD


@pytest.fixture
def gatehouse(tmp_path: Path) -> Iterator[InProcess]:
    with InProcess(tmp_path / "data", sessions_per_user=2, limits="on", limit_login_name="3/minute") as running:
        yield running


def trail(gatehouse: InProcess) -> list[AuditEntry]:
    """Everything recorded so far, written or still queued."""
    return [*gatehouse.run(gatehouse.service.trail.read()), *gatehouse.service.audit._queue]


def ends(gatehouse: InProcess) -> list[str | None]:
    return [entry.reason for entry in trail(gatehouse) if entry.event == Event.SESSION_ENDED]


def test_a_login_says_who_whence_and_when(gatehouse: InProcess) -> None:
    answer = gatehouse.login(address="203.0.113.9")
    [entry] = [entry for entry in trail(gatehouse) if entry.event == Event.LOGIN]
    assert (entry.at, entry.user, entry.address) == (gatehouse.clock(), 1, "203.0.113.9")
    assert entry.request == answer.headers["x-request-id"]
    assert entry.session is not None
    assert entry.session.startswith("1-")


def test_failures_say_why_and_name_only_those_who_exist(gatehouse: InProcess) -> None:
    gatehouse.login(password="wrong")
    gatehouse.login(username="nobody")
    gatehouse.login(changes={"captchaCode": "zzzz"})
    gatehouse.login(changes={"captchaId": "00000000-0000-0000-0000-000000000000"})
    failed = [(entry.user, entry.reason) for entry in trail(gatehouse) if entry.event == Event.LOGIN_FAILED]
    assert failed == [(1, "password"), (None, "unknown_name"), (None, "captcha_wrong"), (None, "captcha_gone")]
    assert "nobody" not in str(trail(gatehouse)), "what was typed as a name may have been a password"


def test_a_lock_is_an_event(gatehouse: InProcess) -> None:
    for _ in range(3):
        gatehouse.login(password="wrong")
    assert [entry.detail for entry in trail(gatehouse) if entry.event == Event.LOGIN_LOCKED] == ['{"seconds":30}']


def test_the_lock_of_a_password_change_is_an_event(gatehouse: InProcess) -> None:
    tokens = gatehouse.login().data
    session = gatehouse.run(gatehouse.service.sessions.of(1))[0].id
    body = {"currentPassword": "wrong", "newPassword": "a quite new password"}
    for _ in range(4):
        gatehouse.request("PUT", "/api/v1/users/me/password", token=tokens["accessToken"], body=body)
    entries = [(entry.event, entry.user, entry.session, entry.reason) for entry in trail(gatehouse)][1:]
    assert entries == [
        *[(Event.LOGIN_FAILED, 1, session, "password")] * 3,
        (Event.LOGIN_LOCKED, 1, session, None),
        (Event.LOGIN_FAILED, 1, session, "waiting"),
    ]


@pytest.mark.parametrize(("username", "user"), [("admin", 1), ("nobody", None)])
def test_tries_while_a_name_must_wait_are_recorded(gatehouse: InProcess, username: str, user: int | None) -> None:
    for _ in range(5):
        gatehouse.login(username, "wrong")
    waiting = [entry.user for entry in trail(gatehouse) if entry.reason == "waiting"]
    assert waiting == [user, user]


def test_every_end_of_a_session_says_why(gatehouse: InProcess) -> None:
    service, clock = gatehouse.service, gatehouse.clock

    def login() -> dict[str, str]:
        clock.move(1)
        return gatehouse.login().data

    gatehouse.logout(login()["accessToken"])
    first = login()
    second = gatehouse.refresh(first["refreshToken"]).data
    gatehouse.refresh(second["refreshToken"])
    gatehouse.refresh(first["refreshToken"])  # stolen
    idle = login()
    clock.move(604_800)
    gatehouse.refresh(idle["refreshToken"])
    longest = login()
    for _ in range(5):
        clock.move(600_000)
        answer = gatehouse.refresh(longest["refreshToken"])
        longest = answer.data if answer.status == 200 else longest
    login(), login(), login()  # one too many
    session = gatehouse.run(service.sessions.of(1))[0]
    gatehouse.run(service.sessions.end(session.id, SessionEnd.OPERATOR, Caller()))
    mine, _ = login(), login()
    gatehouse.request("DELETE", "/api/v1/users/me/sessions", token=mine["accessToken"])
    gatehouse.run(service.accounts.set_password("admin", "$argon2id$not-a-password"))
    assert ends(gatehouse) == [
        "logout", "reuse", "idle", "absolute", "limit", "operator", "limit", "user", "password",
    ]  # fmt: skip


def test_disabling_and_deleting_are_told_apart(gatehouse: InProcess) -> None:
    gatehouse.login()
    gatehouse.run(gatehouse.service.accounts.disable_user("admin"))
    gatehouse.run(gatehouse.service.accounts.enable_user("admin"))
    gatehouse.login()
    gatehouse.run(gatehouse.service.accounts.delete_user("admin"))
    assert ends(gatehouse) == ["disabled", "deleted"]


def test_a_swept_session_is_recorded_too(gatehouse: InProcess) -> None:
    gatehouse.login()
    gatehouse.clock.move(604_800 + 86_401)
    gatehouse.run(gatehouse.service.sessions.sweep())
    assert ends(gatehouse) == ["idle"]


def test_refreshes_and_password_changes(gatehouse: InProcess) -> None:
    tokens = gatehouse.login().data
    second = gatehouse.refresh(tokens["refreshToken"]).data
    gatehouse.refresh(tokens["refreshToken"])
    gatehouse.refresh("nonsense")
    body = {"currentPassword": PASSWORD, "newPassword": "a quite new password"}
    gatehouse.request("PUT", "/api/v1/users/me/password", token=second["accessToken"], body=body)
    events = [(entry.event, entry.reason) for entry in trail(gatehouse)][1:]
    assert events == [
        (Event.REFRESH, "rotated"),
        (Event.REFRESH, "repeated"),
        (Event.REFRESH_FAILED, "not_ours"),
        (Event.PASSWORD_CHANGED, None),
    ]


def test_events_are_kept_for_the_time_that_is_set(gatehouse: InProcess) -> None:
    gatehouse.login()
    gatehouse.run(gatehouse.service.audit.stop())
    gatehouse.run(gatehouse.service.prune_audit())
    assert len(trail(gatehouse)) == 1
    gatehouse.clock.move(400 * 86_400 + 1)
    gatehouse.run(gatehouse.service.prune_audit())
    assert trail(gatehouse) == []


def test_a_full_queue_loses_events_and_counts_them_and_fails_nobody(
    gatehouse: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "QUEUE_LIMIT", 0)
    assert gatehouse.login().status == 200
    assert gatehouse.service.audit.lost == 1


def test_every_event_has_a_tag_that_fits_its_column() -> None:
    assert all(len(event) <= 40 for event in Event)
    assert len(set(Event)) == len(Event)
