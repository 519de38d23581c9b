"""granian's server, with three changes to what happens when a worker dies.

By itself granian stops the whole service, without a log line, when a worker dies within seconds of its start. Two kills
in a row, by an operator or by the kernel when memory is short, are no reason for that: `RespawnPolicy` replaces
granian's table of respawn times. Granian also loses a stop signal that comes while it looks after a dead worker. And
when a worker cannot be started, its main loop ends, and nothing hears of deaths or signals any more. `RespawningServer`
mends both.

What is replaced is private to granian: pyproject.toml caps its version, and `tests/server/test_durability.py` and
`test_stopping.py` kill workers to check it. To go back to granian's own rules, let `workers.py` make a `Server`.
"""

from __future__ import annotations

from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from granian.server import Server

from gatehouse.common import logs

if TYPE_CHECKING:
    from collections.abc import Sequence

# Dead workers are respawned, unless this many in a row died this soon after their start.
MAX_EARLY_EXITS = 30
EARLY_EXIT_SECONDS = 2.0
RETRY_SECONDS = 1.0  # after a worker could not be started

log = logs.named("gatehouse")


class RespawningServer(Server):  # type: ignore[misc,valid-type]  # granian picks the class when it is imported
    def __init__(self, *args: Any, workers: int, **options: Any) -> None:
        super().__init__(*args, workers=workers, **options)
        self.respawned_wrks = RespawnPolicy(workers)

    def _respawn_workers(self, workers: Sequence[int], *args: Any, **options: Any) -> None:
        for worker in workers:
            dead = self.wrks[worker]
            try:
                super()._respawn_workers([worker], *args, **options)
            except OSError as problem:  # no memory, no process or no open file is left for it
                log.error("cannot start a worker", worker=worker + 1, problem=str(problem))  # noqa: TRY400 - no traceback needed
                self.wrks.insert(worker, dead)  # it was taken out first
                self.interrupt_children.append(worker)
                sleep(RETRY_SECONDS)
        # The loop that has called this clears its event before, and a stop signal or a death may have set it since the
        # loop looked for them.
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
