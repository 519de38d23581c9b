"""A session that ends, however it does, takes along what hangs on it, and applications hear of it once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jwt
import pytest

from gatehouse.auth.audit import ClientInfo, Event, SessionEndReason
from gatehouse.auth.oauth.session_ends import LEASE_SECONDS, LOOK_SECONDS, SCAN_SECONDS
from gatehouse.auth.passwords.hashing import hash_password
from gatehouse.composition import Service
from gatehouse.stores.database.users import NewUser
from gatehouse.stores.state.protocol import EndRecord, Session
from tests.support.applications import Applications, LogoutReceiver
from tests.support.inprocess import InProcess
from tests.support.running import PASSWORD

pytestmark = [pytest.mark.usefixtures("engines"), pytest.mark.every_engine]

IDLE = 604_800
NEW_PASSWORD = "a wholly different phrase"
BOTH = ("grafana", "gitea")


class Login:
    """Somebody in a browser: the session, its tokens, and what was granted to two applications that want to hear."""

    def __init__(self, gatehouse: InProcess, name: str, clients: list[int]) -> None:
        self.gatehouse = gatehouse
        self.tokens = gatehouse.login(name).data
        claims = jwt.decode(self.tokens["accessToken"], options={"verify_signature": False})
        self.session, self.user = claims["sid"], int(claims["sub"])
        for client in clients:
            gatehouse.run(applications(gatehouse).grant(self.session, client))

    def session_row(self) -> Session:
        return next(
            one
            for one in self.gatehouse.run(self.gatehouse.service.sessions.of_user(self.user))
            if one.id == self.session
        )

    def open_console(self) -> Session:
        service, parent = self.gatehouse.service, self.session_row()
        child, _ = self.gatehouse.run(service.sessions.open(self.user, ClientInfo(), ["pwd"], parent=parent))
        self.gatehouse.run(applications(self.gatehouse).console(self.session, child.id))
        return child

    def is_live(self, session: str | None = None) -> bool:
        status = self.gatehouse.run(self.gatehouse.service.stores.state.session_status(session or self.session))
        return status is not None


def applications(gatehouse: InProcess) -> Applications:
    return Applications(gatehouse.service.stores.database)


@pytest.fixture
def receiver() -> Iterator[LogoutReceiver]:
    with LogoutReceiver() as server:
        yield server


@pytest.fixture
def gatehouse(tmp_path: Path, receiver: LogoutReceiver) -> Iterator[InProcess]:
    with InProcess(tmp_path / "data") as running:
        for task in running.service.tasks:
            task.cancel()  # the test says when each thing happens
        for name in ("ann", "bob"):
            running.run(running.accounts.add_user(NewUser(name, name, hash_password(PASSWORD), 1, 0)))
        yield running


@pytest.fixture
def clients(gatehouse: InProcess, receiver: LogoutReceiver) -> list[int]:
    """Two that want to hear of a logout, the first twice in the list, and one that does not."""
    first = gatehouse.run(applications(gatehouse).add("grafana", logout=receiver.uri("grafana")))
    second = gatehouse.run(applications(gatehouse).add("gitea", logout=receiver.uri("gitea"), id_token_alg="ES256"))
    return [first, first, second, gatehouse.run(applications(gatehouse).add("quiet"))]


@pytest.fixture
def ann(gatehouse: InProcess, clients: list[int]) -> Login:
    return Login(gatehouse, "ann", clients)


def settle(gatehouse: InProcess, service: Service | None = None) -> None:
    """What the background tasks do, until nothing is left."""
    service = service or gatehouse.service
    gatehouse.run(service.oauth.session_ends.follow())
    gatehouse.run(service.outbox.deliver_due())


def ask(login: Login, method: str, path: str, **options: Any) -> None:
    assert login.gatehouse.request(method, f"/api/v1/{path}", **options).status == 200


def admin(gatehouse: InProcess) -> str:
    return str(gatehouse.login().data["accessToken"])


def log_out(login: Login) -> None:
    ask(login, "POST", "auth/logout", token=login.tokens["accessToken"])


def end_it_on_the_account_page(login: Login) -> None:
    elsewhere = login.gatehouse.login("ann").data["accessToken"]
    ask(login, "DELETE", f"users/me/sessions/{login.session}", token=elsewhere)


def end_all_others_on_the_account_page(login: Login) -> None:
    ask(login, "DELETE", "users/me/sessions", token=login.gatehouse.login("ann").data["accessToken"])


def end_it_as_administrator(login: Login) -> None:
    ask(login, "DELETE", f"sessions/{login.session}", token=admin(login.gatehouse))


def disable(login: Login) -> None:
    body = {"username": "ann", "nickname": "Ann", "deptId": 1, "roleIds": [], "status": 0}
    ask(login, "PUT", f"users/{login.user}", body=body, token=admin(login.gatehouse))


def delete(login: Login) -> None:
    ask(login, "DELETE", f"users/{login.user}", token=admin(login.gatehouse))


def reuse(login: Login) -> None:
    second = login.gatehouse.refresh(login.tokens["refreshToken"]).data
    login.gatehouse.refresh(second["refreshToken"])
    assert login.gatehouse.refresh(login.tokens["refreshToken"]).code == "A0231"


def change_the_password_elsewhere(login: Login) -> None:
    body = {"currentPassword": PASSWORD, "newPassword": NEW_PASSWORD}
    elsewhere = login.gatehouse.login("ann").data["accessToken"]
    ask(login, "PUT", "users/me/password", body=body, token=elsewhere)


def set_the_password(login: Login) -> None:
    login.gatehouse.run(login.gatehouse.accounts.set_password("ann", hash_password(NEW_PASSWORD)))


def hear_it_from_the_provider(login: Login) -> None:
    sessions = login.gatehouse.service.sessions
    login.gatehouse.run(sessions.end(login.session, SessionEndReason.PROVIDER, ClientInfo()))


@pytest.mark.parametrize(
    "end",
    [
        log_out, end_it_on_the_account_page, end_all_others_on_the_account_page, end_it_as_administrator,
        disable, delete, reuse, change_the_password_elsewhere, set_the_password, hear_it_from_the_provider,
    ],
)  # fmt: skip
def test_each_application_hears_once_of_a_session_that_ends(
    gatehouse: InProcess, clients: list[int], ann: Login, receiver: LogoutReceiver, end: Callable[[Login], None]
) -> None:
    bob = Login(gatehouse, "bob", clients)
    settle(gatehouse)
    assert receiver.posts == []
    end(ann)
    for _ in range(3):
        settle(gatehouse)
    assert {name: receiver.heard(name) for name in BOTH} == {name: {ann.session: 1} for name in BOTH}
    assert receiver.heard("quiet") == {}
    assert gatehouse.run(gatehouse.service.stores.grants.of_session(ann.session)) == []
    assert len(gatehouse.run(gatehouse.service.stores.grants.of_session(bob.session))) == 4
    assert bob.is_live()


def test_the_logout_token_says_which_session_of_whom_and_is_for_one_application(
    gatehouse: InProcess, ann: Login, receiver: LogoutReceiver
) -> None:
    log_out(ann)
    settle(gatehouse)
    jwks = gatehouse.request("GET", "/.well-known/jwks.json").json
    for name, algorithm in zip(BOTH, ("RS256", "ES256"), strict=True):
        [token] = [token for path, token in receiver.posts if path == f"/{name}"]
        header = jwt.get_unverified_header(token)
        assert (header["typ"], header["alg"]) == ("logout+jwt", algorithm)
        key = next(key for key in jwt.PyJWKSet.from_dict(jwks).keys if key.key_id == header["kid"])
        claims = jwt.decode(
            token, key, audience=name, issuer=gatehouse.settings.public_url, options={"verify_iat": False}
        )
        now = int(gatehouse.clock())
        assert {key: claims[key] for key in ("sub", "sid", "iat", "exp", "events")} == {
            "sub": str(ann.user),
            "sid": ann.session,
            "iat": now,
            "exp": now + 120,
            "events": {"http://schemas.openid.net/event/backchannel-logout": {}},
        }
        assert "nonce" not in claims
    assert len({claims["jti"] for name in BOTH for claims in receiver.tokens(name)}) == 2


def test_a_logout_token_is_no_token_of_ours(gatehouse: InProcess, ann: Login, receiver: LogoutReceiver) -> None:
    """An application that hands its token back to us gets nothing for it."""
    log_out(ann)
    settle(gatehouse)
    [(_, token), *_] = receiver.posts
    assert gatehouse.me(token).code == "A0230"
    assert gatehouse.refresh(token).code == "A0231"
    assert gatehouse.run(gatehouse.service.oauth.id_tokens.read_hint(token)) is None


def test_the_trail_has_each_application_that_was_told(gatehouse: InProcess, ann: Login) -> None:
    log_out(ann)
    settle(gatehouse)
    gatehouse.run(gatehouse.service.audit.stop())
    found = gatehouse.run(gatehouse.service.stores.audit_trail.read(events=[Event.APPLICATION_LOGGED_OUT]))
    assert sorted((entry.user, entry.session, entry.detail) for entry in found) == [
        (ann.user, ann.session, f'{{"client":"{name}","attempts":1}}') for name in sorted(BOTH)
    ]


# Consoles that were opened from a session


@pytest.mark.parametrize("end", [log_out, end_it_as_administrator, disable, reuse, hear_it_from_the_provider])
def test_the_end_of_a_login_ends_the_consoles_opened_from_it(
    gatehouse: InProcess, ann: Login, end: Callable[[Login], None]
) -> None:
    consoles = [ann.open_console(), ann.open_console()]
    other = Login(gatehouse, "bob", [])
    end(ann)
    settle(gatehouse)
    assert [ann.is_live(console.id) for console in consoles] == [False, False]
    assert other.is_live()


@pytest.mark.parametrize("reason", [SessionEndReason.LOGOUT, SessionEndReason.OPERATOR, SessionEndReason.REUSE])
def test_a_logout_in_a_console_ends_the_login_it_was_opened_from(
    gatehouse: InProcess, ann: Login, receiver: LogoutReceiver, reason: SessionEndReason
) -> None:
    console, sibling = ann.open_console(), ann.open_console()
    gatehouse.run(gatehouse.service.sessions.end(console.id, reason, ClientInfo()))
    settle(gatehouse)
    assert [ann.is_live(), ann.is_live(sibling.id)] == [False, False]
    assert {name: receiver.heard(name) for name in BOTH} == {name: {ann.session: 1} for name in BOTH}
    assert gatehouse.service.audit.counts["session.ended", reason] == 3


@pytest.mark.parametrize("reason", [SessionEndReason.LIMIT, SessionEndReason.USER])
def test_a_console_that_is_ended_alone_leaves_its_login(
    gatehouse: InProcess, ann: Login, receiver: LogoutReceiver, reason: SessionEndReason
) -> None:
    console, sibling = ann.open_console(), ann.open_console()
    gatehouse.run(gatehouse.service.sessions.end(console.id, reason, ClientInfo()))
    settle(gatehouse)
    assert [ann.is_live(), ann.is_live(sibling.id)] == [True, True]
    assert receiver.posts == []
    log_out(ann)
    settle(gatehouse)
    assert not ann.is_live(sibling.id)


@pytest.mark.parametrize("acting", ["login", "console"])
def test_whoever_ends_all_other_sessions_stays(
    gatehouse: InProcess, ann: Login, receiver: LogoutReceiver, acting: str
) -> None:
    """At our page as in a console that was opened from it; so it is with a changed password."""
    console = ann.open_console()
    kept, other = (ann.session, console.id) if acting == "login" else (console.id, ann.session)
    for reason in (SessionEndReason.USER, SessionEndReason.PASSWORD):
        gatehouse.run(gatehouse.service.sessions.end_all(ann.user, reason, ClientInfo(), except_session=kept))
        for _ in range(2):
            settle(gatehouse)
        assert [ann.is_live(kept), ann.is_live(other)] == [True, False]
    assert receiver.heard("grafana") == ({} if acting == "login" else {ann.session: 1})


def test_a_session_beyond_the_limit_takes_its_grants_along_and_leaves_its_consoles(
    gatehouse: InProcess, ann: Login, receiver: LogoutReceiver
) -> None:
    console = ann.open_console()
    gatehouse.run(gatehouse.service.sessions.end(ann.session, SessionEndReason.LIMIT, ClientInfo()))
    settle(gatehouse)
    assert receiver.heard("grafana") == {ann.session: 1}
    assert ann.is_live(console.id)


# Who follows, and from where


def test_two_nodes_follow_and_tell_once(gatehouse: InProcess, clients: list[int], receiver: LogoutReceiver) -> None:
    other = second_node(gatehouse)
    people = [Login(gatehouse, "ann", clients) for _ in range(6)]
    for person in people:
        log_out(person)
        gatehouse.run(together(gatehouse.service, other))
        gatehouse.clock.move(LEASE_SECONDS)
    gatehouse.run(together(gatehouse.service, other))
    gatehouse.run(other.stop())
    assert {name: receiver.heard(name) for name in BOTH} == {name: {p.session: 1 for p in people} for name in BOTH}


def second_node(gatehouse: InProcess) -> Service:
    """Without background tasks of its own."""
    other = Service(gatehouse.settings, gatehouse.clock)
    gatehouse.run(other.key_ring.load())
    return other


async def together(*services: Service) -> None:
    await asyncio.gather(*(service.oauth.session_ends.follow() for service in services for _ in range(2)))
    await asyncio.gather(*(service.outbox.deliver_due() for service in services))


def test_another_worker_takes_over_when_the_one_that_follows_is_gone(
    gatehouse: InProcess, ann: Login, clients: list[int], receiver: LogoutReceiver
) -> None:
    other = second_node(gatehouse)
    log_out(ann)
    settle(gatehouse, other)  # has the lease now, and is never heard of again
    gatehouse.run(other.stop())
    again = Login(gatehouse, "ann", clients)
    log_out(again)
    settle(gatehouse)
    assert receiver.heard("grafana") == {ann.session: 1}
    gatehouse.clock.move(LEASE_SECONDS)
    settle(gatehouse)
    assert receiver.heard("grafana") == {ann.session: 1, again.session: 1}


def test_without_grants_nothing_is_read(gatehouse: InProcess, ann: Login) -> None:
    ends, state = gatehouse.service.oauth.session_ends, gatehouse.service.stores.state

    def read() -> int:
        before = sum(state.counts().values())
        gatehouse.run(ends.follow())
        return sum(state.counts().values()) - before

    log_out(ann)
    settle(gatehouse)
    log_out(Login(gatehouse, "ann", []))
    settle(gatehouse)
    log_out(Login(gatehouse, "ann", []))
    assert read() == 0


def test_grants_that_another_node_has_written_are_noticed(
    gatehouse: InProcess, clients: list[int], receiver: LogoutReceiver
) -> None:
    settle(gatehouse)
    ann = Login(gatehouse, "ann", clients)  # the store of the test wrote its grants
    log_out(ann)
    settle(gatehouse)
    assert receiver.posts == []
    gatehouse.clock.move(LOOK_SECONDS)
    settle(gatehouse)
    assert receiver.heard("grafana") == {ann.session: 1}


def test_entries_that_were_missed_are_made_up_for(
    gatehouse: InProcess, clients: list[int], ann: Login, receiver: LogoutReceiver
) -> None:
    """The log was lost with its name, and so was the entry; the grants whose session is gone are found."""
    settle(gatehouse)
    log_out(ann)
    settle(gatehouse)
    lost, stays = Login(gatehouse, "ann", clients), Login(gatehouse, "bob", clients)
    state = gatehouse.service.stores.state
    gatehouse.run(state.end_session(lost.session))  # not logged
    name = gatehouse.run(state.value("ended sessions", gatehouse.clock()))
    assert gatehouse.run(state.compare_and_set("ended sessions", name, "0" * 12, gatehouse.clock() + 9999, 0.0))
    log_out(Login(gatehouse, "ann", []))
    for _ in range(2):
        settle(gatehouse)
    assert receiver.heard("grafana") == {ann.session: 1, lost.session: 1}
    assert stays.is_live()
    log_out(stays)
    settle(gatehouse)
    assert receiver.heard("grafana")[stays.session] == 1


def test_an_end_that_was_never_logged_is_found_within_the_hour(
    gatehouse: InProcess, ann: Login, receiver: LogoutReceiver
) -> None:
    """As on a Redis Cluster whose node was killed between the end and its entry."""
    gatehouse.run(gatehouse.service.oauth.session_ends.scan())
    gatehouse.run(gatehouse.service.stores.state.end_session(ann.session))
    settle(gatehouse)
    gatehouse.run(gatehouse.service.oauth.session_ends.scan())
    assert receiver.posts == []
    gatehouse.clock.move(SCAN_SECONDS)
    gatehouse.run(gatehouse.service.prune_audit())
    settle(gatehouse)
    assert receiver.heard("grafana") == {ann.session: 1}


def test_what_hangs_on_an_expired_session_is_removed_without_a_word(
    gatehouse: InProcess, ann: Login, receiver: LogoutReceiver
) -> None:
    console = ann.open_console()
    gatehouse.clock.move(IDLE - 10)
    gatehouse.run(gatehouse.service.sessions.touch(console.id))
    gatehouse.clock.move(10)
    gatehouse.run(gatehouse.service.oauth.session_ends.scan())
    settle(gatehouse)
    assert gatehouse.run(gatehouse.service.stores.grants.of_session(ann.session)) == []
    assert receiver.posts == []
    assert ann.is_live(console.id)


def test_a_reason_that_only_a_later_release_knows_is_a_logout(gatehouse: InProcess, ann: Login) -> None:
    console = ann.open_console()
    end_record = EndRecord(gatehouse.clock(), "some day", 9999)
    gatehouse.run(gatehouse.service.stores.state.end_session(ann.session, end_record))
    settle(gatehouse)
    assert not ann.is_live(console.id)
    assert gatehouse.service.audit.counts["session.ended", "logout"] == 1
