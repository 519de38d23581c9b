"""Batch scheduling of a worker: a thread that wakes up does not preempt the one that runs (`SCHED_BATCH`).

The server's thread wakes for every packet and every answer, and would interrupt the event loop each time on the same
core: four context switches a request instead of one, and a tenth of its CPU time (`python -m benchmarks.refresh`, with
and without the call). What wakes in the meantime is then handled together, in one commit and one message to Redis. An
idle core runs a thread at once, as before. Linux only; where a sandbox forbids it, the normal policy stays.
"""

from __future__ import annotations

import os
from contextlib import suppress


def run_as_batch() -> None:
    """For this process and the threads that it starts later."""
    with suppress(AttributeError, OSError):
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
