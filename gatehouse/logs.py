"""Logging: one line for each event, JSON or pretty on a terminal. Values are quoted, so input cannot forge a line.

The only file that imports structlog. structlog imports rich for its tracebacks, which are not used here: 5 MB in every
worker and a tenth of the start (measure with `python -X importtime -m gatehouse --version`). So rich is hidden during
that one import, unless a command has loaded it already. To switch the trick off, delete the lines around the import.
"""

from __future__ import annotations

import logging
import sys
from typing import Any

_hidden = "rich" not in sys.modules
if _hidden:
    sys.modules["rich"] = None  # type: ignore[assignment]  # what makes an import of it fail
import structlog  # noqa: E402 - see above

if _hidden:
    del sys.modules["rich"]


def named(name: str) -> Any:
    """A logger that writes as `configure` says by the time it is first used."""
    return structlog.get_logger(name)


def configure(level: str, form: str, *, cached: bool = True) -> None:
    """Log from `level` upwards. `cached`: once and for all, which is what a service wants and a command need not."""
    pretty = form == "pretty" or (form == "auto" and sys.stderr.isatty())
    renderer: structlog.typing.Processor
    if pretty:
        renderer = structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    else:
        renderer = structlog.processors.JSONRenderer()
    structlog.configure(
        processors=[
            structlog.stdlib.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=cached,
    )
