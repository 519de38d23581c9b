"""The feed of ended sessions on the wire: the stream, and poll delivery of security event tokens (RFC 8936)."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest

from gatehouse.api.other_services.ended_session_events import MAX_POLL_SECONDS
from gatehouse.auth.audit import ClientInfo, SessionEndReason
from gatehouse.auth.keys.service_keys import digest, new_service_key
from gatehouse.auth.sessions.ended_sessions_feed import FEED_ID_TTL
from gatehouse.auth.sessions.longest_token_life import MAX_ACCESS_TTL
from gatehouse.auth.sessions.security_event_tokens import CREDENTIAL_CHANGE, SESSION_REVOKED
from gatehouse.common.clock_skew import CLOCK_SKEW_SECONDS
from gatehouse.settings import SettingsError, load
from gatehouse.stores.database.service_keys import ServiceKeyStore
from gatehouse.stores.state.protocol import ENDED_KEPT_SECONDS
from gatehouse.verify import EndedSessions, TokenInvalid
from gatehouse.verify.ended_sessions import MAX_LEEWAY
from tests.support.conversation import LOGOUT, bearer, login
from tests.support.inprocess import InProcess, request_scope
from tests.support.local import Local
from tests.support.people import service_key
from tests.support.rsgi import Protocol
from tests.support.running import Running
from tests.support.waiting import async_wait_until

pytestmark = pytest.mark.every_engine

STREAM = "/events/ended-sessions/stream"
POLL = "/events/poll"

Event = dict[str, Any]


class Listener:
    def __init__(self, answer: httpx.Response) -> None:
        self._lines = answer.iter_lines()

    def __iter__(self) -> Iterator[Event]:
        event: Event = {}
        for line in self._lines:
            name, _, value = line.partition(": ")
            if line:
                event[name] = value
            elif "data" in event:
                yield {**event, "data": json.loads(event["data"])}
                event = {}

    def until(self, kind: str) -> list[Event]:
        """All events up to the next one of a kind."""
        seen = []
        for event in self:
            seen.append(event)
            if event["event"] == kind:
                return seen
        pytest.fail(f"the stream ended before any {kind}: {seen}")


@contextmanager
def listening(running: Local | Running, key: str, **options: Any) -> Iterator[Listener]:
    headers = {**bearer(key), **options.pop("headers", {})}
    with running.client() as client, client.stream("GET", STREAM, headers=headers, **options) as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "text/event-stream"
        yield Listener(answer)


def log_out(client: httpx.Client) -> str:
    tokens = login(client)
    assert client.post(LOGOUT, headers=bearer(tokens)).status_code == 200
    claims = jwt.decode(tokens["accessToken"], options={"verify_signature": False})
    return str(claims["sid"])


def sids(events: list[Event]) -> list[str]:
    return [event["data"]["sid"] for event in events if event["event"] == "ended"]


def test_it_starts_from_now_and_goes_on_from_a_position(service: Local, client: httpx.Client) -> None:
    key, early = service_key(service), log_out(client)
    with listening(service, key) as listener:
        [caught_up] = listener.until("position")
        first = log_out(client)
        [event] = [event for event in listener.until("ended") if event["event"] == "ended"]
        assert event["data"]["sid"] == first
        assert event["data"] == {"sid": first, "sub": "1", "at": event["data"]["at"], "reason": "logout"}
    second = log_out(client)
    for resumed in ({"headers": {"Last-Event-ID": event["id"]}}, {"params": {"after": event["id"]}}):
        with listening(service, key, **resumed) as listener:
            assert sids(listener.until("position")) == [second]
    with listening(service, key, params={"after": caught_up["id"]}) as listener:
        assert sids(listener.until("position")) == [first, second]
    with listening(service, key, params={"after": "oldest"}) as listener:
        assert {early, first, second} <= {*sids(listener.until("position"))}


def test_a_position_of_another_log_is_told_to_be_a_gap(service: Local, client: httpx.Client) -> None:
    ended, key, before = log_out(client), service_key(service), time.time()
    with listening(service, key, params={"after": f"{'0' * 12}:7"}) as listener:
        first, *others = listener.until("position")
        assert first["event"] == "gap"
        assert before <= first["data"]["missing_before"] <= time.time()
        assert ended in sids(others), "and then all that is there"


@pytest.mark.parametrize("place", ["7-1-1", "99999999999999999999", "-", "7", "1-1", "999999999999999999"])
def test_a_place_that_the_engine_does_not_name_is_no_failure(service: Local, place: str) -> None:
    key = service_key(service)
    with listening(service, key) as listener:
        log = listener.until("position")[0]["id"].partition(":")[0]
    with listening(service, key, params={"after": f"{log}:{place}"}) as listener:
        assert listener.until("position")


@pytest.mark.parametrize("after", ["?", "x" * 65, "' OR 1=1", "newest", "\x00"])
def test_what_is_no_position_is_a_400(service: Local, client: httpx.Client, after: str) -> None:
    answer = client.get(STREAM, params={"after": after}, headers=bearer(service_key(service)))
    assert (answer.status_code, answer.json()) == (400, {"error": "invalid_request"})


def test_only_a_service_key_opens_it(service: Local, client: httpx.Client) -> None:
    person = login(client)["accessToken"]
    for headers in ({}, bearer("ghs_" + "x" * 43), bearer(person)):
        for answer in (client.get(STREAM, headers=headers), client.post(POLL, headers=headers, json={})):
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"] == 'Bearer realm="events"'


def test_it_speaks_every_second_and_ends_with_the_service(tmp_path: Path) -> None:
    with Running(tmp_path / "data") as running, listening(running, service_key(running)) as listener:
        events = iter(listener)
        times = [next(events)["data"]["at"] for _ in range(4)]
        assert times == sorted(times)
        stopping = threading.Thread(target=running.stop)
        stopping.start()
        # A worker that is killed at the end of the drain would cut the stream off, and that raises here.
        assert all(event["event"] == "position" for event in events), "and then the end of the stream"
        stopping.join()


def test_listeners_are_bounded_and_leave_when_they_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gatehouse.auth.sessions.ended_sessions_feed.LISTENERS_MAX", 3)
    with InProcess(tmp_path / "data") as gatehouse:
        key = add_key(gatehouse)
        feed = gatehouse.service.feeds.ended_sessions

        async def scenario() -> None:
            with feed.listening(), feed.listening(), feed.listening():
                for answer in (
                    await gatehouse.send("GET", STREAM, token=key),
                    await gatehouse.send("POST", POLL, body={}, token=key),
                ):
                    assert (answer.status, answer.headers["retry-after"]) == (503, "5")
                assert feed._poller is not None
            assert feed._poller is None, "nothing runs when nobody listens"

        gatehouse.run(scenario())


def test_a_listener_is_gone_when_its_client_is(service: Local) -> None:
    key = service_key(service)
    with ExitStack() as stack:
        for _ in range(20):
            stack.enter_context(listening(service, key)).until("position")
    for _ in range(20):  # and the places are free again: of 200 a worker, none is lost
        with listening(service, key) as listener:
            listener.until("position")


# How long an end is kept


def reopened(gatehouse: InProcess, **settings: object) -> InProcess:
    """Another node on the same stores, or the same one after a restart."""
    names = ("database_url", "state_url")
    stores = {name: url for name in names if (url := getattr(gatehouse.settings, name))}
    return InProcess(gatehouse.settings.data_dir, gatehouse.clock, **stores, **settings)


def told(gatehouse: InProcess, key: str) -> list[Event]:
    """All that the stream tells somebody who has just connected."""

    async def listen() -> bytes:
        scope = request_scope("GET", STREAM, {"authorization": f"Bearer {key}"}, "after=oldest")
        protocol, content = Protocol(b""), b""
        answer = asyncio.create_task(gatehouse.app.__rsgi__(scope, protocol))  # type: ignore[arg-type]

        async def caught_up() -> bool:
            nonlocal content
            while not protocol.sent.empty():
                piece = protocol.sent.get()
                content += piece if isinstance(piece, bytes) else b""
            return b"event: position" in content

        await async_wait_until(caught_up, lambda: f"a position: {content!r}")
        answer.cancel()
        await asyncio.gather(answer, return_exceptions=True)
        return content

    return [*Listener(httpx.Response(200, content=gatehouse.run(listen())))]


def test_a_lower_access_ttl_does_not_revive_the_tokens_of_ended_sessions(tmp_path: Path, engines: None) -> None:
    """A token of an hour; a restart with tokens of a minute; a logout; then the sweep and readers, old and new."""
    with InProcess(tmp_path / "data", access_ttl=3600) as before:
        key = add_key(before)
        token = before.login().data["accessToken"]
        follower = EndedSessions("http://127.0.0.1:1/x", key, clock=before.clock)
        tell(follower, told(before, key))
    claims = jwt.decode(token, options={"verify_signature": False})
    with reopened(before, access_ttl=60) as gatehouse:
        assert gatehouse.logout(token).status == 200
        tell(follower, told(gatehouse, key))
        for seconds in (120, 1200, 2200):
            gatehouse.clock.move(seconds)
            gatehouse.run(gatehouse.service._sweep())
            events = told(gatehouse, key)
            assert claims["sid"] in sids(events)
            fresh_follower = EndedSessions("http://127.0.0.1:1/x", key, clock=gatehouse.clock)
            for each in (follower, fresh_follower):
                tell(each, events)
                with pytest.raises(TokenInvalid, match="the session has ended"):
                    each.check(claims["sid"], claims["iat"])


def tell(follower: EndedSessions, events: list[Event]) -> None:
    for event in events:
        follower._handle_event(event["event"], event["id"], event["data"])


def keep(gatehouse: InProcess, key: str) -> int:
    return int(told(gatehouse, key)[-1]["data"]["keep"])


DAY = 86_400


def test_what_a_follower_shall_keep_is_the_longest_life_in_force_on_any_node(tmp_path: Path, engines: None) -> None:
    with InProcess(tmp_path / "data", access_ttl=600) as one:
        key = add_key(one)
        assert keep(one, key) == DAY + 60, "what a release before has issued is not known"
        one.clock.move(DAY + 60)
        one.run(one.service._sweep())
        assert keep(one, key) == 660
        with reopened(one, access_ttl=3600) as other:
            one.run(one.service._sweep())
            assert keep(one, key) == keep(other, key) == 3660
            for _ in range(5):  # as long as it runs
                one.clock.move(DAY)
                for node in (other, one):
                    node.run(node.service._sweep())
                assert keep(one, key) == 3660
        one.clock.move(3600)
        one.run(one.service._sweep())
        assert keep(one, key) == 3660, "its last token has only just expired"
        for _ in range(3):
            one.clock.move(DAY)
            one.run(one.service._sweep())
        assert keep(one, key) == 660


def test_no_setting_allows_a_token_that_outlives_its_entry_in_the_log() -> None:
    load({"access_ttl": str(MAX_ACCESS_TTL)}, environ={})
    with pytest.raises(SettingsError):
        load({"access_ttl": str(MAX_ACCESS_TTL + 1)}, environ={})
    assert MAX_ACCESS_TTL + CLOCK_SKEW_SECONDS + MAX_LEEWAY < ENDED_KEPT_SECONDS


# Poll delivery


def add_key(gatehouse: InProcess) -> str:
    key = new_service_key()
    gatehouse.run(ServiceKeyStore(gatehouse.service.stores.database).add(f"poll-{key[-6:]}", digest(key), 0))
    return key


class Recipient:
    def __init__(self, gatehouse: InProcess) -> None:
        self.gatehouse = gatehouse
        self.key = add_key(gatehouse)

    def poll(self, **asked: Any) -> tuple[dict[str, Event], bool]:
        body = {"returnImmediately": True, **asked}
        answer = self.gatehouse.request("POST", POLL, body=body, token=self.key)
        assert answer.status == 200, answer.content
        keys = {key["kid"]: key for key in self.gatehouse.request("GET", "/.well-known/jwks.json").json["keys"]}
        tokens = {}
        for jti, token in answer.json["sets"].items():
            header = jwt.get_unverified_header(token)
            assert header["typ"] == "secevent+jwt"
            tokens[jti] = jwt.decode(
                token, jwt.PyJWK(keys[header["kid"]]), algorithms=["ES256"], audience="gatehouse",
                options={"verify_iat": False},
            )  # fmt: skip
            assert tokens[jti]["jti"] == jti
            assert "exp" not in tokens[jti]
            assert "sub" not in tokens[jti]
            assert self.gatehouse.me(token).code == "A0230", "it is no access token"
        return tokens, answer.json["moreAvailable"]


@pytest.fixture
def gatehouse(tmp_path: Path, engines: None) -> Iterator[InProcess]:
    with InProcess(tmp_path / "data") as running:
        yield running


def log_out_of(gatehouse: InProcess) -> str:
    token = gatehouse.login().data["accessToken"]
    assert gatehouse.logout(token).status == 200
    return str(jwt.decode(token, options={"verify_signature": False})["sid"])


def test_a_logout_is_a_session_revoked_event(gatehouse: InProcess) -> None:
    recipient, sid = Recipient(gatehouse), log_out_of(gatehouse)
    tokens, more = recipient.poll()
    [claims] = tokens.values()
    issuer = gatehouse.settings.public_url
    assert not more
    assert claims["iss"] == issuer
    assert claims["sub_id"] == {
        "format": "complex",
        "user": {"format": "iss_sub", "iss": issuer, "sub": "1"},
        "session": {"format": "opaque", "id": sid},
    }
    assert claims["events"] == {
        SESSION_REVOKED: {
            "event_timestamp": int(gatehouse.clock()),
            "initiating_entity": "user",
            "reason_admin": {"en": "logout"},
        }
    }


@pytest.mark.parametrize(
    ("reason", "entity", "change"),
    [
        (SessionEndReason.PASSWORD, "user", "update"),
        (SessionEndReason.DISABLED, "admin", "revoke"),
        (SessionEndReason.DELETED, "admin", "revoke"),
    ],
)
def test_a_changed_password_and_a_disabled_user_are_credential_changes(
    gatehouse: InProcess, reason: SessionEndReason, entity: str, change: str
) -> None:
    recipient = Recipient(gatehouse)
    gatehouse.login()
    gatehouse.run(gatehouse.service.sessions.end_all(1, reason, ClientInfo()))
    tokens, _ = recipient.poll()
    credential, revoked = tokens.values()
    assert credential["sub_id"] == {"format": "iss_sub", "iss": gatehouse.settings.public_url, "sub": "1"}
    event = credential["events"][CREDENTIAL_CHANGE]
    assert (event["credential_type"], event["change_type"], event["initiating_entity"]) == ("password", change, entity)
    assert list(revoked["events"]) == [SESSION_REVOKED]


def test_what_is_not_acknowledged_is_delivered_again_in_order(gatehouse: InProcess) -> None:
    recipient, ended = Recipient(gatehouse), [log_out_of(gatehouse) for _ in range(5)]

    def sessions(tokens: dict[str, Event]) -> list[str]:
        return [claims["sub_id"]["session"]["id"] for claims in tokens.values()]

    first, more = recipient.poll(maxEvents=2)
    assert (sessions(first), more) == (ended[:2], True)
    assert sessions(recipient.poll(maxEvents=2)[0]) == ended[:2]
    one, other = first
    assert sessions(recipient.poll(ack=[other])[0]) == ended, "the one before it was not acknowledged"
    assert sessions(recipient.poll(ack=[one])[0]) == ended[1:]
    assert sessions(recipient.poll(setErrs={other: {"err": "invalid_key", "description": "?"}})[0]) == ended[2:]
    rest, _ = recipient.poll()
    assert recipient.poll(ack=list(rest)) == ({}, False)
    assert recipient.poll() == ({}, False)
    assert sessions(Recipient(gatehouse).poll()[0]) == ended, "each service key has its own position"
    assert Recipient(gatehouse).poll(maxEvents=0) == ({}, True)


def test_a_poll_waits_for_something_to_tell(gatehouse: InProcess) -> None:
    recipient = Recipient(gatehouse)
    token = gatehouse.login().data["accessToken"]

    async def listens() -> bool:
        return gatehouse.service.feeds.ended_sessions._poller is not None

    async def scenario() -> bytes:
        poll = asyncio.create_task(gatehouse.send("POST", POLL, body={}, token=recipient.key))
        await async_wait_until(listens, "the poll waits")
        assert not poll.done()
        await gatehouse.send("POST", "/api/v1/auth/logout", token=token)
        answer = await asyncio.wait_for(poll, MAX_POLL_SECONDS)
        return answer.content

    content = gatehouse.run(scenario())
    assert len(json.loads(content)["sets"]) == 1


def test_a_recipient_whose_log_is_lost_gets_a_gap_and_goes_on(gatehouse: InProcess) -> None:
    recipient = Recipient(gatehouse)
    state, now = gatehouse.service.stores.state, gatehouse.clock()
    log_out_of(gatehouse)
    recipient.poll(ack=list(recipient.poll()[0]))
    name = gatehouse.run(state.value("ended sessions", now))
    assert name is not None
    gatehouse.run(state.compare_and_set("ended sessions", name, "f" * 12, now + 999, now))
    tokens, _ = recipient.poll()
    gap, *others = tokens
    [(kind, event)] = tokens[gap]["events"].items()
    assert (kind, event) == (f"{gatehouse.settings.public_url}/events/gap", {"missing_before": now})
    assert len(others) == 1
    assert recipient.poll(ack=list(tokens)) == ({}, False)


def test_a_recipient_that_only_polls_keeps_its_feed(gatehouse: InProcess) -> None:
    recipient = Recipient(gatehouse)
    recipient.poll()
    first = gatehouse.run(gatehouse.service.stores.state.value("ended sessions", gatehouse.clock()))
    for _ in range(5):
        gatehouse.clock.move(FEED_ID_TTL / 3)
        assert recipient.poll() == ({}, False)
    assert gatehouse.run(gatehouse.service.stores.state.value("ended sessions", gatehouse.clock())) == first


@pytest.mark.parametrize(
    "body", [b"[]", b"{", b'{"ack":1}', b'{"maxEvents":-1}', b'{"maxEvents":"a"}', b"\xff", b"[" * 9000]
)
def test_what_is_no_poll_is_a_400(gatehouse: InProcess, body: bytes) -> None:
    answer = gatehouse.request("POST", POLL, content=body, token=add_key(gatehouse))
    assert (answer.status, answer.json) == (400, {"error": "invalid_request"})
