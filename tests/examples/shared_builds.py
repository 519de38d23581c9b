"""Packages and examples are built once for a test run, however many processes share it."""

from __future__ import annotations

import fcntl
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ROOT / "packages"

# What Maven, npm and Go say when the network is to blame.
DOWNLOAD_FAILED = re.compile(
    r"Could not transfer artifact|Unknown host|ECONN|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|dial tcp|i/o timeout"
)


class Shared:
    """`conftest.py` sets both: the folder of this test run, and pytest's own way to print at once."""

    folder: Path
    uncaptured: Callable[[], AbstractContextManager[None]] = nullcontext


@contextmanager
def exclusive(package: str) -> Iterator[None]:
    """One process of the test run at a time builds, installs or uses it."""
    with (Shared.folder / f"{package}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def built_once(name: str, package: str) -> Iterator[bool]:
    """Yields whether it is still to be built."""
    with exclusive(package):
        done = Shared.folder / f"{name}.built"
        yield not done.exists()
        done.touch()


def built_package(name: str) -> Path:
    """The folder with what would be published of `packages/<name>`."""
    dist = Shared.folder / "dist"
    with built_once(f"package-{name}", name) as needed:
        if needed:
            build_step((sys.executable, "build.py", "--only", name, "--into", str(dist)), PACKAGES)
    return dist


def build_step(words: tuple[str, ...], folder: Path, env: dict[str, str] | None = None) -> str:
    """What it prints. A test is left out where packages cannot be downloaded; all else is a failure."""
    began = time.monotonic()
    say(f"{folder.name}: {' '.join(words)}")
    done = run(words, folder, env)
    if done.returncode and DOWNLOAD_FAILED.search(done.stdout):
        done = run(words, folder, env)
    if done.returncode and DOWNLOAD_FAILED.search(done.stdout):
        pytest.skip(f"{words[0]} cannot download its packages")
    assert done.returncode == 0, f"{' '.join(words)} in {folder.name}:\n{done.stdout}"
    say(f"{folder.name}: done after {time.monotonic() - began:.0f} s")
    return done.stdout


def say(line: str) -> None:
    """Past pytest's capture: a first build downloads for minutes, and nobody should have to guess what it does."""
    with Shared.uncaptured():
        print(f"\n  {line}", flush=True)


def run(words: tuple[str, ...], folder: Path, env: dict[str, str] | None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words,
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
        check=False,
    )
