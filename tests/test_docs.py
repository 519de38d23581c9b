"""The docs against the code: what exists is documented, what is documented exists, and the README's commands run."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest

import gatehouse.cli
from gatehouse.api.contract.errors import CATALOGUE
from gatehouse.api.contract.operation import PREFIX, Group, Operation
from gatehouse.api.contract.operations import OPERATIONS
from gatehouse.api.telemetry.metrics import HELP
from gatehouse.auth.audit import REASONS, Event
from gatehouse.settings import described
from tests.support.running import environment, free_port

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"


def text(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("setting", list(described()), ids=lambda setting: setting.name)
def test_every_setting_is_documented_with_its_default_and_meaning(setting: object) -> None:
    default = f"`{setting.default}`" if setting.default else ""  # type: ignore[attr-defined]
    row = f"| `{setting.variable}` | {default} | {setting.meaning} |"  # type: ignore[attr-defined]
    assert row in text("settings.md")


def test_no_setting_is_documented_that_does_not_exist() -> None:
    known = {setting.variable for setting in described()} | {"GATEHOUSE_CONFIG"}
    for page in [*DOCS.glob("*.md"), ROOT / "README.md", *(ROOT / "deploy").rglob("*.*")]:
        if page.suffix in {".md", ".yml", ".yaml", ".service", ".env"}:
            for name in re.findall(r"GATEHOUSE_[A-Z_]+[A-Z]", page.read_text(encoding="utf-8")):
                assert name in known, f"{name} in {page.name}"


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: f"{operation.method} {operation.path}")
def test_every_operation_is_documented(operation: Operation) -> None:
    if operation.group is not Group.CONSOLE:
        assert operation.path in text("contract.md")
        return
    perm = f"`{operation.perm}`" if operation.perm else ""
    for path in (operation.path, *operation.older_paths):
        assert f"`{operation.method} {path.removeprefix(PREFIX + '/')}`" in text("console.md")
    row = re.search(
        rf"^\| `{operation.method} {re.escape(operation.path.removeprefix(PREFIX + '/'))}`.*\| ([^|]*) \|$",
        text("console.md"),
        re.MULTILINE,
    )
    assert row, operation.path
    assert row[1] == perm


def test_every_code_is_documented() -> None:
    for entry in CATALOGUE.values():
        assert re.search(rf"\| {entry.status}( \+ `[^|]*`)? \| `{entry.code}` \|", text("contract.md")), entry


def test_every_event_and_every_reason_is_documented() -> None:
    page = text("observing.md")
    for tag in Event:
        assert f"| `{tag}` |" in page, tag
    for event, tags in REASONS.items():
        table = re.search(rf"\([^)]*`{re.escape(event)}`[^)]*\):\n\n\| reason \| \|\n\|---\|---\|\n((?:\|.*\n)+)", page)
        assert table, event
        assert re.findall(r"^\| `(\w+)` \|", table[1], re.MULTILINE) == [tag.value for tag in tags], event


def test_every_metric_is_documented() -> None:
    for name in HELP:
        assert f"`{name}" in text("observing.md"), name


def test_the_dashboard_asks_for_metrics_that_exist() -> None:
    asked = set(re.findall(r"gatehouse_[a-z_]+", (ROOT / "deploy" / "grafana-dashboard.json").read_text()))
    assert len(asked) > 8
    for name in asked:
        assert re.sub(r"_(total|bucket|count|sum)$", "", name) in HELP, name


def commands(group: click.Group, *path: str) -> list[str]:
    context = click.Context(group)
    found = []
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            found += commands(command, *path, name)
        else:
            found.append(" ".join([*path, name]))
    return found


@pytest.mark.parametrize("command", commands(gatehouse.cli.gatehouse), ids=str)
def test_every_command_is_documented(command: str) -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in DOCS.glob("*.md"))
    assert f"gatehouse {command}" in pages


def test_every_test_that_security_names_exists() -> None:
    named = re.findall(r"`([\w/]+\.py)::(\w+)`", text("security.md"))
    assert len(named) > 60
    for file, test in named:
        assert f"def {test}(" in (ROOT / "tests" / file).read_text(encoding="utf-8"), f"{file}::{test}"
    rows = re.findall(r"^\| (\d+) \|", text("security.md"), re.MULTILINE)
    numbers = [int(row) for row in rows]
    assert numbers == sorted(set(numbers))
    assert numbers[:50] == list(range(1, 51))


def test_every_link_leads_somewhere() -> None:
    for page in [*DOCS.glob("*.md"), *ROOT.glob("*.md"), *(ROOT / "examples").rglob("*.md")]:
        for target in re.findall(r"\]\((?!https?://|mailto:)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{target} in {page.name}"


def test_the_commands_of_the_readme_run(tmp_path: Path) -> None:
    """The shell blocks of the README, in their order, against a service started as it says."""
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    start = next(block for block in blocks if "CAPTCHA_TEST_ANSWER" in block)
    talks = [block for block in blocks if "curl" in block]
    port = free_port()
    env = environment(tmp_path / "data", port, captcha_test_answer="", admin_password="", limits="on")
    env = {name: value for name, value in env.items() if value}
    # The block says `make run`; what that target runs once everything is installed is `gatehouse serve`.
    assert "$(BIN)/gatehouse serve" in (ROOT / "Makefile").read_text(encoding="utf-8")
    service = subprocess.Popen(
        ["bash", "-c", start.replace("make run", f"exec {sys.executable} -m gatehouse serve")], env=env
    )
    try:
        script = "set -eu\n" + "\n".join(talks).replace("127.0.0.1:8000", f"127.0.0.1:{port}")
        for _ in range(200):
            ready = subprocess.run(
                ["curl", "-sf", f"http://127.0.0.1:{port}/health/live"], capture_output=True, check=False
            )
            if ready.returncode == 0:
                break
            time.sleep(0.1)
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, env=env, timeout=60, check=True)
    finally:
        service.terminate()
        service.wait(timeout=20)
    answers = done.stdout.split("\n")[:-1]
    assert len(answers) == 4, "users/me and logout, in both variants"
    assert all(answer.startswith('{"code":"00000"') for answer in answers), done.stdout
