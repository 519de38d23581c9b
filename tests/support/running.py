"""A real service in processes of its own, on a free port of the loopback, for tests and benchmarks.

`local.py` has the same without processes and sockets.
"""

from __future__ import annotations

import os
import random
import signal
import socket
import ssl
import subprocess
import sys
from collections import deque
from contextlib import suppress
from pathlib import Path

import httpx
import psutil

from tests.support.waiting import PATIENCE, wait_until

ANSWER = "abcd"
PASSWORD = "correct horse battery staple"

# Made once: httpx reads all authorities of the machine anew for every client, for longer than a request takes.
TLS = ssl.create_default_context()

BUS_OFFSET = 10_000  # a node of a Redis Cluster also listens that many ports further up

_given: deque[int] = deque(maxlen=1000)  # not all of them are bound yet


def free_port(*, with_bus: bool = False) -> int:
    """Below the ports that the system gives away by itself; of test runs side by side each has its share."""
    runs = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    own = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    while True:
        port = random.randrange(10_000, 32_000 - BUS_OFFSET if with_bus else 32_000)
        if port % BUS_OFFSET % runs != own:
            continue
        wanted = {port, port + BUS_OFFSET} if with_bus else {port}
        if wanted.isdisjoint(_given) and all(map(_is_free, wanted)):
            _given.extend(wanted)
            return port


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def environment(data: Path, port: int, **settings: object) -> dict[str, str]:
    """Ours alone: whatever GATEHOUSE_ settings the developer has exported stay outside."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GATEHOUSE_")}
    given = {
        "data_dir": data,
        "port": port,
        "captcha_test_answer": ANSWER,
        "admin_password": PASSWORD,
        "limits": "off",
        "log_format": "json",
        "metrics": "off",  # services side by side would want one and the same address
        **settings,
    }
    return clean | {f"GATEHOUSE_{name.upper()}": str(value) for name, value in given.items()}


class Installation:
    """A data folder and settings with the test switches on: what the command line beside a service needs."""

    def __init__(self, data: Path, **settings: object) -> None:
        self.data = data
        self.port = int(str(settings.pop("port", 0))) or free_port()
        self.base = str(settings.get("base_path", "")).rstrip("/")
        self.url = f"http://127.0.0.1:{self.port}{self.base}"
        self.env = environment(data, self.port, **settings)


class Running(Installation):
    """`gatehouse serve`; settings by keyword, as in `Running(tmp, workers=2)`."""

    def __init__(self, data: Path, **settings: object) -> None:
        super().__init__(data, **settings)
        self.log = data.parent / f"{data.name}-{self.port}.log"
        self.command = [sys.executable, "-m", "gatehouse", "serve"]
        self.folder: Path | None = None  # to start it in, if not here
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> Running:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command,
                env=self.env,
                cwd=self.folder,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        try:
            self.wait_until_live()
        except (RuntimeError, AssertionError):
            if self.process.poll() is None:
                self.kill()  # nobody would stop what never got as far as `with`
            raise
        return self

    def wait_until_live(self) -> None:
        wait_until(self._is_live, lambda: f"the service starts:\n{self.output()}")

    def _is_live(self) -> bool:
        assert self.process is not None
        if self.process.poll() is not None:
            raise RuntimeError(f"the service ended by itself:\n{self.output()}")
        try:
            return httpx.get(f"{self.url}/health/live", timeout=1, verify=TLS).status_code == 200
        except httpx.TransportError:
            return False

    def stop(self) -> int:
        """SIGTERM, and wait."""
        if self.process is None or self.process.poll() is not None:
            return self.process.returncode if self.process else 0
        self.process.terminate()
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()
            raise

    def kill(self) -> None:
        """SIGKILL to every process of the service at once."""
        assert self.process is not None
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(PATIENCE)

    def workers(self) -> list[psutil.Process]:
        """The worker processes: children of the one that was started, not counting Python's own helpers."""
        assert self.process is not None
        workers = []
        for each in psutil.Process(self.process.pid).children():
            with suppress(psutil.NoSuchProcess):  # it has ended since
                if each.status() != psutil.STATUS_ZOMBIE and "resource_tracker" not in " ".join(each.cmdline()):
                    workers.append(each)
        return workers

    def kill_workers(self) -> None:
        """SIGKILL to every worker; the parent starts new ones."""
        for worker in self.workers():
            worker.kill()

    def output(self) -> str:
        return self.log.read_text(errors="replace")

    def cli(self, *words: str, stdin: str = "", seconds: float = PATIENCE) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "gatehouse", *words],
            env=self.env,
            cwd=self.folder,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )

    def client(self, **options: object) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=PATIENCE, verify=TLS, **options)  # type: ignore[arg-type]

    def __enter__(self) -> Running:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()
