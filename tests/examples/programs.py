"""Starts an example as its README says, on a free port, and stops it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.support.running import TLS
from tests.support.waiting import PATIENCE, wait_until

EXAMPLES = Path(__file__).parents[2] / "examples"


@contextmanager
def program(words: list[str], url: str, log: Path, **options: object) -> Iterator[str]:
    """Yields the URL once something answers there, whatever it answers."""
    env = {**os.environ, **options.pop("env", {})}  # type: ignore[dict-item]
    with log.open("wb") as output:
        process = subprocess.Popen(words, stdout=output, stderr=output, env=env, **options)  # type: ignore[call-overload]
    try:

        def answers() -> bool:
            assert process.poll() is None, f"{words[0]} ended by itself:\n{log.read_text()}"
            try:
                httpx.get(url, timeout=1, verify=TLS)
            except httpx.TransportError:
                return False
            return True

        wait_until(answers, lambda: f"the start of {words[0]}:\n{log.read_text()}")
        yield url
    finally:
        process.terminate()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(PATIENCE)
            raise


def python(*words: str) -> list[str]:
    return [sys.executable, *words]
