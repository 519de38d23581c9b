"""A copy of the working tree in which one rule at a time is broken."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.util import cache_from_source
from pathlib import Path
from typing import NamedTuple

from tests.mutants.table import Mutant

ROOT = Path(__file__).parents[2]
SOURCES = (".", "packages/python/src")  # the server, and the client library
# Longer than any test waits for somebody else's work, so that only a test that hangs is ended by it.
PATIENCE = 300

_FAILED = re.compile(r"^FAILED (tests/.+?)(?: - .*)?$", re.MULTILINE)


class Stale(Exception):
    """The table does not fit the code any more."""


class Run(NamedTuple):
    exit_code: int
    failed: tuple[str, ...]  # node ids without parameters
    seconds: float
    output: str


def patched(mutant: Mutant, root: Path) -> str:
    """The text of the file with the rule broken."""
    path = root / mutant.file
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    found = text.count(mutant.old)
    if found != 1:
        raise Stale(f"{mutant.rule}: the old text stands {found} times in {mutant.file}, and should once")
    broken = text.replace(mutant.old, mutant.new)
    try:
        compile(broken, mutant.file, "exec")
    except SyntaxError as problem:
        raise Stale(f"{mutant.rule}: {mutant.file} cannot be read with the new text: {problem}") from None
    return broken


def stale(mutants: Iterable[Mutant]) -> list[str]:
    """What the table says of the working tree that is not so."""
    problems = []
    for mutant in mutants:
        try:
            patched(mutant, ROOT)
        except Stale as problem:
            problems.append(str(problem))
        for test in mutant.tests:
            path, name = ROOT / test.partition("::")[0], test.partition("::")[2]
            if not path.is_file() or f"def {name}(" not in path.read_text(encoding="utf-8"):
                problems.append(f"{mutant.rule}: there is no {test}")
    return problems


class Copy:
    def __init__(self, folder: Path) -> None:
        self.root = folder
        for name in _files():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target)
        # Tests start programs in other folders as well: each must find this copy and not the installed package.
        self._environment = {**os.environ, "PYTHONPATH": os.pathsep.join(str(folder / source) for source in SOURCES)}
        for name in ("PYTHONDONTWRITEBYTECODE", "PYTEST_ADDOPTS"):
            self._environment.pop(name, None)
        self._require_own_package()

    @contextmanager
    def broken(self, mutant: Mutant) -> Iterator[None]:
        path = self.root / mutant.file
        right = path.read_text(encoding="utf-8")
        try:
            _write(path, patched(mutant, self.root))
            yield
        finally:
            _write(path, right)

    def test(self, tests: Iterable[str], *options: str) -> Run:
        started = time.monotonic()
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, *tests]
        try:
            done = subprocess.run(
                command,
                cwd=self.root,
                env=self._environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                timeout=PATIENCE,
                check=False,
            )
        except subprocess.TimeoutExpired as late:
            output = (late.stdout or b"").decode(errors="replace")
            return Run(-1, (), time.monotonic() - started, f"{output}\nnot done after {PATIENCE} s")
        failed = tuple(dict.fromkeys(name.partition("[")[0] for name in _FAILED.findall(done.stdout)))
        return Run(done.returncode, failed, time.monotonic() - started, done.stdout)

    def _require_own_package(self) -> None:
        program = "import gatehouse.cli, gatehouse.verify; print(gatehouse.cli.__file__, gatehouse.verify.__file__)"
        command = [sys.executable, "-c", program]
        done = subprocess.run(command, cwd="/", env=self._environment, stdout=subprocess.PIPE, text=True, check=True)
        for file in done.stdout.split():
            if not Path(file).is_relative_to(self.root.resolve()):
                raise RuntimeError(f"tests in {self.root} would import {file}")


def _files() -> list[str]:
    """Those that git knows, and new ones that it does not ignore, as they are in the working tree."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    return [name for name in sorted(set(listed.split("\0"))) if (ROOT / name).is_file()]


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    # Python goes by size and whole seconds: what it has compiled from the other text must not be taken for this one.
    Path(cache_from_source(str(path))).unlink(missing_ok=True)
