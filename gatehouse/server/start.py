"""Starts the service: prepares what must be there, announces it, and hands over to the workers."""

from __future__ import annotations

import asyncio
import gc
import socket
import sys
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING

from gatehouse.auth.passwords import malloc_tuning
from gatehouse.common import logs
from gatehouse.common.logs import log
from gatehouse.management.bootstrap import ADMIN_USERNAME
from gatehouse.server import node_agreement
from gatehouse.server.preparation import prepare
from gatehouse.settings import SettingsError
from gatehouse.version import __version__

if TYPE_CHECKING:
    from gatehouse.auth.login.captcha.glyph_mask_drawing import DrawnGlyph
    from gatehouse.settings import Settings


def serve(settings: Settings) -> None:
    """Prepare, announce, and serve until stopped."""
    gc.disable()  # until the workers start: collecting while modules load is a fifth of the start
    malloc_tuning.keep_large_blocks()  # before there are threads that get heaps of their own; the workers inherit it
    logs.configure(settings.log_level, settings.log_format)
    _require_free_port(settings)
    _warn_of_taken_metrics_address(settings)
    node = node_agreement.new_node_id()
    # In a process of its own: it needs Alembic, Pillow, database drivers and their threads, which the workers, forked
    # from this process, must not inherit.
    with ProcessPoolExecutor(1) as helper:
        prepared = helper.submit(_prepare, settings, node)
        glyphs = helper.submit(_draw_glyphs)
        from gatehouse.server import workers  # noqa: PLC0415 - a quarter of a second, while the other process prepares

        workers.warm_up(glyphs.result())
        password = prepared.result()
    _announce(settings, password)
    try:
        workers.run(settings, node)
    finally:
        asyncio.run(node_agreement.unregister(settings, node))


def _prepare(settings: Settings, node: str) -> str | None:
    return asyncio.run(_prepare_and_register(settings, node))


def _draw_glyphs() -> dict[tuple[int, str], DrawnGlyph]:
    from gatehouse.auth.login.captcha.glyph_mask_drawing import draw_alphabet  # noqa: PLC0415 - see above

    return draw_alphabet()


async def _prepare_and_register(settings: Settings, node: str) -> str | None:
    password = await prepare(settings)
    await node_agreement.register(settings, node)
    return password


def _require_free_port(settings: Settings) -> None:
    """Workers bind with SO_REUSEPORT, so a second service on the port would silently get part of the requests."""
    problem = _bind_problem(settings.host, settings.port)
    if problem:
        raise SettingsError([f"cannot listen on {settings.host} port {settings.port}: {problem}"])


def _warn_of_taken_metrics_address(settings: Settings) -> None:
    """Metrics are no reason to refuse logins: a worker takes the address when it becomes free."""
    if settings.metrics in {"on", "off"}:
        return
    host, _, port = settings.metrics.rpartition(":")
    problem = _bind_problem(host.strip("[]"), int(port))
    if problem:
        log.warning("metrics address already in use", metrics=settings.metrics, problem=problem)


def _bind_problem(host: str, port: int) -> str | None:
    """Why the address cannot be bound; None if it can."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as problem:
            return problem.strerror or str(problem)
    return None


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
            f"    username  {ADMIN_USERNAME}",
            f"    password  {password}",
            "",
        ]
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()
