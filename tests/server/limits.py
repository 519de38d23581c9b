"""A service in processes of its own whose time limits a test has changed."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from tests.support.running import Running

# No test waits this long: what ends before it has not been ended by it.
FOREVER = 3600
NO_END_OF_DRAIN: Mapping[str, float] = {"gatehouse.server.workers.DRAIN_SECONDS": FOREVER}


def with_limits(data: Path, limits: Mapping[str, float], **settings: object) -> Running:
    """The limits by module and name, as in `NO_END_OF_DRAIN`."""
    lines = ["import importlib"]
    for place, seconds in limits.items():
        module, _, name = place.rpartition(".")
        lines.append(f"importlib.import_module({module!r}).{name} = {seconds}")
    running = Running(data, **settings)
    program = "\n".join([*lines, "from gatehouse.cli import main", "main()"])
    running.command = [sys.executable, "-c", program, "serve"]
    return running
