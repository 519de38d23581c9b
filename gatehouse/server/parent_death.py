"""Stops a worker when the process that has started it is gone (`PR_SET_PDEATHSIG`).

If that process is killed by hand (`kill -9`), nobody tells its workers: they would serve on, replaced by nobody, and
keep the port, so that the service could not be started again. systemd and containers end them themselves. Linux only.
"""

from __future__ import annotations

import ctypes
import os
import signal
from contextlib import suppress
from multiprocessing import parent_process

PR_SET_PDEATHSIG = 1  # from linux/prctl.h


def stop_with_parent() -> None:
    """The worker finishes the requests in flight, as for every stop signal."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    parent = parent_process()
    if parent is not None and os.getppid() != parent.pid:  # gone before the call
        signal.raise_signal(signal.SIGTERM)
