"""A real MariaDB server for the tests, where the machine has the program."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator

import pymysql
import pytest

from tests.support.engines import Server, ordinary_user

PATH = os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin"


class MariaDBServer(Server):
    def __init__(self, program: str, installer: str) -> None:
        # MariaDB refuses to run as root.
        super().__init__(ordinary_user() if os.geteuid() == 0 else None)
        self._program = program
        subprocess.run(
            [installer, "--no-defaults", f"--datadir={self.folder}/data", "--auth-root-authentication-method=normal",
             "--skip-test-db"],
            check=True, capture_output=True, cwd=self.folder, user=self.user,
            group=pwd.getpwnam(self.user).pw_gid if self.user else None, extra_groups=[] if self.user else None,
        )  # fmt: skip

    def command(self) -> list[str]:
        return [
            self._program, "--no-defaults", f"--datadir={self.folder}/data", f"--socket={self.folder}/sock",
            f"--pid-file={self.folder}/pid", f"--port={self.port}", "--bind-address=127.0.0.1",
            "--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=64M",
        ]  # fmt: skip

    def answers(self) -> bool:
        try:
            self.execute("SELECT 1")
        except pymysql.OperationalError:
            return False
        return True

    def execute(self, statement: str) -> None:
        with pymysql.connect(host="127.0.0.1", port=self.port, user="root", connect_timeout=5) as connection:
            connection.cursor().execute(statement)

    def create(self, name: str) -> str:
        """A new database of that name, as the family's seeds make it; returns its URL."""
        self.execute(f"CREATE DATABASE {name} CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci")
        return f"mysql://root@127.0.0.1:{self.port}/{name}"


def programs() -> tuple[str, str] | None:
    server = shutil.which("mariadbd", path=PATH) or shutil.which("mysqld", path=PATH)
    installer = shutil.which("mariadb-install-db", path=PATH)
    return (server, installer) if server and installer else None


@pytest.fixture(scope="session")
def mariadb_server() -> Iterator[MariaDBServer]:
    found = programs()
    if found is None:
        pytest.skip("MariaDB is not installed (apt install mariadb-server)")
    server = MariaDBServer(*found)
    server.start()
    yield server
    server.remove()
