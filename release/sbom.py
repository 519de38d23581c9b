"""What is installed with the server, by version and hash, as CycloneDX JSON: the lock file in another form."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from release.tools import run_tool

if TYPE_CHECKING:
    from pathlib import Path


def build(root: Path, version: str, folder: Path) -> Path:
    target = folder / f"gatehouse-auth-{version}.cdx.json"
    names = ("--pyproject", root / "pyproject.toml", "--output-file", target)
    pins = root / "requirements" / "run.txt"
    run_tool("cyclonedx-py", "requirements", "--output-format", "JSON", "--output-reproducible", *names, pins)
    bill = json.loads(target.read_text(encoding="utf-8"))
    bill["metadata"]["component"]["version"] = version  # pyproject.toml has none: Hatchling reads it from the source
    target.write_text(json.dumps(bill, indent=1) + "\n", encoding="utf-8")
    return target
