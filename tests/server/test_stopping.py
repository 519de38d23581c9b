"""SIGTERM: what is in flight is finished and answered, nothing new is taken, the service leaves by itself."""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

import httpx
import pytest

from gatehouse.stores.database.audit_trail import AuditEntry, AuditTrail
from gatehouse.stores.database.sql_engine import Database
from tests.server.limits import NO_END_OF_DRAIN, with_limits
from tests.support.conversation import LOGIN, ME, bearer, credentials, login
from tests.support.running import Running
from tests.support.waiting import PATIENCE, wait_until

# `test_server.py::test_sigterm_finishes_what_is_in_flight` is the one of this kind that every change needs.
pytestmark = pytest.mark.full


@pytest.mark.parametrize("workers", [1, 2])
def test_logins_that_are_being_hashed_are_answered(tmp_path: Path, workers: int) -> None:
    """One hash at a time: of eight logins most wait in the queue when the signal comes."""
    running = Running(tmp_path / "data", workers=workers, hash_threads=1)
    with running, ExitStack() as stack:
        clients = [stack.enter_context(running.client()) for _ in range(8)]
        bodies = [credentials(one) for one in clients]  # each has its connection open now
        answers: list[httpx.Response] = []
        together = threading.Barrier(len(clients))

        def log_in(own: httpx.Client, body: dict[str, str]) -> None:
            together.wait()
            answers.append(own.post(LOGIN, json=body))

        threads = [threading.Thread(target=log_in, args=pair) for pair in zip(clients, bodies, strict=True)]
        for thread in threads:
            thread.start()
        wait_until(lambda: answers)
        assert len(answers) < len(bodies), "the signal must come while some are waiting"
        assert running.stop() == 0
        for thread in threads:
            thread.join()
        assert [answer.status_code for answer in answers] == [200] * 8
    with running, running.client() as client:
        for answer in answers:
            assert client.get(ME, headers=bearer(answer.json()["data"])).status_code == 200


def test_idle_connections_do_not_hold_it_up(tmp_path: Path) -> None:
    running = with_limits(tmp_path / "data", NO_END_OF_DRAIN)
    with running, running.client() as client:
        login(client)  # and the connection stays open
        assert running.stop() == 0
        with pytest.raises(httpx.TransportError):
            client.get(ME)


def test_what_was_recorded_last_is_in_the_audit_trail(tmp_path: Path) -> None:
    running = Running(tmp_path / "data")
    with running, running.client() as client:
        for _ in range(5):
            login(client)
        running.stop()
    entries = asyncio.run(trail(running.data / "accounts.db"))
    assert [entry.event for entry in entries].count("login") == 5


async def trail(path: Path) -> Sequence[AuditEntry]:
    database = Database(f"sqlite:///{path}")
    try:
        return await AuditTrail(database).read()
    finally:
        await database.close()


def test_a_worker_that_has_just_been_replaced_does_not_hold_it_up(tmp_path: Path) -> None:
    running = with_limits(tmp_path / "data", NO_END_OF_DRAIN, workers=2)
    with running:
        killed = running.workers()[0]
        killed.kill()
        killed.wait(PATIENCE)
        wait_until(lambda: len(running.workers()) == 2)
        assert running.stop() == 0


def test_workers_that_die_as_it_stops_do_not_make_it_a_failure(tmp_path: Path) -> None:
    running = Running(tmp_path / "data", workers=2)
    with running:
        assert running.process is not None
        running.process.send_signal(signal.SIGSTOP)  # so that it hears of all three at once
        running.kill_workers()
        running.process.terminate()
        running.process.send_signal(signal.SIGCONT)
        assert running.process.wait(PATIENCE) == 0


# Touches a file when the service hears of a worker's death, and one when it hears a stop signal.
NOTING = """
import pathlib, sys
from gatehouse.server.worker_respawn import RespawningServer, RespawnPolicy
folder = sys.argv.pop()
def note(owner, name):
    real = getattr(owner, name)
    def noted(*arguments):
        pathlib.Path(folder, name).touch()
        return real(*arguments)
    setattr(owner, name, noted)
note(RespawnPolicy, DEATH)
note(RespawningServer, SIGNAL)
from gatehouse.cli import main
main()
"""
DEATH, SIGNAL = "get", "signal_handler_interrupt"


def test_a_signal_that_comes_while_a_worker_is_replaced_is_heard(tmp_path: Path) -> None:
    """Between the worker's death and its replacement the service writes a log line: a full pipe holds it there."""
    running = Running(tmp_path / "data")
    program = f"DEATH, SIGNAL = {DEATH!r}, {SIGNAL!r}\n{NOTING}"
    running.command = [sys.executable, "-c", program, "serve", str(tmp_path)]
    os.mkfifo(running.log)
    pipe = os.open(running.log, os.O_RDWR)
    fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, 4096)
    with running:
        fill(running.log)
        killed = running.workers()[0]
        killed.kill()
        killed.wait(PATIENCE)
        wait_until((tmp_path / DEATH).exists)
        assert not running.workers(), "the full pipe did not hold it"
        assert running.process is not None
        running.process.terminate()
        wait_until((tmp_path / SIGNAL).exists)
        os.read(pipe, 1 << 20)  # and there is room for the rest
        assert running.process.wait(PATIENCE) == 0
    os.close(pipe)


def fill(pipe: Path) -> None:
    """Until not a byte more goes in. Opened anew, because whoever else writes to it is to wait."""
    end = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    with suppress(BlockingIOError):
        while True:
            os.write(end, b".")
    os.close(end)
