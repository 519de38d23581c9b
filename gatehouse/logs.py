"""Logging: one line an event, JSON for machines or pretty on a terminal. Values are quoted, never pasted in."""

from __future__ import annotations

import logging
import sys

import structlog


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
