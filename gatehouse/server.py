"""Runs the service: prepares what must be there, then hands the application to the server and its workers."""

from __future__ import annotations

import asyncio
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import structlog
from granian.constants import Interfaces, Loops
from granian.http import HTTP1Settings
from granian.server import Server

from gatehouse import __version__, logs
from gatehouse.api.app import App
from gatehouse.auth.captcha.image import Painter
from gatehouse.auth.first_start import ADMINISTRATOR
from gatehouse.service import open_service, prepare

if TYPE_CHECKING:
    from gatehouse.settings import Settings

# Time for requests in flight once the service is told to stop.
DRAIN_SECONDS = 10
HEADER_SECONDS = 10
CONNECTIONS = 16_384

log = structlog.get_logger("gatehouse")


def serve(settings: Settings) -> None:
    """Prepare, announce, and serve until told to stop."""
    logs.configure(settings.log_level, settings.log_format)
    password = asyncio.run(prepare(settings))
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
    server.serve(target_loader=partial(load_app, settings), wrap_loader=False)


def load_app(settings: Settings) -> Any:
    """Runs in each worker."""
    logs.configure(settings.log_level, settings.log_format)
    return App(open_service(settings), Painter(settings.captcha_difficulty))


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
