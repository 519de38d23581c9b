"""What GitHub and git read: workflows, updates, templates, hooks. The schemas come with check-jsonschema."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from fnmatch import fnmatch
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
TOOLS = Path(sysconfig.get_path("scripts"))
SCHEMAS = {
    ".github/workflows/test.yml": "vendor.github-workflows",
    ".github/dependabot.yml": "vendor.dependabot",
    ".github/ISSUE_TEMPLATE/bug.yml": "vendor.github-issue-forms",
    ".github/ISSUE_TEMPLATE/idea.yml": "vendor.github-issue-forms",
}


def said(*words: str | Path, folder: Path = ROOT) -> str:
    """Nothing, or what a command that failed has to say."""
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


@pytest.mark.full
@pytest.mark.parametrize("path", SCHEMAS)
def test_github_can_read_it(path: str) -> None:
    assert said(TOOLS / "check-jsonschema", "--builtin-schema", SCHEMAS[path], path) == ""


def test_every_file_for_github_has_a_schema() -> None:
    found = {str(path.relative_to(ROOT)) for path in (ROOT / ".github").rglob("*.yml")}
    assert found == set(SCHEMAS)


def test_every_version_of_python_that_is_promised_is_tested() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text())
    promised = [
        line.strip().strip('",').rpartition(" ")[2]
        for line in (ROOT / "pyproject.toml").read_text().splitlines()
        if '"Programming Language :: Python :: 3.' in line
    ]
    assert workflow["jobs"]["test"]["strategy"]["matrix"]["python"] == promised


@pytest.mark.parametrize(("lock", "kind"), [("package-lock.json", "npm"), ("go.mod", "gomod"), ("pom.xml", "maven")])
def test_every_lock_file_is_kept_up_to_date(lock: str, kind: str) -> None:
    updates = yaml.safe_load((ROOT / ".github/dependabot.yml").read_text())["updates"]
    [watched] = [each["directories"] for each in updates if each["package-ecosystem"] == kind]
    tops = ("tests", "tests/relying_parties", "examples", "packages")
    found = [path for top in tops for path in (ROOT / top).glob(f"*/{lock}")]
    assert found
    for path in found:
        assert any(fnmatch(f"/{path.parent.relative_to(ROOT)}", pattern) for pattern in watched), path


@pytest.mark.full
def test_git_can_read_the_hooks() -> None:
    assert said(TOOLS / "pre-commit", "validate-config", ".pre-commit-config.yaml") == ""


@pytest.mark.full
@pytest.mark.parametrize(
    ("message", "fits"),
    [
        ("Say what and where\n\nThe why.\n", True),
        (f"{'é' * 72}\n", True),
        (f"{'é' * 73}\n", False),
        ("A subject\nand a body without an empty line between\n", False),
        ("A subject\n# what git adds\n", True),
    ],
)
def test_the_subject_of_a_commit_has_at_most_72_characters(message: str, fits: bool, tmp_path: Path) -> None:
    assert said("git", "init", "-q", folder=tmp_path) == ""
    shutil.copy(ROOT / ".pre-commit-config.yaml", tmp_path)
    assert said("git", "add", "-A", folder=tmp_path) == ""
    (tmp_path / "message").write_text(message, encoding="utf-8")
    hook = ("run", "--hook-stage", "commit-msg", "--commit-msg-filename", "message")
    assert (said(TOOLS / "pre-commit", *hook, folder=tmp_path) == "") is fits
