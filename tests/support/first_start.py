"""What a first start leaves, made once in each process and copied: making it anew would take longer than most tests."""

from __future__ import annotations

import asyncio
import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from gatehouse.serving.preparation import prepare
from gatehouse.settings import load
from tests.support.running import PASSWORD

if TYPE_CHECKING:
    from tests.support.engines import PostgresServer


@cache
def data_folder() -> Path:
    data = Path(tempfile.mkdtemp(prefix="gatehouse-")) / "data"
    atexit.register(shutil.rmtree, data.parent)
    asyncio.run(prepare(load({"data_dir": str(data), "admin_password": PASSWORD}, environ={})))
    return data


@cache
def template_database(server: PostgresServer) -> str:
    """The name of a database whose signing key is sealed with the secret in `data_folder`."""
    url = server.create("template_started")
    settings = {"data_dir": str(data_folder()), "admin_password": PASSWORD, "database_url": url, "state_url": url}
    asyncio.run(prepare(load(settings, environ={})))
    return "template_started"
