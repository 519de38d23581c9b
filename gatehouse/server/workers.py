"""The server and its workers: processes forked from one that has loaded everything they share."""

from __future__ import annotations

import gc
import os
import signal
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from granian.constants import HTTPModes, Interfaces, Loops

from gatehouse.api.app import App
from gatehouse.auth.login.captcha.glyph_masks import preload
from gatehouse.auth.login.captcha.image import CaptchaRenderer
from gatehouse.common import logs
from gatehouse.common.logs import log
from gatehouse.composition import Service
from gatehouse.server import connection_timeouts, cpu_scheduling
from gatehouse.server.node_agreement import renew_forever
from gatehouse.server.parent_death import stop_with_parent
from gatehouse.server.worker_respawn import RespawningServer

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Mapping

    from gatehouse.auth.login.captcha.glyph_mask_drawing import DrawnGlyph
    from gatehouse.settings import Settings

# How long the workers drain requests in flight when the service stops.
DRAIN_SECONDS = 10
STOP = (signal.SIGTERM, signal.SIGINT)
MAX_CONNECTIONS = 16_384


def warm_up(glyphs: Mapping[tuple[int, str], DrawnGlyph]) -> None:
    """Keep what every worker shares after the fork: the captcha's glyphs and all modules.

    Objects made before the fork are frozen, so that garbage collection in a worker does not scan and copy them.
    """
    preload(glyphs)
    gc.freeze()


def run(settings: Settings, node: str) -> None:
    """Serve until stopped."""
    server = RespawningServer(
        "gatehouse",
        address=settings.host,
        port=settings.port,
        interface=Interfaces.RSGI,
        http=HTTPModes.http1,
        workers=settings.workers,
        loop=Loops.auto,
        backlog=MAX_CONNECTIONS,
        backpressure=MAX_CONNECTIONS,
        http1_settings=connection_timeouts.http1_settings(),
        websockets=False,
        log_enabled=False,
        respawn_failed_workers=True,
        respawn_interval=0.1,
        workers_kill_timeout=DRAIN_SECONDS,
    )
    os.register_at_fork(before=_block_signals, after_in_parent=_unblock_signals)  # a worker takes them when it serves
    with TemporaryDirectory(prefix="gatehouse-") as folder:
        try:
            server.serve(target_loader=partial(load_app, settings, node, Path(folder)), wrap_loader=False)
        except SystemExit:
            if server.interrupt_signal:
                return  # as asked; granian exits with 1 if a worker has died at the same time
            log.error("workers keep exiting right after their start; stopping")
            raise


def load_app(settings: Settings, node: str, metrics_folder: Path) -> Any:
    """Runs in each worker."""
    stop_with_parent()
    logs.configure(settings.log_level, settings.log_format)
    cpu_scheduling.run_as_batch()
    app = WorkerApp(Service(settings), CaptchaRenderer(settings.captcha_difficulty), metrics_folder)
    app.node = node
    gc.freeze()
    gc.enable()
    return app


class WorkerApp(App):
    """The application in a worker. Stop signals are blocked from the fork until its event loop runs.

    Before that the handlers are the parent's or a loop's that is not running yet, and a signal would be lost.
    """

    node: str  # the service that this worker belongs to

    def __rsgi_init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__rsgi_init__(loop)
        self._service.tasks.append(loop.create_task(renew_forever(self._service, self.node)))
        loop.call_soon(self._end_streams_on_stop, loop)
        loop.call_soon(_unblock_signals)
        loop.call_soon(connection_timeouts.bound_unread_answers, self._service.settings.port)

    def _end_streams_on_stop(self, loop: asyncio.AbstractEventLoop) -> None:
        """The server waits for connections to end, and some stay open for as long as they can.

        The event loop gets signals through its own wakeup file descriptor, which stays in place.
        """
        for number in STOP:
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(self._service.stopping.set))


def _block_signals() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, STOP)


def _unblock_signals() -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP)
