"""`make release`: check the tree, build everything into dist/, tag. `make release TAG=no` builds and does not tag."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

from release import changelog, checksums, distributions, packages, sbom, single_file
from release import git as repository
from release import past_release_sources as upgrade_sources
from release.errors import Refused
from release.preconditions import reasons_against
from release.versions import ROOT, agreed_version

DIST = ROOT / "dist"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m release", description=__doc__)
    parser.add_argument(
        "--no-tag", action="store_true", help="build only, also from a tree that cannot be released yet"
    )
    options = parser.parse_args()
    try:
        release(tag=not options.no_tag)
    except Refused as reason:
        print(f"No release: {reason}.", file=sys.stderr)
        return 1
    return 0


def release(*, tag: bool) -> None:
    version = agreed_version()
    reasons = reasons_against(version, ROOT)
    if tag and reasons:
        raise Refused("; ".join(reasons))
    for reason in reasons:
        print(f"With a tag this would be refused: {reason}.")
    os.environ["SOURCE_DATE_EPOCH"] = repository.commit_time(ROOT)
    shutil.rmtree(DIST, ignore_errors=True)
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        for folder in (first, second):
            build_python(version, Path(folder))
        checksums.require_same(checksums.sums(Path(first)), checksums.sums(Path(second)))
        packages.build(ROOT)
        shutil.copytree(first, DIST, dirs_exist_ok=True)
    checksums.write(DIST)
    print((DIST / checksums.FILE).read_text(), end="")
    if tag:
        packages.require_all(version, DIST)
        repository.tag(version, f"Gatehouse {version}\n\n{changelog.dated_section(version, ROOT)}\n", ROOT)
        kept = upgrade_sources.keep(version, ROOT, ROOT / "tests")
        print(f"Tagged v{version}. Commit {kept.relative_to(ROOT)}: the next release is tested against it.")


def build_python(version: str, folder: Path) -> None:
    """The files that are the same bytes whenever this commit is built with the same tools."""
    distributions.build(ROOT, folder)
    [wheel] = folder.glob("gatehouse_auth-*.whl")
    single_file.build(ROOT, wheel, folder)
    sbom.build(ROOT, version, folder)


if __name__ == "__main__":
    sys.exit(main())
