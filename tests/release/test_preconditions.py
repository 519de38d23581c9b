"""A release is refused, with a reason, unless changelog, tree and tag are as they must be."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from release import git as repository
from release.changelog import dated_section
from release.errors import Refused
from release.preconditions import reasons_against

CHANGELOG = """# Changelog

## 0.2.0 (2026-11-20)

### New

- Something.

## 0.1.0

- Everything.
"""


def git(root: Path, *words: str) -> str:
    command = ["git", "-c", "user.name=Ann", "-c", "user.email=ann@example.com", *words]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "config", "user.name", "Ann")
    git(tmp_path, "config", "user.email", "ann@example.com")
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG)
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "-m", "First")
    return tmp_path


def test_a_tag_carries_the_section_of_the_changelog_and_may_be_asked_for_again(tree: Path) -> None:
    assert reasons_against("0.2.0", tree) == []
    for _ in range(2):
        repository.tag("0.2.0", f"Gatehouse 0.2.0\n\n{dated_section('0.2.0', tree)}\n", tree)
        assert git(tree, "tag", "--list", "--format=%(objecttype) %(contents)") == (
            "tag Gatehouse 0.2.0\n\n### New\n\n- Something.\n\n"
        )
        assert reasons_against("0.2.0", tree) == []


@pytest.mark.parametrize("annotated", [True, False])
def test_a_tag_on_another_commit_is_never_moved(tree: Path, annotated: bool) -> None:
    git(tree, "tag", "v0.2.0", *(["--annotate", "-m", "before"] if annotated else []))
    first = git(tree, "rev-parse", "--short=12", "HEAD").strip()
    git(tree, "commit", "--quiet", "--allow-empty", "-m", "Second")
    [reason] = reasons_against("0.2.0", tree)
    assert reason == f"the tag v0.2.0 exists already, on commit {first}: a release is never moved"


@pytest.mark.parametrize("name", ["CHANGELOG.md", "new.txt"])
def test_a_change_that_is_in_no_commit_is_named(tree: Path, name: str) -> None:
    with (tree / name).open("a") as file:
        file.write("more\n")
    assert reasons_against("0.2.0", tree) == [f"the tree has changes that are in no commit: {name}"]


@pytest.mark.parametrize(
    "heading",
    ["## Unreleased", "## 0.2.0", "## 0.2.0 (soon)", "## 0.2.0 (2026-13-01)", "## 0.3.0 (2026-11-20)"],
)
def test_the_changelog_must_have_a_dated_section_for_the_version(tmp_path: Path, heading: str) -> None:
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG.replace("## 0.2.0 (2026-11-20)", heading))
    with pytest.raises(Refused) as refused:
        dated_section("0.2.0", tmp_path)
    assert str(refused.value) == (
        f"the topmost section of CHANGELOG.md must be `## 0.2.0 (YYYY-MM-DD)`, and is `{heading}`"
    )


def test_an_empty_section_is_no_section(tmp_path: Path) -> None:
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 0.2.0 (2026-11-20)\n\n## 0.1.0\n\n- Everything.\n")
    with pytest.raises(Refused, match="is empty"):
        dated_section("0.2.0", tmp_path)
