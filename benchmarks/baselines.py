"""What Gatehouse is measured against: the same server doing almost nothing, and the raw cost of each operation."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Self

import apsw
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.hashes import SHA256

from benchmarks.load import SERVER_CORE, on_core
from gatehouse.auth.passwords.hashing import hash_password
from tests.support.running import free_port
from tests.support.waiting import wait_until

BODY_VARIABLE = "BARE_BODY"
REDIS_VARIABLE = "BARE_REDIS"

_body = os.environ.get(BODY_VARIABLE, "{}").encode()
_headers = [
    (b"content-type", b"application/json"),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-request-id", b"0123456789ab-1f"),
]


async def bare(_scope: Any, _receive: Any, send: Any) -> None:
    """The same bytes as users/me, without a look at the request."""
    await send({"type": "http.response.start", "status": 200, "headers": _headers})
    await send({"type": "http.response.body", "body": _body})


_redis: Any = None


async def bare_with_redis(scope: Any, receive: Any, send: Any) -> None:
    """The same, after one round trip to Redis by the usual client."""
    global _redis  # noqa: PLW0603 - one client a worker, made when its event loop runs
    if _redis is None:
        import redis.asyncio  # noqa: PLC0415 - only this baseline needs it

        _redis = redis.asyncio.Redis.from_url(os.environ[REDIS_VARIABLE])
    await _redis.get("baseline")
    await bare(scope, receive, send)


class GranianServer:
    """An application on the server that Gatehouse uses, with the same loop; one worker stays on one core."""

    def __init__(
        self, target: str, interface: str, env: dict[str, str], *, workers: int = 1, factory: bool = False
    ) -> None:
        self._port = free_port()
        self.url = f"http://127.0.0.1:{self._port}/api/v1/users/me"
        self._words = [
            *on_core(SERVER_CORE if workers == 1 else None),
            *(sys.executable, "-m", "granian", target, "--interface", interface, *(["--factory"] if factory else [])),
            *("--port", str(self._port), "--workers", str(workers), "--loop", "uvloop", "--no-ws"),
            *("--log-level", "error", "--backlog", "16384", "--backpressure", "16384"),
        ]
        self._env = os.environ | env

    @property
    def pid(self) -> int:
        return self._process.pid

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(self._words, env=self._env, start_new_session=True)
        wait_until(self._accepts, "the server accepts connections")
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(timeout=20)

    def _accepts(self) -> bool:
        with socket.socket() as connection:
            return connection.connect_ex(("127.0.0.1", self._port)) == 0


class BareServer(GranianServer):
    """One of the applications above."""

    def __init__(self, application: str, body: bytes, workers: int = 1, redis_url: str = "") -> None:
        env = {BODY_VARIABLE: body.decode(), REDIS_VARIABLE: redis_url}
        super().__init__(f"benchmarks.baselines:{application}", "asginl", env, workers=workers)


def raw_hashes(seconds: float, threads: int) -> float:
    """Argon2id hashes a second over so many threads, and nothing else."""
    ends = time.perf_counter() + seconds

    def hash_on() -> int:
        done = 0
        while time.perf_counter() < ends:
            hash_password("correct horse battery staple")
            done += 1
        return done

    started = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        total = sum(pool.map(lambda _: hash_on(), range(threads)))
    return total / (time.perf_counter() - started)


def raw_refreshes(seconds: float, algorithm: str) -> float:
    """One signature by OpenSSL and one committed, synced SQLite write, over and over in one thread."""
    sign = _signature(algorithm)
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        db = apsw.Connection(str(Path(folder) / "baseline.db"))
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        db.execute("CREATE TABLE sessions (id INTEGER PRIMARY KEY, generation INTEGER, rotated REAL)")
        db.execute("INSERT INTO sessions VALUES (1, 0, 0)")
        done, started = 0, time.perf_counter()
        while time.perf_counter() < started + seconds:
            sign(b"x" * 300)
            db.execute("UPDATE sessions SET generation = generation + 1, rotated = ?", (time.time(),))
            done += 1
        rate = done / (time.perf_counter() - started)
        db.close()
    return rate


def _signature(algorithm: str) -> Callable[[bytes], bytes]:
    if algorithm == "EdDSA":
        return Ed25519PrivateKey.generate().sign
    key, ecdsa = ec.generate_private_key(ec.SECP256R1()), ec.ECDSA(SHA256())
    return lambda message: key.sign(message, ecdsa)


def captcha_library(seconds: float) -> float:
    """Images a second by the `captcha` package, as most backends call it."""
    from captcha.image import ImageCaptcha  # noqa: PLC0415 - in a dependency group of its own

    draw = ImageCaptcha()
    done, started = 0, time.perf_counter()
    while time.perf_counter() < started + seconds:
        draw.generate("H2XE").read()
        done += 1
    return done / (time.perf_counter() - started)
