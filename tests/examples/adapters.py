"""How each adapter is built and started, as its README says."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.examples.programs import EXAMPLES

JAVA = ("java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m", "-jar", "target/app.jar")
MAVEN = ("mvn", "--quiet", "--batch-mode", "package")

NPM_CI = ("npm", "ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund")


@dataclass(frozen=True)
class Adapter:
    name: str
    needs: tuple[str, ...]
    build: tuple[tuple[str, ...], ...]
    run: tuple[str, ...]

    @property
    def folder(self) -> Path:
        return EXAMPLES / self.name

    def words(self, port: int) -> list[str]:
        return [word.replace("{port}", str(port)) for word in self.run]


ADAPTERS = (
    Adapter("spring-boot", ("java", "mvn"), (MAVEN,), JAVA),
    Adapter("youlai-boot", ("java", "mvn"), (MAVEN,), JAVA),
    Adapter("nestjs", ("node", "npm"), (NPM_CI, ("npm", "run", "build")), ("node", "dist/main.js")),
    Adapter("node", ("node", "npm"), (NPM_CI,), ("node", "server.mjs")),
    Adapter("gin", ("go",), (("go", "build", "-o", "target/app", "."),), ("target/app",)),
    Adapter("django", (), (), (sys.executable, "app.py", "runserver", "--noreload", "{port}")),
)


# What Maven, npm and Go say when the network is to blame.
DOWNLOAD_FAILED = re.compile(
    r"Could not transfer artifact|Unknown host|ECONN|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|dial tcp|i/o timeout"
)


@cache
def build(adapter: Adapter) -> None:
    """Once a run. An adapter is left out where its toolchain or its packages cannot be had; all else is a failure."""
    missing = [tool for tool in adapter.needs if not shutil.which(tool)]
    if missing:
        pytest.skip(f"{' and '.join(missing)} not installed: the {adapter.name} example was left out")
    for words in adapter.build:
        done = run(words, adapter.folder)
        if done.returncode and DOWNLOAD_FAILED.search(done.stdout):
            done = run(words, adapter.folder)
        if done.returncode and DOWNLOAD_FAILED.search(done.stdout):
            pytest.skip(f"{words[0]} cannot download its packages: the {adapter.name} example was left out")
        assert done.returncode == 0, f"{' '.join(words)} in {adapter.folder.name}:\n{done.stdout}"


def run(words: tuple[str, ...], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
        check=False,
    )


def python(*words: str) -> list[str]:
    return [sys.executable, *words]
