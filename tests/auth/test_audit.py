"""The audit trail: what happened, to whom, whence and why; and that recording holds up nobody."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from gatehouse.auth import audit_writer, counted_audit_events
from gatehouse.auth.audit import REASONS, ClientInfo, Event, SessionEndReason
from gatehouse.auth.passwords.hashing import hash_password
from gatehouse.stores.database.audit_trail import AuditEntry
from gatehouse.stores.database.users import NewUser
from gatehouse.stores.state.protocol import Session
from tests.support.inprocess import InProcess
from tests.support.people import change_user
from tests.support.running import PASSWORD
from tests.support.waiting import async_wait_until


@pytest.fixture
def gatehouse(tmp_path: Path) -> Iterator[InProcess]:
    with InProcess(tmp_path / "data", sessions_per_user=2, limits="on", limit_login_name="3/minute") as running:
        yield running


def trail(gatehouse: InProcess) -> list[AuditEntry]:
    """Everything recorded so far. The writer stops: while it writes, an event may be in neither of the two places."""
    gatehouse.run(gatehouse.service.audit.writer.stop())
    return [*gatehouse.run(gatehouse.service.stores.audit_trail.read()), *gatehouse.service.audit.writer.queue]


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
    gatehouse.run(gatehouse.service.audit.stop())
    failed = [(entry.user, entry.reason) for entry in trail(gatehouse) if entry.event == Event.LOGIN_FAILED]
    assert failed == [(1, "password"), (None, "unknown_name"), (None, "captcha_wrong"), (None, "captcha_gone")]
    assert "nobody" not in str(trail(gatehouse)), "what was typed as a name may have been a password"


def test_a_lock_is_an_event(gatehouse: InProcess) -> None:
    for _ in range(3):
        gatehouse.login(password="wrong")
    assert [entry.detail for entry in trail(gatehouse) if entry.event == Event.LOGIN_LOCKED] == ['{"seconds":30}']


def test_the_lock_of_a_password_change_is_an_event(gatehouse: InProcess) -> None:
    tokens = gatehouse.login().data
    session = gatehouse.run(gatehouse.service.sessions.of_user(1))[0].id
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
    session = gatehouse.run(service.sessions.of_user(1))[0]
    gatehouse.run(service.sessions.end(session.id, SessionEndReason.OPERATOR, ClientInfo()))
    mine, _ = login(), login()
    gatehouse.request("DELETE", "/api/v1/users/me/sessions", token=mine["accessToken"])
    gatehouse.run(gatehouse.accounts.set_password("admin", "$argon2id$not-a-password"))
    assert ends(gatehouse) == [
        "logout", "reuse", "idle", "absolute", "limit", "operator", "limit", "user", "password",
    ]  # fmt: skip


def test_disabling_and_deleting_are_told_apart(gatehouse: InProcess) -> None:
    accounts = gatehouse.accounts
    gatehouse.run(accounts.add_user(NewUser("ann", "Ann", hash_password(PASSWORD), 1, 0)))
    gatehouse.login("ann")
    gatehouse.run(accounts.disable_user("ann"))
    gatehouse.run(accounts.enable_user("ann"))
    gatehouse.login("ann")
    gatehouse.run(accounts.delete_user("ann"))
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
    body = {"currentPassword": PASSWORD, "newPassword": "a quite new password"}
    gatehouse.request("PUT", "/api/v1/users/me/password", token=second["accessToken"], body=body)
    events = [(entry.event, entry.reason) for entry in trail(gatehouse) if entry.event != Event.LOGIN]
    # The change is stored with its event, the others a moment later: which comes first depends on the machine.
    assert [each for each in events if each[0] == Event.REFRESH] == [
        (Event.REFRESH, "rotated"),
        (Event.REFRESH, "repeated"),
    ]
    assert events.count((Event.PASSWORD_CHANGED, None)) == 1
    assert len(events) == 3


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
    monkeypatch.setattr(audit_writer, "QUEUE_LIMIT", 0)
    assert gatehouse.login().status == 200
    assert gatehouse.service.audit.lost == 1


def test_every_event_has_a_tag_that_fits_its_column() -> None:
    assert all(len(event) <= 40 for event in Event)
    assert len(set(Event)) == len(Event)


def test_every_reason_is_a_tag_of_its_event(gatehouse: InProcess) -> None:
    """Whatever is recorded: an event has the reasons that are listed for it, or none."""
    tokens = gatehouse.login().data
    gatehouse.refresh("nonsense")
    gatehouse.refresh(tokens["refreshToken"])
    gatehouse.login(password="wrong")
    gatehouse.clock.move(60)
    gatehouse.refresh(tokens["refreshToken"])
    gatehouse.refresh(tokens["refreshToken"])
    late = gatehouse.login().data
    gatehouse.clock.move(604_800)
    gatehouse.refresh(late["refreshToken"])
    gatehouse.run(gatehouse.service.key_rotation.rotate_if_due())
    gatehouse.run(gatehouse.service.audit.stop())
    recorded = trail(gatehouse)
    assert {entry.reason for entry in recorded if entry.event == Event.REFRESH_FAILED} == {
        "not_ours", "no_session", "expired", "reuse",
    }  # fmt: skip
    for entry in recorded:
        event = Event(entry.event)
        assert entry.reason in {None, *REASONS.get(event, ())}, entry
        assert (entry.reason is None) == (event not in REASONS), entry
    assert {reason for _, reason in gatehouse.service.audit.counts} <= {
        "",
        *(tag for tags in REASONS.values() for tag in tags),
    }


def test_reasons_are_tags() -> None:
    tags = [tag for tags in REASONS.values() for tag in tags]
    assert all(re.fullmatch(r"[a-z_]{1,64}", tag) for tag in tags)


def test_a_refresh_by_a_disabled_user_is_a_failure(gatehouse: InProcess) -> None:
    tokens = gatehouse.login().data
    # The moment in which the user is disabled already and the sessions have not ended yet.
    gatehouse.run(change_user(gatehouse.service.stores.database, 1, enabled=False))
    gatehouse.clock.move(61)
    assert gatehouse.refresh(tokens["refreshToken"]).code == "A0231"
    events = [(entry.event, entry.user, entry.reason) for entry in trail(gatehouse)][1:]
    assert events == [(Event.SESSION_ENDED, 1, "disabled"), (Event.REFRESH_FAILED, 1, "disabled")]


def test_a_login_that_ends_because_the_user_was_just_disabled_is_no_login(
    gatehouse: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions = gatehouse.service.sessions
    opened = sessions.open

    async def disabled_meanwhile(
        user: int, client: ClientInfo, methods: Sequence[str]
    ) -> tuple[Session, Sequence[Session]]:
        await change_user(gatehouse.service.stores.database, 1, enabled=False)
        return await opened(user, client, methods)

    monkeypatch.setattr(sessions, "open", disabled_meanwhile)
    assert gatehouse.login().code == "A0210"
    events = [(entry.event, entry.user, entry.reason) for entry in trail(gatehouse)]
    assert events == [(Event.SESSION_ENDED, 1, "disabled"), (Event.LOGIN_FAILED, 1, "disabled")]


@pytest.mark.every_engine
def test_a_row_that_the_database_refuses_does_not_stop_the_trail(tmp_path: Path, engines: None) -> None:
    with InProcess(tmp_path / "data") as gatehouse:
        audit, good = gatehouse.service.audit, []
        for number in range(40):
            client = (
                ClientInfo(address="fe80::1%" + "x" * 100) if number == 7 else ClientInfo(request_id=f"good {number}")
            )
            user = 2**70 if number in {0, 21, 39} else number
            audit.record(Event.LOGIN, client, user=user)
            if number not in {0, 7, 21, 39}:
                good.append(f"good {number}")

        async def is_written() -> bool:
            return not audit.queued

        gatehouse.run(async_wait_until(is_written, "the first rows are written"))
        audit.record(Event.LOGOUT, ClientInfo(request_id="later"))
        gatehouse.run(audit.stop())
        stored = gatehouse.run(gatehouse.service.stores.audit_trail.read())
        assert [entry.request for entry in stored if entry.request] == [*good, "later"]
        assert audit.lost == 40 - len(stored) + 1
        assert audit.lost >= 3


def test_garbage_that_anybody_can_send_is_one_row_for_each_interval(gatehouse: InProcess) -> None:
    for n in range(50):
        gatehouse.request(
            "POST", "/api/v1/auth/refresh-token", body={"refreshToken": f"x{n}"}, address=f"203.0.113.{n % 3}"
        )
    gatehouse.clock.move(300)
    gatehouse.refresh("one more")
    gatehouse.run(gatehouse.service.audit.stop())
    rows = [(entry.event, entry.reason, entry.address, entry.detail) for entry in trail(gatehouse)]
    assert rows == [
        ("refresh.failed", "not_ours", None, '{"count":50,"addresses":3,"seconds":300}'),
        ("refresh.failed", "not_ours", "127.0.0.1", '{"count":1,"addresses":1,"seconds":0}'),
    ]
    assert gatehouse.service.audit.counts["refresh.failed", "not_ours"] == 51, "metrics count each at once"


def test_made_up_captchas_and_wrong_answers_are_aggregated_too(gatehouse: InProcess) -> None:
    for n in range(15):
        gatehouse.login(changes={"captchaId": f"00000000-0000-4000-8000-{n:012}"})
        gatehouse.login(changes={"captchaCode": "zzzz"})
    gatehouse.run(gatehouse.service.audit.stop())
    assert sorted((row.reason or "", row.address, row.detail) for row in trail(gatehouse)) == [
        (reason, "127.0.0.1", '{"count":15,"addresses":1,"seconds":0}') for reason in ("captcha_gone", "captcha_wrong")
    ]


def test_an_interval_ends_by_itself(gatehouse: InProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counted_audit_events, "AGGREGATE_SECONDS", 0.05)
    gatehouse.refresh("nonsense")
    stored = gatehouse.run(async_wait_until(gatehouse.service.stores.audit_trail.read, "the row of the interval"))
    assert [entry.reason for entry in stored] == ["not_ours"]


@pytest.mark.parametrize("name", ["X-Forwarded-For", "Forwarded"])
def test_an_address_with_a_scope_id_is_not_believed(tmp_path: Path, name: str) -> None:
    with InProcess(tmp_path / "data", trusted_proxies="10.0.0.0/8") as gatehouse:
        forwarded = "fe80::1%" + "x" * 100
        value = f'for="[{forwarded}]"' if name == "Forwarded" else forwarded
        assert gatehouse.login(address="10.1.2.3", headers={name: value}).status == 200
        assert [entry.address for entry in trail(gatehouse)] == ["10.1.2.3"]


def test_a_link_local_peer_is_known_without_its_interface(gatehouse: InProcess) -> None:
    gatehouse.login(address="fe80::1%eth0")
    assert [entry.address for entry in trail(gatehouse)] == ["fe80::1"]
