"""Logging: one line for each event, JSON or pretty on a terminal. Values are quoted, so input cannot forge a line.

The only file that imports structlog. structlog imports rich for its tracebacks, which are not used here: 5 MB in every
worker and a tenth of the start (measure with `python -X importtime -m gatehouse --version`). So rich is hidden during
that one import, unless a command has loaded it already. To switch the trick off, delete the lines around the import.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import logging
import sys
import threading
from collections import deque
from contextlib import suppress
from typing import Any

import msgspec

_hidden = "rich" not in sys.modules
if _hidden:
    sys.modules["rich"] = None  # type: ignore[assignment]  # what makes an import of it fail
import structlog  # noqa: E402 - see above

if _hidden:
    del sys.modules["rich"]


FLUSH_SECONDS = 0.1


class Lines:
    """Writes lines to standard error, those of a moment together: each write lets other threads take the interpreter's
    lock, which costs a refresh more than the line (docs/measurements.md). From `warning` upwards none waits.
    """

    def __init__(self) -> None:
        self._waiting: deque[str] = deque()
        self._flushing_loop: asyncio.AbstractEventLoop | None = None  # the loop that will flush, if one was asked to
        self._writing = threading.Lock()

    def info(self, line: str) -> None:
        self._waiting.append(line)
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # a thread without one
            self.flush()
        else:
            if loop is not self._flushing_loop:
                self._flushing_loop = loop
                loop.call_later(FLUSH_SECONDS, self.flush)

    def warning(self, line: str) -> None:
        self._waiting.append(line)
        self.flush()

    debug = info
    error = critical = warning

    def flush(self) -> None:
        with self._writing:
            self._flushing_loop = None
            lines = [self._waiting.popleft() for _ in range(len(self._waiting))]
            if lines:
                with suppress(OSError):  # nobody reads it any more, or its disk is full: no reason to stop serving
                    sys.stderr.write("\n".join(lines) + "\n")
                    sys.stderr.flush()


_lines = Lines()
atexit.register(_lines.flush)
flush = _lines.flush  # a worker calls it at its end, where nothing registered with `atexit` runs


def named(name: str) -> Any:
    """A logger that writes as `configure` says by the time it is first used."""
    return structlog.get_logger(name)


def configure(level: str, log_format: str, *, cached: bool = True) -> None:
    """Log from `level` upwards. `cached`: once and for all, which is what a service wants and a command need not."""
    pretty = log_format == "pretty" or (log_format == "auto" and sys.stderr.isatty())
    renderer = structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty()) if pretty else _as_json
    structlog.configure(
        processors=[
            structlog.stdlib.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=lambda *_: _lines,
        cache_logger_on_first_use=cached,
    )


_encode = msgspec.json.Encoder(enc_hook=repr).encode


def _as_json(_logger: object, _method: str, event: structlog.typing.EventDict) -> str:
    """ASCII only: other characters are escaped, since some of them end a line or steer a terminal."""
    try:
        return msgspec.json.format(_encode(event), indent=0).decode("ascii")
    except (TypeError, ValueError, OverflowError):  # characters or numbers that this encoder leaves to the slower one
        return json.dumps(event, default=repr)
