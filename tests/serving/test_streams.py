"""The stream of server-sent events that consoles keep open, on a real server with two workers."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from gatehouse.auth.sessions import presence
from tests.support.conversation import LOGOUT, bearer, login
from tests.support.inprocess import InProcess
from tests.support.people import add_user
from tests.support.running import Running

CONNECT = "/api/v1/sse/connect"


class Listener:
    """Reads a stream in a thread of its own."""

    def __init__(self, client: httpx.Client, token: str) -> None:
        self.text = ""
        self.ended = threading.Event()
        self._answered = threading.Event()
        self._thread = threading.Thread(target=self._listen, args=(client, token))
        self._thread.start()
        assert self._answered.wait(60)

    def _listen(self, client: httpx.Client, token: str) -> None:
        try:
            with client.stream("GET", CONNECT, headers=bearer(token), timeout=120) as answer:
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

    def heard(self, text: str, within: float = 60) -> bool:
        end = time.monotonic() + within
        while text not in self.text and time.monotonic() < end:
            time.sleep(0.05)
        return text in self.text

    def join(self) -> None:
        self._thread.join()


@contextmanager
def running(tmp_path: Path, **settings: object) -> Iterator[Running]:
    with Running(tmp_path / "data", workers=2, **settings) as service:
        yield service


def test_the_number_of_users_online_and_the_end_of_the_session(tmp_path: Path) -> None:
    with running(tmp_path) as service:
        add_user(service, "clerk")
        with service.client() as first, service.client() as second, service.client() as third:
            mine, theirs = login(first)["accessToken"], login(second, username="clerk")["accessToken"]
            listener = Listener(first, mine)
            assert listener.heard("event: online-count\ndata: 1\n\n")
            assert "\r" not in listener.text
            again = Listener(third, mine)  # a second tab is the same user
            other = Listener(second, theirs)
            assert listener.heard("event: online-count\ndata: 2\n\n")
            assert other.heard("data: 2\n\n")
            assert "data: 3" not in listener.text + again.text
            with service.client() as client:
                assert client.post(LOGOUT, headers=bearer(theirs)).status_code == 200
            assert other.ended.wait(60), "the stream ends with the session"
            assert not listener.ended.is_set()
            assert listener.heard(": still here\n\n")
            service.stop()
            for each in (listener, again, other):
                each.join()


def test_open_streams_do_not_hold_up_a_stop(tmp_path: Path) -> None:
    with running(tmp_path) as service, service.client() as client:
        listener = Listener(client, login(client)["accessToken"])
        assert listener.heard("data: 1")
        started = time.monotonic()
        service.stop()
        assert time.monotonic() - started < 10, "longer, and the workers were killed at the end of the drain"
        assert listener.ended.wait(60)
        listener.join()


def test_without_a_token_there_is_an_answer_like_any_other(embedded_service: Running) -> None:
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
