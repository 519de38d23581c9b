"""The server's sources of a release, kept in tests/ so that the test of upgrades can run that release.

A checkout need not have the history: `tests/test_upgrade.py` starts every `tests/release-*.tar.xz`.
"""

from __future__ import annotations

import lzma
import sys
from pathlib import Path

from release import git as repository
from release.versions import ROOT, agreed_version


def keep(version: str, root: Path, folder: Path) -> Path:
    target = folder / f"release-{version}.tar.xz"
    target.write_bytes(lzma.compress(repository.archive("gatehouse", root), preset=9 | lzma.PRESET_EXTREME))
    return target


if __name__ == "__main__":
    print(keep(agreed_version(), ROOT, Path(sys.argv[1])))
