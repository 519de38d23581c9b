"""The test issuer of `examples/bad_tokens`, and its table of tokens sent to a service."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import httpx

from tests.examples.programs import EXAMPLES, program, python
from tests.support.running import free_port
from tests.support.waiting import PATIENCE

BAD_TOKENS = EXAMPLES / "bad_tokens"


class Issuer(NamedTuple):
    url: str
    tokens: dict[str, str]  # by name


@contextmanager
def running_issuer(logs: Path, port: int | None = None) -> Iterator[Issuer]:
    port = port or free_port()
    words = python("make_tokens.py", "--port", str(port))
    with program(words, f"http://127.0.0.1:{port}", logs / f"issuer-{port}.txt", cwd=BAD_TOKENS) as url:
        rows = httpx.get(f"{url}/tokens", timeout=PATIENCE).json()
        assert len({row["name"] for row in rows}) == len(rows) > 200
        yield Issuer(url, {row["name"]: row["token"] for row in rows})


def assert_answers_of_the_table(issuer: Issuer, service: str, adapter: str = "") -> None:
    words = python("try_tokens.py", "--issuer", issuer.url, "--service", service, "--adapter", adapter)
    tried = subprocess.run(words, cwd=BAD_TOKENS, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert tried.returncode == 0, tried.stdout + tried.stderr
