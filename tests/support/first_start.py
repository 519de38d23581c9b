"""What a first start leaves, made once in each run and copied: making it takes longer than most tests."""

from __future__ import annotations

import asyncio
from pathlib import Path

from gatehouse.server.preparation import prepare
from gatehouse.settings import load
from tests.support.engines import STARTED, Postgres
from tests.support.running import PASSWORD


def make_data_folder(data: Path) -> None:
    asyncio.run(prepare(load({"data_dir": str(data), "admin_password": PASSWORD}, environ={})))


def make_template_database(server: Postgres, data: Path) -> None:
    """A database whose signing key is sealed with the secret in that folder."""
    server.create(Postgres.MIGRATED)
    url = server.copy(STARTED)
    settings = {"data_dir": str(data), "admin_password": PASSWORD, "database_url": url, "state_url": url}
    asyncio.run(prepare(load(settings, environ={})))
