"""kill -9 of the service or its workers: what was answered before is true after it, and the service goes on."""

from __future__ import annotations

import itertools
import os
import resource
import sys
import threading
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from tests.support.conversation import LOGOUT, ME, bearer, login, refresh
from tests.support.running import Running
from tests.support.selection import cases
from tests.support.waiting import PATIENCE, wait_until


class Client(threading.Thread):
    """Logs in, refreshes, logs out, over and over, and notes only what was answered."""

    def __init__(self, service: Running) -> None:
        super().__init__()
        self.service = service
        self.current: dict[str, dict[str, Any]] = {}  # by its first refresh token: the newest token set
        self.logged_out: list[dict[str, Any]] = []
        self.uncertain: set[str] = set()  # a request about it was under way when the service died

    def run(self) -> None:
        with self.service.client() as client:
            for number in itertools.count():
                name = ""
                try:
                    tokens = login(client)
                    name = tokens["refreshToken"]
                    self.current[name] = tokens
                    for _ in range(3):
                        self.current[name] = refresh(client, self.current[name]).json()["data"]
                    if number % 2:
                        assert client.post(LOGOUT, headers=bearer(self.current[name])).status_code == 200
                        self.logged_out.append(self.current.pop(name))
                except httpx.TransportError:
                    self.uncertain.add(name)
                    return


def test_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    service = Running(tmp_path / "data", workers=2).start()
    clients = [Client(service) for _ in range(6)]
    for client in clients:
        client.start()
    wait_until(lambda: sum(len(client.logged_out) for client in clients) >= cases(30))
    service.kill()
    for client in clients:
        client.join()

    with service, service.client() as http:
        kept = [tokens for each in clients for name, tokens in each.current.items() if name not in each.uncertain]
        assert len(kept) >= cases(30)  # before each that was logged out there is one that was not
        for tokens in kept:
            assert http.get(ME, headers=bearer(tokens)).status_code == 200
            assert refresh(http, tokens).status_code == 200
        for tokens in (tokens for each in clients for tokens in each.logged_out):
            assert http.get(ME, headers=bearer(tokens)).json()["code"] == "A0230"
            assert refresh(http, tokens).json()["code"] == "A0231"


def test_a_killed_worker_is_replaced_and_what_it_has_answered_holds(tmp_path: Path) -> None:
    with Running(tmp_path / "data", workers=2) as service, service.client() as client:
        tokens, ended = login(client), login(client)
        for number, worker in enumerate(service.workers()):
            if number == 0:
                assert client.post(LOGOUT, headers=bearer(ended)).status_code == 200
            worker.kill()
            worker.wait(PATIENCE)  # until then the kernel may still hand it a connection
            service.wait_until_live()
            assert client.get(ME, headers=bearer(tokens)).status_code == 200
            assert client.get(ME, headers=bearer(ended)).status_code == 401
        wait_for_workers(service, 2)


@pytest.mark.full
def test_workers_may_be_killed_again_and_again(tmp_path: Path) -> None:
    with Running(tmp_path / "data", workers=2) as service, service.client() as client:
        tokens = login(client)
        for _ in range(6):
            worker = service.workers()[-1]
            worker.kill()
            worker.wait(PATIENCE)
            service.wait_until_live()
            assert client.get(ME, headers=bearer(tokens)).status_code == 200
        wait_until(lambda: service.output().count("a worker has died") >= 6, service.output)
        assert service.output().count("a worker has died") == 6


@pytest.mark.full
@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells a process that its parent is gone")
def test_workers_leave_with_the_process_that_has_started_them(tmp_path: Path) -> None:
    service = Running(tmp_path / "data", workers=2).start()
    with service.client() as client:
        tokens = login(client)
    workers = service.workers()
    assert service.process is not None
    service.process.kill()
    service.process.wait()
    _, left = psutil.wait_procs(workers, timeout=PATIENCE)
    for worker in left:
        worker.kill()
    assert not left
    with service, service.client() as client:  # on the same port
        assert client.get(ME, headers=bearer(tokens)).status_code == 200


@pytest.mark.full
def test_a_worker_that_cannot_be_started_is_started_later(tmp_path: Path) -> None:
    with Running(tmp_path / "data", workers=2) as service, service.client() as client:
        tokens = login(client)
        assert service.process is not None
        limits = resource.prlimit(service.process.pid, resource.RLIMIT_NOFILE, (3, 4096))
        worker = service.workers()[0]
        worker.kill()
        worker.wait(PATIENCE)
        wait_until(lambda: "cannot start a worker" in service.output(), service.output)
        assert "Too many open files" in service.output()
        assert client.get(ME, headers=bearer(tokens)).status_code == 200, "the other one goes on"
        resource.prlimit(service.process.pid, resource.RLIMIT_NOFILE, (min(limits[0], 4096), 4096))
        wait_for_workers(service, 2)
        assert client.get(ME, headers=bearer(tokens)).status_code == 200
        assert service.stop() == 0


def wait_for_workers(service: Running, count: int) -> None:
    wait_until(lambda: len(service.workers()) == count, service.output)


@pytest.mark.full
@pytest.mark.parametrize("log", ["its reader is gone", "its disk is full"])
def test_a_log_that_cannot_be_written_holds_up_nothing(tmp_path: Path, log: str) -> None:
    service = Running(tmp_path / "data", workers=2)
    target = Path("/dev/full")
    if log == "its reader is gone":
        target = tmp_path / "pipe"
        os.mkfifo(target)
    reader = os.open(target, os.O_RDONLY | os.O_NONBLOCK)
    service.command = ["sh", "-c", f'exec "$@" 2>{target}', "sh", *service.command]
    with service, service.client() as client:
        os.close(reader)
        tokens = login(client)
        worker = service.workers()[0]
        worker.kill()  # and the service wants to say so
        worker.wait(PATIENCE)
        wait_for_workers(service, 2)
        assert client.get(ME, headers=bearer(tokens)).status_code == 200
        assert service.stop() == 0


class Leaver(threading.Thread):
    """Until it is stopped: logs in, is known on several connections, logs out, and asks all of them and new ones."""

    def __init__(self, service: Running) -> None:
        super().__init__(daemon=True)
        self.service = service
        self.stop = threading.Event()
        self.before: set[int] = set()
        self.after: set[int] = set()
        self.left = 0

    def run(self) -> None:
        while not self.stop.is_set():
            with suppress(httpx.TransportError), ExitStack() as stack:
                connections = [stack.enter_context(self.service.client()) for _ in range(4)]
                tokens = bearer(login(connections[0]))
                self.before |= {self._ask(each, tokens) for each in connections}
                if connections[1].post(LOGOUT, headers=tokens).status_code == 200:
                    self.left += 1
                    connections += [stack.enter_context(self.service.client()) for _ in range(4)]
                    self.after |= {self._ask(each, tokens) for each in connections}

    def _ask(self, client: httpx.Client, tokens: dict[str, str]) -> int:
        return wait_until(lambda: self._answer(client, tokens))

    def _answer(self, client: httpx.Client, tokens: dict[str, str]) -> int:
        try:
            return client.get(ME, headers=tokens).status_code
        except httpx.TransportError:  # its worker was killed: another answers
            return 0


def test_a_logout_holds_in_every_worker(server: Running) -> None:
    """So many connections that none of the workers is left out."""
    with ExitStack() as stack:
        connections = [stack.enter_context(server.client()) for _ in range(12)]
        tokens = bearer(login(connections[0]))
        assert {client.get(ME, headers=tokens).status_code for client in connections} == {200}
        assert connections[0].post(LOGOUT, headers=tokens).status_code == 200
        assert {client.get(ME, headers=tokens).status_code for client in connections} == {401}


@pytest.mark.full
def test_a_logout_holds_in_every_worker_while_they_are_being_killed(tmp_path: Path) -> None:
    """Workers remember sessions, and learn from the file what the others have ended."""
    with Running(tmp_path / "data", workers=3) as service:
        leavers = [Leaver(service) for _ in range(3)]
        for leaver in leavers:
            leaver.start()
        for number in range(6):
            left = sum(leaver.left for leaver in leavers)
            wait_until(lambda left=left: sum(leaver.left for leaver in leavers) > left)  # type: ignore[misc]
            wait_for_workers(service, 3)
            service.workers()[number % 3].kill()
        wait_until(lambda: all(leaver.left for leaver in leavers))
        for leaver in leavers:
            leaver.stop.set()
        for leaver in leavers:
            leaver.join()
    assert [(leaver.before, leaver.after) for leaver in leavers] == [({200}, {401})] * 3


@pytest.mark.full
def test_workers_that_cannot_run_end_the_service_and_it_says_why(tmp_path: Path) -> None:
    service = Running(tmp_path / "data", workers=1).start()
    for file in service.data.glob("state.db*"):
        file.unlink()
    (service.data / "state.db").mkdir()
    service.workers()[0].kill()
    assert service.process is not None
    assert service.process.wait(PATIENCE) == 1
    assert "state.db" in service.output()
    assert "workers keep exiting right after their start; stopping" in service.output()
