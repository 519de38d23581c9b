"""Logging: one line for each event, JSON or pretty on a terminal. Values are quoted, so input cannot forge a line."""

from __future__ import annotations

import asyncio
import atexit
import json
import logging
import sys
import threading
import traceback
from collections import deque
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable

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


class Logger:
    """`log.info("what happened", user=1)` writes one line, as `configure` says by then."""

    def __init__(self) -> None:
        self.level = logging.INFO
        self.render: Callable[[dict[str, Any]], str] = _as_json

    def is_enabled_for(self, level: int) -> bool:
        return level >= self.level

    def debug(self, event: str, /, **values: Any) -> None:
        self._log(logging.DEBUG, event, values)

    def info(self, event: str, /, **values: Any) -> None:
        self._log(logging.INFO, event, values)

    def warning(self, event: str, /, **values: Any) -> None:
        self._log(logging.WARNING, event, values)

    def error(self, event: str, /, **values: Any) -> None:
        self._log(logging.ERROR, event, values)

    def exception(self, event: str, /, **values: Any) -> None:
        """For an `except` clause: with the traceback."""
        self._log(logging.ERROR, event, values, traceback.format_exc().rstrip())

    def _log(self, level: int, event: str, values: dict[str, Any], exception: str = "") -> None:
        if level < self.level:
            return
        now = datetime.now(UTC).replace(tzinfo=None).isoformat() + "Z"
        line = {**values, "event": event, "level": logging.getLevelName(level).lower(), "timestamp": now}
        if exception:
            line["exception"] = exception
        (_lines.info if level < logging.WARNING else _lines.warning)(self.render(line))


def configure(level: str, log_format: str) -> None:
    """Log from `level` upwards."""
    pretty = log_format == "pretty" or (log_format == "auto" and sys.stderr.isatty())
    log.level = logging.getLevelNamesMapping()[level.upper()]
    log.render = _as_text if pretty else _as_json


_encode = msgspec.json.Encoder(enc_hook=repr).encode


def _as_json(line: dict[str, Any]) -> str:
    """ASCII only: other characters are escaped, since some of them end a line or steer a terminal."""
    try:
        return msgspec.json.format(_encode(line), indent=0).decode("ascii")
    except (TypeError, ValueError, OverflowError):  # characters or numbers that this encoder leaves to the slower one
        return json.dumps(line, default=repr)


_COLORS = {"info": "\x1b[32m", "warning": "\x1b[33m", "error": "\x1b[31m"}


def _as_text(line: dict[str, Any]) -> str:
    """For a terminal. A value that is more than one printable word is quoted."""
    event, level, timestamp, exception = (line.pop(name, "") for name in ("event", "level", "timestamp", "exception"))
    values = " ".join(f"{name}={_word(value)}" for name, value in line.items())
    color, end = (_COLORS.get(level, ""), "\x1b[0m") if sys.stderr.isatty() else ("", "")
    text = f"{timestamp} [{color}{level:<7}{end}] {event:<30} {values}".rstrip()
    return f"{text}\n{exception}" if exception else text


def _word(value: object) -> str:
    is_word = isinstance(value, str) and value.isprintable() and not set(value) & set(" ='\"")
    return str(value) if is_word else repr(value)


log = Logger()
