"""Reads an uploaded sheet in a process of its own, which ends when it takes too long or too much memory.

The library that reads xlsx runs regular expressions over whatever the file holds. A few kilobytes can keep one of them
busy for days, and it does not release the interpreter's lock: in a thread it would stop the whole worker.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress

import msgspec

from gatehouse.common.logs import log
from gatehouse.transfer.xlsx import Cell, Formula, SheetInvalid, read_sheet

# A list of as many users as may be imported takes a second and a half, and 150 MiB of address space beside what glibc
# maps of its locales (more than 200 MiB on some systems).
SECONDS = 12
CPU_SECONDS = 8
MEMORY_MAX = 640 * 1024 * 1024
# All that Python itself needs. The settings of the service, secrets among them, stay outside.
_ENVIRONMENT = ("PATH", "LD_LIBRARY_PATH", "SYSTEMROOT", "VIRTUAL_ENV")


class _Sheet(msgspec.Struct):
    """What the process answers: the rows, None for a formula, or why they cannot be read."""

    rows: list[list[str | None]] = []
    problem: str = ""


def read_sheet_apart(content: bytes, columns: int) -> list[list[Cell]]:
    """As `read_sheet`; blocks for as long as it takes."""
    environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    # Else OpenBLAS, which NumPy brings, reserves so much for each core that a machine with many reaches MEMORY_MAX.
    environment["OPENBLAS_NUM_THREADS"] = "1"
    try:
        done = subprocess.run(  # noqa: S603 - this very module; the file is its input
            [sys.executable, "-P", "-m", __name__, str(columns)],
            input=content,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise SheetInvalid("it takes too long to read") from None
    if done.returncode:
        log.warning("the process that reads a sheet has failed", exit_code=done.returncode)
        raise SheetInvalid("it takes too long to read, or too much memory")
    sheet = msgspec.json.decode(done.stdout, type=_Sheet)
    if sheet.problem:
        raise SheetInvalid(sheet.problem)
    return [[Formula() if text is None else text for text in row] for row in sheet.rows]


def _limit_resources() -> None:
    import resource  # noqa: PLC0415 - not on Windows, where only the time is limited

    os.nice(3)  # behind requests, but not so far that a busy machine runs into the time limit
    with suppress(OSError, ValueError):  # a lower limit is set already
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MAX, MEMORY_MAX))


def _main() -> None:
    with suppress(ImportError):
        _limit_resources()
    try:
        rows = read_sheet(sys.stdin.buffer.read(), int(sys.argv[1]))
        sheet = _Sheet([[None if isinstance(cell, Formula) else cell for cell in row] for row in rows])
    except SheetInvalid as problem:
        sheet = _Sheet(problem=str(problem))
    sys.stdout.buffer.write(msgspec.json.encode(sheet))


if __name__ == "__main__":
    _main()
