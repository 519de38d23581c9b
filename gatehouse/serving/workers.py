"""The server and its workers: processes forked from one that has loaded everything they share."""

from __future__ import annotations

import gc
import os
import signal
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import TYPE_CHECKING, Any

from granian.constants import HTTPModes, Interfaces, Loops
from granian.server import Server

from gatehouse import logs
from gatehouse.api.app import App
from gatehouse.auth.login.captcha.glyphs import glyphs
from gatehouse.auth.login.captcha.image import Painter
from gatehouse.service import open_service
from gatehouse.serving import connections

if TYPE_CHECKING:
    import asyncio

    from gatehouse.settings import Settings

# Time for requests in flight once the service is told to stop.
DRAIN_SECONDS = 10
STOP = (signal.SIGTERM, signal.SIGINT)
MAX_CONNECTIONS = 16_384
# Workers that die are replaced, unless so many in a row died so soon after their start: then they cannot run at all.
MAX_EARLY_EXITS = 30
EARLY_EXIT_SECONDS = 2.0

log = logs.named("gatehouse")


def warm_up() -> None:
    """What every worker inherits instead of making its own: the letters of the captcha, and a heap at rest.

    What is there now stays for good: the collector need not walk through it again and again, which would hold up
    the requests of the moment for as long.
    """
    glyphs()
    gc.freeze()


def run(settings: Settings) -> None:
    """Serve until told to stop."""
    server = Server(
        "gatehouse",
        address=settings.host,
        port=settings.port,
        interface=Interfaces.RSGI,
        http=HTTPModes.http1,
        workers=settings.workers,
        loop=Loops.auto,
        backlog=MAX_CONNECTIONS,
        backpressure=MAX_CONNECTIONS,
        http1_settings=connections.http1_settings(),
        websockets=False,
        log_enabled=False,
        respawn_failed_workers=True,
        respawn_interval=0.1,
        workers_kill_timeout=DRAIN_SECONDS,
    )
    server.respawned_wrks = RespawnPolicy(settings.workers)  # type: ignore[assignment]  # has all that is asked of it
    os.register_at_fork(before=_block_signals, after_in_parent=_unblock_signals)  # a worker takes them when it serves
    with TemporaryDirectory(prefix="gatehouse-") as folder:
        try:
            server.serve(target_loader=partial(load_app, settings, Path(folder)), wrap_loader=False)
        except SystemExit:
            if not server.interrupt_signal:
                log.error("workers die as fast as they are started; giving up")  # noqa: TRY400 - no fault of this line
            raise


class RespawnPolicy:
    """Decides whether a worker that has died is replaced, in the place where the server asks when it last was.

    Left to itself the server gives up, without a word, when one dies within seconds of its start. But two kills in a
    row, by an impatient operator or a machine short of memory, are no reason to take all the other workers down.
    """

    def __init__(self, workers: int) -> None:
        self._at_most = max(MAX_EARLY_EXITS, 10 * workers)
        self._started: dict[int, float] = {}
        self._early = 0

    def __setitem__(self, worker: int, now: float) -> None:
        self._started[worker] = now

    def get(self, worker: int, _otherwise: float) -> float:
        """Asked once for each that has died. A time long ago: replace it. Just now: give up."""
        now = monotonic()
        early = now - self._started.get(worker, float("-inf")) < EARLY_EXIT_SECONDS
        self._early = self._early + 1 if early else 0
        log.warning("a worker has died", worker=worker + 1)
        return now if self._early >= self._at_most else float("-inf")

    def clear(self) -> None:
        """Nothing is forgotten: it is how long each has lived that counts."""


def load_app(settings: Settings, metrics_folder: Path) -> Any:
    """Runs in each worker."""
    logs.configure(settings.log_level, settings.log_format)
    app = WorkerApp(open_service(settings), Painter(settings.captcha_difficulty), metrics_folder)
    gc.freeze()
    gc.enable()
    return app


class WorkerApp(App):
    """The application in a worker that starts, to which it is forked with the signals to stop held back.

    Until its event loop runs for good there is nobody to hear them: first the handlers are the parent's, then they are
    the loop's, which runs only now and then. So they wait until it does.
    """

    def __rsgi_init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__rsgi_init__(loop)
        loop.call_soon(_unblock_signals)
        loop.call_soon(connections.bound_unread_answers, self._service.settings.port)


def _block_signals() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, STOP)


def _unblock_signals() -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP)
