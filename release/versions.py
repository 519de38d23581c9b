"""Everywhere the version is written, and that all of them agree. `python -m release.versions 0.3.0` sets a new one."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from release.refused import Refused

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
SERVER = "gatehouse/version.py"
# The one group of each pattern is the version. A file that is named here says it at least once.
PLACES = {
    SERVER: r'^__version__ = "([^"]+)"$',
    "packages/python/pyproject.toml": r'^version = "([^"]+)"$',
    "packages/*/package.json": r'^  "version": "([^"]+)"',
    "packages/*/package-lock.json": r'\A\{\n  "name": "[^"]+",\n  "version": "([^"]+)"',
    "packages/*/pom.xml": r"<artifactId>gatehouse[^<]*</artifactId>\s*<version>([^<]+)<",
    "packages/go/*/go.mod": r"^\s*gatehouse\.\S+ v(\S+)$",
    "deploy/kubernetes/*.yaml": r"^ *image: \S+/gatehouse:(\S+)$",
    "docs/*.md": r"\bgatehouse[_-](?:auth|client)-(\d+\.\d+\.\d+)",
    "README.md": r"^\*\*Status\*\*: beta, version (\d+\.\d+\.\d+)",
    "README.zh-CN.md": r"^\*\*状态\*\*：beta，版本 (\d+\.\d+\.\d+)",  # noqa: RUF001 - Chinese punctuation
}
MAY_SAY_NONE = {"deploy/kubernetes/*.yaml", "docs/*.md"}


class Place(NamedTuple):
    file: str
    version: str


def places(root: Path = ROOT) -> Iterator[Place]:
    for glob, pattern in PLACES.items():
        for path in sorted(root.glob(glob)):
            name = path.relative_to(root).as_posix()
            said = re.findall(pattern, path.read_text(encoding="utf-8"), re.MULTILINE)
            if not said and glob not in MAY_SAY_NONE:
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
    for glob, pattern in PLACES.items():
        for path in root.glob(glob):
            text = path.read_text(encoding="utf-8")
            replaced = re.sub(pattern, lambda found: _with_group(found, version), text, flags=re.MULTILINE)
            if replaced != text:
                path.write_text(replaced, encoding="utf-8")


def _with_group(found: re.Match[str], text: str) -> str:
    whole, start = found[0], found.start()
    return whole[: found.start(1) - start] + text + whole[found.end(1) - start :]


if __name__ == "__main__":
    set_version(sys.argv[1])
