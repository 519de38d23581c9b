"""What the processes of one test run share: a PostgreSQL, a Redis, a domain controller, and what a first start leaves.

The process that starts the run makes each when a test first asks for it, and removes it at the end. Its workers ask it
over a socket; what they get is plain text: a port or a path.
"""

from __future__ import annotations

import secrets
import shutil
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path

from tests.support import first_start
from tests.support.engines import NotInstalled, PostgresServer, RedisServer
from tests.support.samba_dc import SambaServer

_current: Keeper | Asker | None = None


def shared() -> Keeper | Asker:
    assert _current is not None, "no test run has begun"
    return _current


class Keeper:
    """In the process that started the run."""

    def __init__(self) -> None:
        global _current  # noqa: PLW0603 - one run in each process
        _current = self
        self.key = secrets.token_bytes(16)
        self._listener = Listener(authkey=self.key)
        self._lock = threading.RLock()
        self._kept: dict[str, str] = {}
        self._remove: list[Callable[[], None]] = []
        threading.Thread(target=self._listen, daemon=True).start()

    @property
    def address(self) -> str:
        return str(self._listener.address)

    def get(self, name: str) -> str:
        with self._lock:
            if name not in self._kept:
                self._kept[name] = getattr(self, f"_make_{name}")()
            return self._kept[name]

    def close(self) -> None:
        with self._lock:
            while self._remove:
                self._remove.pop()()
        self._listener.close()

    def _make_redis(self) -> str:
        server = RedisServer("--databases", "1024")
        self._remove.append(server.remove)
        server.start()
        return str(server.port)

    def _make_postgres(self) -> str:
        server = PostgresServer()
        self._remove.append(server.remove)
        server.start()
        first_start.make_template_database(server, Path(self.get("data_folder")))
        return str(server.port)

    def _make_samba(self) -> str:
        server = SambaServer()
        self._remove.append(server.remove)
        server.start()
        return server.described()

    def _make_data_folder(self) -> str:
        folder = Path(tempfile.mkdtemp(prefix="gatehouse-"))
        self._remove.append(lambda: shutil.rmtree(folder))
        first_start.make_data_folder(folder / "data")
        return str(folder / "data")

    def _listen(self) -> None:
        while True:
            try:
                connection = self._listener.accept()
            except OSError:
                return  # it was closed
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: Connection) -> None:
        with connection, suppress(EOFError):
            try:
                connection.send(self.get(connection.recv()))
            except NotInstalled as missing:
                connection.send(missing)


class Asker:
    """In a worker of pytest-xdist."""

    def __init__(self, address: str, key: bytes) -> None:
        global _current  # noqa: PLW0603 - one run in each process
        _current = self
        self._address = address
        self._key = key
        self._known: dict[str, str] = {}

    def get(self, name: str) -> str:
        if name not in self._known:
            with Client(self._address, authkey=self._key) as connection:
                connection.send(name)
                told = connection.recv()
            if isinstance(told, NotInstalled):
                raise told
            self._known[name] = told
        return self._known[name]
