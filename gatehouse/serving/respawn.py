"""Decides whether a dead worker is respawned. Replaces granian's table of respawn times.

By itself granian stops the whole service, without a log line, when a worker dies within seconds of its start. Two kills
in a row, by an operator or by the kernel when memory is short, are no reason for that. The table is private to granian:
pyproject.toml caps its version, and `tests/serving/test_durability.py` kills workers to check it. To go back to
granian's own rule, delete the line in `workers.py` that assigns `respawned_wrks`.
"""

from __future__ import annotations

from time import monotonic

from gatehouse import logs

# Dead workers are respawned, unless this many in a row died this soon after their start.
MAX_EARLY_EXITS = 30
EARLY_EXIT_SECONDS = 2.0

log = logs.named("gatehouse")


class RespawnPolicy:
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
