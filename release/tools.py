"""Programs that are installed beside this Python, by `requirements/dev.txt`."""

from __future__ import annotations

import os
import subprocess
import sysconfig
from pathlib import Path

from release.errors import Refused


def run_tool(name: str, *words: str | Path, folder: Path | None = None) -> None:
    """Quiet unless it fails."""
    command = [str(Path(sysconfig.get_path("scripts")) / name), *map(str, words)]
    quiet = {**os.environ, "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(command, cwd=folder, env=quiet, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Refused(f"{name} has failed:\n{done.stdout}{done.stderr}")
