"""Starts an example as its README says, on a free port, and stops it."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

EXAMPLES = Path(__file__).parents[2] / "examples"


@contextmanager
def program(words: list[str], url: str, log: Path, **options: object) -> Iterator[str]:
    """Yields the URL once something answers there, whatever it answers."""
    env = {**os.environ, **options.pop("env", {})}  # type: ignore[dict-item]
    with log.open("wb") as output:
        process = subprocess.Popen(words, stdout=output, stderr=output, env=env, **options)  # type: ignore[call-overload]
    try:
        deadline = time.monotonic() + 180  # a JVM on a busy machine takes its time
        while True:
            assert process.poll() is None, f"{words[0]} ended by itself:\n{log.read_text()}"
            assert time.monotonic() < deadline, f"{words[0]} did not start:\n{log.read_text()}"
            try:
                httpx.get(url, timeout=1)
                break
            except httpx.TransportError:
                time.sleep(0.05)
        yield url
    finally:
        process.terminate()
        try:
            process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(timeout=60)
            raise
