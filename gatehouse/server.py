"""Runs the service: prepares what must be there, then hands the application to the server and its workers."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import socket
import sys
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import structlog
from granian.constants import Interfaces, Loops
from granian.http import HTTP1Settings
from granian.server import Server

from gatehouse import __version__, logs
from gatehouse.api.app import App
from gatehouse.auth.captcha.image import Painter
from gatehouse.auth.first_start import ADMINISTRATOR
from gatehouse.preparation import prepare
from gatehouse.service import open_service
from gatehouse.settings import SettingsError

if TYPE_CHECKING:
    from gatehouse.settings import Settings

# Time for requests in flight once the service is told to stop.
DRAIN_SECONDS = 10
HEADER_SECONDS = 10
CONNECTIONS = 16_384

# From malloc.h; the value is fixed, since the library would raise it by itself after the first hash.
M_MMAP_THRESHOLD = -3
MMAP_BYTES = 4 * 1024 * 1024

log = structlog.get_logger("gatehouse")


def serve(settings: Settings) -> None:
    """Prepare, announce, and serve until told to stop."""
    logs.configure(settings.log_level, settings.log_format)
    _require_free_port(settings)
    # In a process of its own: it needs Alembic, database drivers and their threads, which the workers, forked
    # from this process, shall neither carry nor inherit.
    with ProcessPoolExecutor(1) as aside:
        password = aside.submit(_prepare, settings).result()
    _announce(settings, password)
    server = Server(
        "gatehouse",
        address=settings.host,
        port=settings.port,
        interface=Interfaces.RSGI,
        workers=settings.workers,
        loop=Loops.auto,
        backlog=CONNECTIONS,
        backpressure=CONNECTIONS,
        http1_settings=HTTP1Settings(header_read_timeout=HEADER_SECONDS * 1000, keep_alive=True, pipeline_flush=True),
        websockets=False,
        log_enabled=False,
        respawn_failed_workers=True,
        respawn_interval=0.1,
        workers_kill_timeout=DRAIN_SECONDS,
    )
    with TemporaryDirectory(prefix="gatehouse-") as folder:
        server.serve(target_loader=partial(load_app, settings, Path(folder)), wrap_loader=False)


def load_app(settings: Settings, metrics_folder: Path) -> Any:
    """Runs in each worker."""
    logs.configure(settings.log_level, settings.log_format)
    _return_memory()
    app = App(open_service(settings), Painter(settings.captcha_difficulty), metrics_folder)
    # What is there now stays for good: the collector need not walk through it again and again, which would
    # hold up the requests of the moment for as long.
    gc.collect()
    gc.freeze()
    return app


def _prepare(settings: Settings) -> str | None:
    return asyncio.run(prepare(settings))


def _require_free_port(settings: Settings) -> None:
    """The workers share their port with whoever binds it likewise: a second service must not join them unseen."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.host, settings.port))
        except OSError as problem:
            raise SettingsError(
                [f"cannot listen on {settings.host} port {settings.port}: {problem.strerror}"]
            ) from None


def _return_memory() -> None:
    """Let glibc give the 19 MiB of each password hash back at once, instead of keeping them for every thread."""
    with suppress(OSError, AttributeError):  # another C library: then it decides by itself
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, MMAP_BYTES)


def _announce(settings: Settings, password: str | None) -> None:
    if settings.captcha_test_answer:
        log.warning("TEST SWITCH: every captcha has the same answer (GATEHOUSE_CAPTCHA_TEST_ANSWER)")
    if not settings.limits:
        log.warning("TEST SWITCH: all limits are off (GATEHOUSE_LIMITS=off)")
    lines = [f"Gatehouse {__version__} serves on {settings.public_url}"]
    if password:
        lines += [
            "",
            "  This is the first start. The administrator, shown this once:",
            f"    username  {ADMINISTRATOR}",
            f"    password  {password}",
            "",
        ]
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()
