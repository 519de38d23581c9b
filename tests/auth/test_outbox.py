"""A change stands with its event; what state could not be told at once, it is told when it is back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import AsyncMock

import pytest

from gatehouse.auth.outbox import GIVE_UP_SECONDS, LEASE_SECONDS
from gatehouse.auth.passwords.hashing import hash_password
from gatehouse.stores.database.users import NewUser
from gatehouse.stores.errors import StoreUnavailable
from tests.support.inprocess import InProcess
from tests.support.running import PASSWORD

pytestmark = [pytest.mark.usefixtures("engines"), pytest.mark.every_engine]

WRITES = (
    "raise_epochs",
    "end_session",
    "end_sessions_of",
    "open_session",
    "rotate_session",
    "touch_session",
    "compare_and_set",
)


@pytest.fixture
def gatehouse(tmp_path: Path) -> Iterator[InProcess]:
    with InProcess(tmp_path / "data") as running:
        running.run(running.accounts.add_user(NewUser("ann", "Ann", hash_password(PASSWORD), 1, 0)))
        yield running


@contextmanager
def full_state(gatehouse: InProcess) -> Iterator[None]:
    """As with a full disk: it answers reads, and refuses writes."""
    with pytest.MonkeyPatch.context() as patch:
        for operation in WRITES:
            patch.setattr(
                gatehouse.service.stores.state, operation, AsyncMock(side_effect=StoreUnavailable("disk full"))
            )
        yield


def ann(gatehouse: InProcess) -> int:
    return gatehouse.run(gatehouse.accounts.user("ann")).user.id


def stored(gatehouse: InProcess, event: str) -> list[tuple[int | None, int | None]]:
    """User and actor of each such event in the trail itself, not in the queue before it."""
    found = gatehouse.run(gatehouse.service.stores.audit_trail.read(newest=100, events=[event]))
    return [(entry.user, entry.actor) for entry in found]


def disable(gatehouse: InProcess, token: str) -> int:
    body = {"username": "ann", "nickname": "Ann", "deptId": 1, "roleIds": [], "status": 0}
    return gatehouse.request("PUT", f"/api/v1/users/{ann(gatehouse)}", body=body, token=token).status


def deliver(gatehouse: InProcess) -> None:
    gatehouse.clock.move(LEASE_SECONDS)
    gatehouse.run(gatehouse.service.outbox.deliver_due())


def test_a_change_while_state_is_full_is_recorded_and_takes_effect_when_it_is_back(gatehouse: InProcess) -> None:
    admin, session = gatehouse.login().data["accessToken"], gatehouse.login("ann").data
    assert gatehouse.me(session["accessToken"]).status == 200
    with full_state(gatehouse):
        assert disable(gatehouse, admin) == 503
        assert stored(gatehouse, "user.disabled") == [(ann(gatehouse), 1)], "in the trail with the change"
        deliver(gatehouse)
        assert gatehouse.run(gatehouse.service.outbox.backlog()).waiting == 1, "state is still full"
    gatehouse.clock.move(LEASE_SECONDS)
    gatehouse.run(gatehouse.service.outbox.deliver_due())
    assert gatehouse.run(gatehouse.service.outbox.backlog()) == (0, 0)
    assert gatehouse.run(gatehouse.service.sessions.of_user(ann(gatehouse))) == []
    assert gatehouse.me(session["accessToken"]).code == "A0230"
    assert gatehouse.refresh(session["refreshToken"]).code == "A0231"
    assert gatehouse.service.audit.counts["session.ended", "disabled"] == 1


def test_a_grant_while_state_is_full_shows_on_the_next_request_after_it_is_back(gatehouse: InProcess) -> None:
    session = gatehouse.login("ann").data["accessToken"]
    assert gatehouse.me(session).data["roles"] == []
    with full_state(gatehouse), pytest.raises(StoreUnavailable):
        gatehouse.run(gatehouse.accounts.grant("ann", ["ADMIN"]))
    assert stored(gatehouse, "user.changed") == [(ann(gatehouse), None)]
    deliver(gatehouse)
    assert gatehouse.me(session).data["roles"] == ["ADMIN"]


def test_who_logs_in_after_the_change_stays_logged_in_when_it_is_delivered_late(gatehouse: InProcess) -> None:
    before = gatehouse.login("ann").data["accessToken"]
    sessions = gatehouse.service.sessions
    with pytest.MonkeyPatch.context() as patch:

        async def only_before(*given: object, change_pending: bool = False, **named: object) -> object:
            if not change_pending:
                raise StoreUnavailable("disk full")
            return []

        patch.setattr(sessions, "end_all", only_before)
        with pytest.raises(StoreUnavailable):
            gatehouse.run(gatehouse.accounts.set_password("ann", hash_password("a wholly different phrase")))
    gatehouse.clock.move(100)
    after = gatehouse.login("ann", password="a wholly different phrase").data["accessToken"]
    deliver(gatehouse)
    assert gatehouse.me(before).code == "A0230"
    assert gatehouse.me(after).status == 200


def test_a_change_that_is_refused_records_and_delivers_nothing(gatehouse: InProcess) -> None:
    with pytest.raises(Exception, match="one enabled administrator must remain"):
        gatehouse.run(gatehouse.accounts.disable_user("admin"))
    assert stored(gatehouse, "user.disabled") == []
    assert gatehouse.run(gatehouse.service.outbox.backlog()) == (0, 0)


def test_a_delivery_that_fails_for_days_is_given_up_and_recorded(gatehouse: InProcess) -> None:
    with full_state(gatehouse):
        with pytest.raises(StoreUnavailable):
            gatehouse.run(gatehouse.accounts.disable_user("ann"))
        deliver(gatehouse)
        gatehouse.clock.move(GIVE_UP_SECONDS)
        deliver(gatehouse)
        assert gatehouse.service.audit.counts["delivery.given_up", ""] == 1
        assert gatehouse.run(gatehouse.service.outbox.backlog()) == (0, 1)


def test_of_two_nodes_one_gets_a_delivery(gatehouse: InProcess) -> None:
    with full_state(gatehouse), pytest.raises(StoreUnavailable):
        gatehouse.run(gatehouse.accounts.disable_user("ann"))
    gatehouse.clock.move(LEASE_SECONDS)
    store, now = gatehouse.service.outbox._store, gatehouse.clock()

    async def claim_twice() -> list[object]:
        return [await store.claim(now, now + LEASE_SECONDS), await store.claim(now, now + LEASE_SECONDS)]

    first, second = gatehouse.run(claim_twice())
    assert (first is not None, second) == (True, None)
