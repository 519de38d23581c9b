"""A service that verifies offline and follows the ended sessions: it refuses within a second, or knows it cannot."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from gatehouse.verify import EndedSessions, TokenInvalid, Unavailable, Verifier
from gatehouse.verify.ended_sessions import MAX_LEEWAY
from tests.cli.terminal import Terminal
from tests.support.conversation import LOGOUT, bearer, login, refresh
from tests.support.engines import Postgres, Redis
from tests.support.people import add_user, service_key
from tests.support.running import Running
from tests.support.waiting import PATIENCE, wait_until

STREAM = "/events/ended-sessions/stream"


@pytest.fixture(
    scope="module",
    params=[
        "embedded",
        pytest.param("engines", marks=pytest.mark.full),
        pytest.param("postgres", marks=pytest.mark.full),
    ],
)
def nodes(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Running]]:
    """Two workers on the embedded default, or two nodes on PostgreSQL and Redis or on PostgreSQL alone."""
    data = tmp_path_factory.mktemp("nodes") / "data"
    if request.param == "embedded":
        server = request.getfixturevalue("server")
        yield [server, server]
        return
    postgres: Postgres = request.getfixturevalue("postgres_server")
    if request.param == "engines":
        redis: Redis = request.getfixturevalue("redis_server")
        database, state = postgres.create("ended_sessions"), redis.url(41)
    else:
        database = state = postgres.create("ended_sessions_alone")
    urls = {
        "database_url": database, "state_url": state,
        "issuer": "http://login.localhost", "secret": "kP3vLr9QyX2mTn7wBz5cHd8fJg4sAe6u",
    }  # fmt: skip
    with Running(data, **urls) as one, Running(data, **urls) as other:
        yield [one, other]


class Following:
    """A verifying service that follows one node, and people who log in at the other."""

    def __init__(self, nodes: list[Running], **options: Any) -> None:
        self.node, self.followed = nodes
        self.key = service_key(self.followed)
        self.ended = EndedSessions(self.followed.url + STREAM, self.key, **options)
        self.issuer = self.followed.env.get("GATEHOUSE_ISSUER", self.followed.url)
        self.keys_url = f"{self.followed.url}/.well-known/jwks.json"
        self.verifier = Verifier(self.keys_url, self.issuer, ended_sessions=self.ended)

    def hear(self, act: Callable[[httpx.Client, dict[str, Any]], httpx.Response]) -> None:
        with self.node.client() as client:
            token = login(client)["accessToken"]
            assert self.user_of(token) == 1
            assert act(client, {"accessToken": token}).status_code == 200
        self.check_until_refused(token)

    def user_of(self, token: str) -> int:
        """Asked again while the feed is late, as on a busy machine it may be."""
        return wait_until(lambda: self._user_of(token), "an answer about a token")

    def check_until_refused(self, token: str) -> None:
        wait_until(lambda: self._is_refused(token), "the session has ended, and its token is still taken")

    def _user_of(self, token: str) -> int:
        try:
            return self.verifier.check(token).user_id
        except Unavailable:
            return 0

    def _is_refused(self, token: str) -> bool:
        try:
            self.verifier.check(token)
        except TokenInvalid:
            return True
        except Unavailable:
            pass  # not taken, and not refused yet
        return False


def log_out(client: httpx.Client, tokens: dict[str, Any]) -> httpx.Response:
    return client.post(LOGOUT, headers=bearer(tokens))


@pytest.fixture
def following(nodes: list[Running]) -> Iterator[Following]:
    following = Following(nodes)
    with following.ended:
        yield following


def test_a_logout_is_heard_on_another_worker_or_node(following: Following) -> None:
    """How soon is measured by `benchmarks.ended_sessions`."""
    for _ in range(8):
        following.hear(log_out)


def test_sessions_that_ended_before_it_started_are_known(nodes: list[Running]) -> None:
    with nodes[0].client() as client:
        tokens = login(client)
        assert log_out(client, tokens).status_code == 200
    following = Following(nodes)
    with following.ended, pytest.raises(TokenInvalid):
        following.verifier.check(tokens["accessToken"])


def test_a_refreshed_token_of_an_ended_session_is_refused_too_and_another_session_is_not(following: Following) -> None:
    with following.node.client() as client:
        first = login(client)
        other = login(client)
        second = refresh(client, first).json()["data"]
        assert log_out(client, first).status_code == 200
        following.check_until_refused(second["accessToken"])
        assert following.user_of(other["accessToken"]) == 1


def test_a_changed_password_a_disabled_user_and_an_operator_are_heard(following: Following) -> None:
    for name, words in (
        ("ended-by-an-operator", ("session", "end", "--user")),
        ("disabled", ("user", "disable")),
    ):
        username = f"{name}-{time.monotonic_ns()}"
        add_user(following.node, username)
        with following.node.client() as client:
            token = login(client, username=username)["accessToken"]
        assert following.user_of(token) > 1
        Terminal(following.node.env)(*words, username).done()
        following.check_until_refused(token)


def test_tasks_are_served_as_threads_are(following: Following) -> None:
    async def check(token: str) -> int:
        return (await following.verifier.check_async(token)).user_id

    with following.node.client() as client:
        tokens = login(client)
        assert following.user_of(tokens["accessToken"]) == 1
        assert asyncio.run(check(tokens["accessToken"])) == 1
        log_out(client, tokens)
        following.check_until_refused(tokens["accessToken"])
        with pytest.raises(TokenInvalid):
            asyncio.run(check(tokens["accessToken"]))


# As a preforking server does. A process of its own: in the one of the tests, a child would inherit the locks and the
# half-written memory of all the threads that are in it, and sometimes die of them.
FORKING_SERVICE = """
import os, sys, time
from gatehouse.verify import EndedSessions, Unavailable, Verifier

stream, key, keys, issuer, token, patience = sys.argv[1:]

def user_of(token):
    until = time.monotonic() + float(patience)
    while True:
        try:
            return verifier.check(token).user_id
        except Unavailable:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)

with EndedSessions(stream, key) as ended:
    verifier = Verifier(keys, issuer, ended_sessions=ended)
    assert user_of(token) == 1
    child = os.fork()
    if child == 0:
        print("in the child:", user_of(token), flush=True)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    print("it ended with", os.waitstatus_to_exitcode(status), flush=True)
"""


def test_a_forked_process_follows_by_itself(following: Following) -> None:
    with following.node.client() as client:
        token = login(client)["accessToken"]
    service = subprocess.run(
        [
            sys.executable, "-c", FORKING_SERVICE, following.followed.url + STREAM, following.key,
            following.keys_url, following.issuer, token, str(PATIENCE / 3),
        ],
        check=False, capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert service.stdout.splitlines() == ["in the child: 1", "it ended with 0"], service.stderr


@pytest.fixture(scope="module")
def one_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with Running(tmp_path_factory.mktemp("one") / "data") as running:
        yield running


@pytest.fixture
def breakable(one_service: Running) -> Running:
    """A service that may be stopped and killed."""
    assert one_service.process is not None
    if one_service.process.poll() is not None:
        one_service.start()
    return one_service


def test_a_feed_that_is_cut_fails_closed_unless_the_caller_chose_otherwise(breakable: Running) -> None:
    closed, opened = (Following([breakable] * 2, max_silence=2, fail_open=fail_open) for fail_open in (False, True))
    with breakable.client() as client:
        ended, live = login(client)["accessToken"], login(client)["accessToken"]
        for following in (closed, opened):
            assert following.user_of(live) == 1
        log_out(client, {"accessToken": ended})
        for following in (closed, opened):
            following.check_until_refused(ended)
    breakable.kill()
    wait_until(lambda: not closed.ended.fresh and not opened.ended.fresh, "a feed that is stale without a service")
    # The keys of the service are still held.
    assert opened.verifier.check(live).user_id == 1
    with pytest.raises(Unavailable, match="ended sessions are not known"):
        closed.verifier.check(live)
    for following in (closed, opened):
        with pytest.raises(TokenInvalid):
            following.verifier.check(ended)
        following.ended.close()


def test_a_service_that_is_not_there_at_the_start_is_waited_for_once(tmp_path: Path) -> None:
    running = Running(tmp_path / "data")
    ended = EndedSessions(running.url + STREAM, "ghs_none", max_silence=2)
    waits = [ended.should_wait, ended.wait(), ended.should_wait]
    assert waits == [True, False, False], "the next check does not wait again"
    with pytest.raises(Unavailable):
        ended.check("7-abc", time.time())
    ended.close()


def test_a_wrong_service_key_is_told_in_the_log_text(nodes: list[Running]) -> None:
    with EndedSessions(nodes[0].url + STREAM, "ghs_" + "x" * 43) as ended:

        def problem() -> str:
            with pytest.raises(Unavailable) as refused:
                ended.check("7-abc", time.time())
            return str(refused.value)

        wait_until(lambda: "HTTP 401: check the service key" in problem(), problem)


def test_a_restart_of_the_service_is_followed_without_a_gap(breakable: Running) -> None:
    following = Following([breakable] * 2)
    with breakable.client() as client:
        before, live = login(client), login(client)
        assert following.user_of(live["accessToken"]) == 1
    breakable.stop()
    breakable.start()
    with breakable.client() as client:
        assert log_out(client, before).status_code == 200
        following.check_until_refused(before["accessToken"])  # it connects again by itself
        assert following.user_of(live["accessToken"]) == 1
        following.ended.close()


def test_a_lost_state_puts_older_tokens_in_doubt_and_newer_ones_not(breakable: Running) -> None:
    following = Following([breakable] * 2)
    with breakable.client() as client:
        old = login(client)
        assert following.user_of(old["accessToken"]) == 1
    breakable.stop()
    for file in breakable.data.glob("state.db*"):
        file.unlink()
    wait_for_next_second()
    breakable.start()
    with breakable.client() as client:
        following.check_until_refused(old["accessToken"])
        wait_for_next_second()
        new = login(client)
        later = Following([breakable] * 2)  # it has not seen the state before
        for each in (following, later):
            each.check_until_refused(old["accessToken"])
            assert each.user_of(new["accessToken"]) == 1
            each.ended.close()


def wait_for_next_second() -> None:
    """Tokens say to the second when they were issued."""
    second = int(time.time())
    wait_until(lambda: int(time.time()) > second)


def test_a_feed_that_is_held_back_on_its_way_is_out_of_date() -> None:
    """Events that were sent a second apart and come four seconds apart: each is in time, and later than the last."""
    ended = EndedSessions("http://127.0.0.1:1/x", "ghs_x", max_silence=5)
    for late in (0.0, 3.0, 4.9):
        ended._handle_event("position", "l:1", {"at": 1000.0 - late, "keep": 60})
    assert ended.fresh
    with pytest.raises(Unavailable):
        ended._handle_event("position", "l:1", {"at": 1000.0 - 5.1, "keep": 60})


def test_a_gap_puts_older_tokens_in_doubt_and_newer_ones_not() -> None:
    ended = EndedSessions("http://127.0.0.1:1/x", "ghs_x")
    ended._handle_event("gap", "l:", {"missing_before": 1000.0})
    ended._handle_event("position", "l:1", {"at": 1000.0, "keep": 60})
    with pytest.raises(TokenInvalid, match="may have ended"):
        ended.check("7-a", 999)
    ended.check("7-a", 1000)
    ended._handle_event("gap", "m:", {"missing_before": 900.0})
    with pytest.raises(TokenInvalid, match="may have ended"):
        ended.check("7-a", 999)


def test_what_is_forgotten_has_expired() -> None:
    now = [1000.0]
    ended = EndedSessions("http://127.0.0.1:1/x", "ghs_x", clock=lambda: now[0])
    ended._handle_event("ended", "l:1", {"sid": "7-a", "at": 1000.0})
    ended._handle_event("position", "l:1", {"at": 1000.0, "keep": 7260})
    with pytest.raises(TokenInvalid):
        ended.check("7-a", 999)
    now[0] += 7260 + MAX_LEEWAY
    ended._handle_event("position", "l:1", {"at": now[0], "keep": 7260})
    with pytest.raises(TokenInvalid):
        ended.check("7-a", 999)
    now[0] += 1
    ended._handle_event("position", "l:1", {"at": now[0], "keep": 7260})
    ended.check("7-a", 999)


def test_a_service_that_says_to_keep_less_than_before_takes_nothing_back() -> None:
    """As after a restart with a lower ACCESS_TTL, while tokens of the longer life are still valid."""
    now = [1000.0]
    ended = EndedSessions("http://127.0.0.1:1/x", "ghs_x", clock=lambda: now[0])
    ended._handle_event("position", "l:0", {"at": 1000.0, "keep": 3660})
    ended._handle_event("ended", "l:1", {"sid": "7-a", "at": 1000.0})
    now[0] += 3600
    ended._handle_event("position", "l:1", {"at": now[0], "keep": 120})
    with pytest.raises(TokenInvalid):
        ended.check("7-a", 999)
