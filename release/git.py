"""What a release asks of git: a clean tree, the commit's time, the tag."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from release.errors import Refused

if TYPE_CHECKING:
    from pathlib import Path


def require_clean_tree(root: Path) -> None:
    if changed := _git(root, "status", "--porcelain").splitlines():
        shown = ", ".join(line[3:] for line in changed[:5]) + (", …" if len(changed) > 5 else "")
        raise Refused(f"the tree has changes that are in no commit: {shown}")


def require_free_tag(version: str, root: Path) -> None:
    tagged = _tagged_commit(version, root)
    if tagged and tagged != _head(root):
        raise Refused(f"the tag v{version} exists already, on commit {tagged[:12]}: a release is never moved")


def commit_time(root: Path) -> str:
    """Seconds since 1970, for `SOURCE_DATE_EPOCH`."""
    return _git(root, "log", "-1", "--format=%ct")


def tag(version: str, message: str, root: Path) -> None:
    """An annotated tag; none if this commit has it already."""
    if _tagged_commit(version, root):
        return
    # Otherwise git takes the headings of the changelog for comments and leaves them out.
    _git(root, "tag", "--annotate", "--cleanup=whitespace", f"v{version}", "--file=-", text=message)


def archive(folder: str, root: Path) -> bytes:
    """A folder as it is in the last commit, as a tar file."""
    return subprocess.run(["git", "archive", "--format=tar", "HEAD", folder], cwd=root, stdout=-1, check=True).stdout


def _head(root: Path) -> str:
    return _git(root, "rev-parse", "HEAD")


def _tagged_commit(version: str, root: Path) -> str:
    return _git(root, "for-each-ref", "--format=%(*objectname)%(objectname)", f"refs/tags/v{version}")[:40]


def _git(root: Path, *words: str, text: str = "") -> str:
    done = subprocess.run(["git", *words], cwd=root, input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Refused(f"git {words[0]}: {done.stderr.strip()}")
    return done.stdout.rstrip("\n")
