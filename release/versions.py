"""Everywhere the version is written, and that all of them agree. `python -m release.versions 0.3.0` sets a new one."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from release.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
SERVER = "gatehouse/version.py"
_OF_MAVEN = r"<artifactId>gatehouse[^<]*</artifactId>\s*<version>([^<$]+)<"
_OF_GO = r"^\s*gatehouse\.\S+ v(\S+)$"
_OF_A_FILE = r"\bgatehouse[\w./-]*?[-@]v?(\d+\.\d+\.\d+)"
# The one group of each pattern is the version.
SAY_IT = {
    SERVER: r'^__version__ = "([^"]+)"$',
    "packages/python/pyproject.toml": r'^version = "([^"]+)"$',
    "packages/*/package.json": r'^  "version": "([^"]+)"',
    "packages/*/package-lock.json": r'"name": "gatehouse[^"]*",\s*"version": "([^"]+)"',
    "packages/*/pom.xml": _OF_MAVEN,
    "packages/go/*/go.mod": _OF_GO,
    "README.md": r"^\*\*Status\*\*: beta, version (\d+\.\d+\.\d+)",
    "README.zh-CN.md": r"^\*\*状态\*\*：beta，版本 (\d+\.\d+\.\d+)",  # noqa: RUF001 - Chinese punctuation
}
MAY_SAY_IT = {
    "deploy/kubernetes/*.yaml": r"^ *image: \S+/gatehouse:(\S+)$",
    "examples/*/pom.xml": _OF_MAVEN,
    "examples/*/go.mod": _OF_GO,
    "docs/*.md": _OF_A_FILE,
    "packages/*/README.md": f"{_OF_A_FILE}|{_OF_MAVEN}",
}


class Place(NamedTuple):
    file: str
    version: str


def places(root: Path = ROOT) -> Iterator[Place]:
    for glob, pattern in (SAY_IT | MAY_SAY_IT).items():
        for path in sorted(root.glob(glob)):
            name = path.relative_to(root).as_posix()
            said = [_version(match) for match in _matches(pattern, path)]
            if not said and glob in SAY_IT:
                raise Refused(f"{name} says no version: `release/versions.py` has the pattern")
            yield from (Place(name, version) for version in said)


def agreed_version(root: Path = ROOT) -> str:
    """The version of the server. Raises `Refused` if another file says another one."""
    found = list(places(root))
    version = next(place.version for place in found if place.file == SERVER)
    if different := [f"{place.file} says {place.version}" for place in found if place.version != version]:
        raise Refused(f"{SERVER} says {version}, but " + ", ".join(different))
    return version


def set_version(version: str, root: Path = ROOT) -> None:
    for glob, pattern in (SAY_IT | MAY_SAY_IT).items():
        for path in root.glob(glob):
            text = path.read_text(encoding="utf-8")
            for match in reversed(list(_matches(pattern, path))):
                start, end = match.span(match.lastindex or 0)
                text = text[:start] + version + text[end:]
            path.write_text(text, encoding="utf-8")


def _matches(pattern: str, path: Path) -> Iterator[re.Match[str]]:
    return re.finditer(pattern, path.read_text(encoding="utf-8"), re.MULTILINE)


def _version(match: re.Match[str]) -> str:
    return match[match.lastindex or 0]


if __name__ == "__main__":
    set_version(sys.argv[1])
