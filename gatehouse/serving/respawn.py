"""granian's server, with what happens when a worker dies changed in two places.

By itself granian stops the whole service, without a log line, when a worker dies within seconds of its start. Two kills
in a row, by an operator or by the kernel when memory is short, are no reason for that: `RespawnPolicy` replaces
granian's table of respawn times. And granian loses a stop signal that comes at the moment when it looks after a dead
worker, and serves on: `RespawningServer` looks again. What is replaced is private to granian: pyproject.toml caps its
version, `tests/serving/test_durability.py` and `test_stopping.py` kill workers to check both. To go back to granian's
own rules, let `workers.py` make a `Server`.
"""

from __future__ import annotations

from time import monotonic
from typing import Any

from granian.server import Server

from gatehouse import logs

# Dead workers are respawned, unless this many in a row died this soon after their start.
MAX_EARLY_EXITS = 30
EARLY_EXIT_SECONDS = 2.0

log = logs.named("gatehouse")


class RespawningServer(Server):  # type: ignore[misc,valid-type]  # granian picks the class when it is imported
    def __init__(self, *args: Any, workers: int, **options: Any) -> None:
        super().__init__(*args, workers=workers, **options)
        self.respawned_wrks = RespawnPolicy(workers)

    def _respawn_workers(self, *args: Any, **options: Any) -> None:
        """Before calling this, granian clears the event that its main loop waits for. A stop signal, or the death of
        another worker, may have set it since the loop looked for one: it is set again.
        """
        super()._respawn_workers(*args, **options)
        if self.interrupt_signal or self.interrupt_children:
            self.main_loop_interrupt.set()


class RespawnPolicy:
    """Decides whether a dead worker is respawned. It has the methods of a table that granian calls."""

    def __init__(self, workers: int) -> None:
        self._max_early_exits = max(MAX_EARLY_EXITS, 10 * workers)
        self._started: dict[int, float] = {}
        self._early = 0

    def __setitem__(self, worker: int, now: float) -> None:
        """Called by granian when it has started a worker."""
        self._started[worker] = now

    def get(self, worker: int, _default: float) -> float:
        """Called once for each dead worker: minus infinity respawns it, the present time ends the service."""
        now = monotonic()
        early = now - self._started.get(worker, float("-inf")) < EARLY_EXIT_SECONDS
        self._early = self._early + 1 if early else 0
        log.warning("a worker has died", worker=worker + 1)
        return now if self._early >= self._max_early_exits else float("-inf")

    def clear(self) -> None:
        """Called by granian after a reload; start times are kept, since they are what the policy reads."""
