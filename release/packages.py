"""The packages for Node, Go and Spring, which `make packages` puts into dist/."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from release.errors import Refused

if TYPE_CHECKING:
    from pathlib import Path

FILES = ("gatehouse-verify-{}.tgz", "go/**/v{}.zip", "gatehouse-spring-boot-starter-{}.jar")


def build(root: Path) -> None:
    if subprocess.run(["make", "--no-print-directory", "packages"], cwd=root, check=False).returncode:
        raise Refused("`make packages` has failed")


def require_all(version: str, dist: Path) -> None:
    """Without its toolchain a package is left out."""
    if missing := [name for name in (name.format(version) for name in FILES) if not any(dist.glob(name))]:
        raise Refused(f"`make packages` has not built {', '.join(missing)}: install what it misses")
