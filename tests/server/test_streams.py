"""The stream of server-sent events that consoles keep open, on a real server with two workers."""

from __future__ import annotations

import threading
from pathlib import Path

import httpx
import pytest

from gatehouse.auth.sessions import presence
from tests.server.limits import NO_END_OF_DRAIN, with_limits
from tests.support.conversation import LOGOUT, bearer, login
from tests.support.inprocess import InProcess
from tests.support.local import Local
from tests.support.people import add_user
from tests.support.waiting import PATIENCE, wait_until

CONNECT = "/api/v1/sse/connect"


class Listener:
    """Reads a stream in a thread of its own."""

    def __init__(self, client: httpx.Client, token: str) -> None:
        self.text = ""
        self.ended = threading.Event()
        self._answered = threading.Event()
        self._thread = threading.Thread(target=self._listen, args=(client, token))
        self._thread.start()
        assert self._answered.wait(PATIENCE)

    def _listen(self, client: httpx.Client, token: str) -> None:
        try:
            with client.stream("GET", CONNECT, headers=bearer(token), timeout=PATIENCE) as answer:
                assert answer.status_code == 200
                assert answer.headers["content-type"] == "text/event-stream"
                self._answered.set()
                for part in answer.iter_text():
                    self.text += part
        except httpx.HTTPError:
            pass
        finally:
            self._answered.set()
            self.ended.set()

    def hear(self, text: str) -> None:
        """Wait until the stream has said so."""
        wait_until(lambda: text in self.text, lambda: f"{text!r} in {self.text!r}")

    def join(self) -> None:
        self._thread.join()


@pytest.mark.full
def test_the_number_of_users_online_and_the_end_of_the_session(tmp_path: Path) -> None:
    with with_limits(tmp_path / "data", NO_END_OF_DRAIN, workers=2) as service:
        add_user(service, "clerk")
        with service.client() as first, service.client() as second, service.client() as third:
            mine, theirs = login(first)["accessToken"], login(second, username="clerk")["accessToken"]
            listener = Listener(first, mine)
            listener.hear("event: online-count\ndata: 1\n\n")
            assert "\r" not in listener.text
            again = Listener(third, mine)  # a second tab is the same user
            other = Listener(second, theirs)
            listener.hear("event: online-count\ndata: 2\n\n")
            other.hear("data: 2\n\n")
            assert "data: 3" not in listener.text + again.text
            with service.client() as client:
                assert client.post(LOGOUT, headers=bearer(theirs)).status_code == 200
            assert other.ended.wait(PATIENCE), "the stream ends with the session"
            assert not listener.ended.is_set()
            listener.hear(": still here\n\n")
            service.stop()
            for each in (listener, again, other):
                each.join()


@pytest.mark.full
def test_open_streams_do_not_hold_up_a_stop(tmp_path: Path) -> None:
    with with_limits(tmp_path / "data", NO_END_OF_DRAIN, workers=2) as service, service.client() as client:
        listener = Listener(client, login(client)["accessToken"])
        listener.hear("data: 1")
        assert service.stop() == 0
        assert listener.ended.wait(PATIENCE)
        listener.join()


def test_without_a_token_there_is_an_answer_like_any_other(embedded_service: Local) -> None:
    with embedded_service.client() as client:
        answer = client.get(CONNECT)
    assert (answer.status_code, answer.json()["code"]) == (401, "A0230")


def test_streams_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presence, "MAX_PER_USER", 1)
    monkeypatch.setattr(presence, "MAX_CONNECTIONS", 2)
    with InProcess(tmp_path / "data") as gatehouse:
        token = gatehouse.login().data["accessToken"]
        online = gatehouse.service.presence
        with online.connected(1):
            assert gatehouse.request("GET", CONNECT, token=token).code == "A0502"
            with online.connected(2):
                assert gatehouse.request("GET", CONNECT, token=token).code == "B0210"
        assert gatehouse.run(online.count()) == 0
