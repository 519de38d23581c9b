"""SHA-256 of every file of a release, to be checked by `sha256sum --check SHA256SUMS`."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from release.errors import Refused

if TYPE_CHECKING:
    from pathlib import Path

FILE = "SHA256SUMS"


def sums(folder: Path) -> dict[str, str]:
    """By path below the folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path != folder / FILE)
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def write(folder: Path) -> None:
    (folder / FILE).write_text("".join(f"{digest}  {name}\n" for name, digest in sums(folder).items()))


def require_same(one: dict[str, str], other: dict[str, str]) -> None:
    """Two builds of the same commit."""
    if one != other:
        different = sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))
        raise Refused(f"built twice, not the same bytes: {', '.join(different)}")
