"""Typing commands: in this process, because starting Python for each would cost half a second."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple
from unittest.mock import patch

from gatehouse.cli import run


class Outcome(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.code == 0, self.err
        return json.loads(self.out)

    def done(self) -> str:
        """It went well: what was said."""
        assert (self.code, self.err) == (0, ""), self
        return self.out

    def refused(self, code: int = 2) -> str:
        """It was refused, in one line on standard error, and nothing else was said."""
        assert (self.code, self.out) == (code, ""), self
        assert self.err.count("\n") == 1, self.err
        assert "Traceback" not in self.err
        return self.err


class Terminal:
    """`gatehouse` with the environment of a running service."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self.env = dict(env)

    def __call__(self, *words: str, stdin: str | bytes = "") -> Outcome:
        given = stdin if isinstance(stdin, bytes) else stdin.encode()
        with _streams(given) as (out, err), patch.dict("os.environ", self.env, clear=True):
            code = run(words)
            sys.stdout.flush()
            sys.stderr.flush()
            return Outcome(code, out.getvalue().decode(), err.getvalue().decode())


@contextmanager
def _streams(stdin: bytes) -> Iterator[tuple[io.BytesIO, io.BytesIO]]:
    out, err = io.BytesIO(), io.BytesIO()
    with (
        patch("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin), "utf-8")),
        patch("sys.stdout", io.TextIOWrapper(out, "utf-8")),
        patch("sys.stderr", io.TextIOWrapper(err, "utf-8")),
    ):
        yield out, err
