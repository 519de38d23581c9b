"""A past release or any commit, built into an environment of its own, to be measured beside the working tree."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

RELEASES = {"0.1.0": "eebc66a"}
REPOSITORY = Path(__file__).parents[1]


def built(version: str, folder: Path) -> Path:
    """The Python of that release or commit; built once, with the dependencies that it was released with."""
    target = (folder / version).resolve()
    python = target / ".venv" / "bin" / "python"
    done = target / "built"
    if done.exists():
        return python
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    archive = subprocess.run(
        ["git", "archive", RELEASES.get(version, version)], cwd=REPOSITORY, capture_output=True, check=True
    ).stdout
    subprocess.run(["tar", "-x", "-C", str(target)], input=archive, check=True)
    subprocess.run([sys.executable, "-m", "venv", str(target / ".venv")], check=True)
    for words in (
        ["--require-hashes", "-r", "requirements/dev.txt"],
        ["--no-deps", "--no-build-isolation", "-e", "."],
    ):
        subprocess.run([*_installer(python), *words], cwd=target, check=True)
    done.touch()
    return python


def _installer(python: Path) -> list[str]:
    uv = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))
    if uv:
        return [uv, "pip", "install", "--quiet", "--python", str(python)]
    return [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
