"""Places to move into: a service that was just started for the first time, and databases to move from."""

from __future__ import annotations

import asyncio
import itertools
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from gatehouse.server.preparation import prepare
from gatehouse.settings import load
from tests.cli.terminal import Outcome, Terminal
from tests.support.local import Local
from tests.support.running import Installation, free_port
from tests.support.shared import shared
from tests.transfer.mariadb import mariadb_server

__all__ = ["mariadb_server"]

_numbers = itertools.count(1)


class Place:
    """Gatehouse after its first start, and a terminal beside it. It serves only if it is asked to."""

    def __init__(self, data: Path, **settings: object) -> None:
        self._settings = {"port": free_port(), **settings}
        installation = Installation(data, **self._settings)
        self.data, self.env = installation.data, installation.env
        self.typed = Terminal(self.env)
        if data.exists() or settings.keys() & {"secret", "database_url"}:
            asyncio.run(prepare(load(environ=self.env)))
        else:
            shutil.copytree(shared().get("data_folder"), data)

    @contextmanager
    def serving(self) -> Iterator[httpx.Client]:
        with Local(self.data, **self._settings) as local, local.client() as client:
            yield client

    def bring(self, url: str, *options: str) -> dict[str, Any]:
        """Import from there; what was said, as JSON."""
        return self.told(self.typed("import", "youlai", "--from", url, "--json", *options))

    def told(self, outcome: Outcome) -> dict[str, Any]:
        assert outcome.err == "", outcome
        document = outcome._replace(code=0).json
        assert outcome.code == (1 if document["refused"] else 0)
        return dict(document)

    def people(self) -> dict[str, dict[str, Any]]:
        """Every user by name, with hash."""
        file = self.data.parent / f"people-{next(_numbers)}.jsonl"
        self.typed("export", str(file), "--with-hashes").done()
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        return {line["username"]: line for line in lines if line["type"] == "user"}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "data")


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'old.db'}"
