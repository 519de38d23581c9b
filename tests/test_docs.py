"""The docs against the code: what exists is documented, what is documented exists, and the README's commands run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import gatehouse.cli
from gatehouse.api.error_catalogue import CATALOGUE
from gatehouse.api.operation_declaration import PREFIX, Group, Operation
from gatehouse.api.operation_table import OPERATIONS
from gatehouse.api.telemetry.metric_names import HELP
from gatehouse.auth.audit import REASONS, Event
from gatehouse.settings import descriptions, load
from tests.promised_names import commands, names_now, promised
from tests.support.running import free_port
from tests.support.waiting import PATIENCE, wait_until

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"


def text(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("setting", list(descriptions()), ids=lambda setting: setting.name)
def test_every_setting_is_documented_with_its_default_and_meaning(setting: object) -> None:
    default = f"`{setting.default}`" if setting.default else ""  # type: ignore[attr-defined]
    row = f"| `{setting.variable}` | {default} | {setting.meaning} |"  # type: ignore[attr-defined]
    assert row in text("settings.md")


def test_a_documented_default_is_what_the_service_reads_from_it() -> None:
    shown = {setting.variable: setting.default for setting in descriptions()}
    assert (shown["GATEHOUSE_AUDIT_KEEP"], shown["GATEHOUSE_REFRESH_GRACE"]) == ("400d", "10s")
    assert load(environ=shown, config=Path(os.devnull)) == load(environ={}, config=Path(os.devnull))


def test_no_setting_is_documented_that_does_not_exist() -> None:
    of_the_examples = {"GATEHOUSE_URL", "GATEHOUSE_SERVICE_KEY"}
    known = {setting.variable for setting in descriptions()} | {"GATEHOUSE_CONFIG"} | of_the_examples
    for page in [*DOCS.glob("*.md"), ROOT / "README.md", *(ROOT / "deploy").rglob("*.*")]:
        if page.suffix in {".md", ".yml", ".yaml", ".service", ".env"}:
            for name in re.findall(r"GATEHOUSE_(?!SOURCE_)[A-Z_]+[A-Z]", page.read_text(encoding="utf-8")):
                assert name in known, f"{name} in {page.name}"


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: f"{operation.method} {operation.path}")
def test_every_operation_is_documented(operation: Operation) -> None:
    if operation.group is not Group.CONSOLE:
        assert operation.path in text("contract.md")
        return
    perms = " or ".join(f"`{perm}`" for perm in (operation.perm, *operation.or_perms) if perm)
    for path in (operation.path, *operation.older_paths):
        assert f"`{operation.method} {path.removeprefix(PREFIX + '/')}`" in text("console.md")
    row = re.search(
        rf"^\| `{operation.method} {re.escape(operation.path.removeprefix(PREFIX + '/'))}`.*\| ([^|]*) \|$",
        text("console.md"),
        re.MULTILINE,
    )
    assert row, operation.path
    assert row[1] == perms


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


@pytest.mark.parametrize("command", commands(gatehouse.cli.gatehouse), ids=str)
def test_every_command_is_documented(command: str) -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in DOCS.glob("*.md"))
    assert f"gatehouse {command}" in pages


@pytest.mark.parametrize("kind", promised())
def test_no_name_that_a_release_has_promised_is_gone(kind: str) -> None:
    assert set(promised()[kind]) <= names_now()[kind]


def test_every_test_that_security_names_exists() -> None:
    page = text("checklist.md") + text("security.md")
    named = re.findall(r"`([\w/]+\.py)::(\w+)`", page)
    assert len(named) > 60
    for file, test in named:
        assert f"def {test}(" in (ROOT / "tests" / file).read_text(encoding="utf-8"), f"{file}::{test}"
    rows = re.findall(r"^\| (\d+) \|", page, re.MULTILINE)
    numbers = [int(row) for row in rows]
    assert numbers == sorted(set(numbers))
    assert numbers[:50] == list(range(1, 51))


def test_every_attack_names_its_tests_and_every_test_its_attack() -> None:
    """Names without a folder are those of the attacks on the provider."""
    own = ROOT / "tests" / "api" / "oauth" / "attacks"
    named = re.findall(r"`([\w/]+\.py)::(\w+)`", text("openid-attacks.md"))
    for file, test in named:
        path = ROOT / "tests" / file if "/" in file else own / file
        assert f"def {test}(" in path.read_text(encoding="utf-8"), f"{file}::{test}"
    there = {
        (path.name, test)
        for path in own.glob("test_*.py")
        for test in re.findall(r"^def (test_\w+)\(", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert there <= set(named), there - set(named)
    assert len(there) > 100


def test_every_link_leads_somewhere() -> None:
    # Not deeper: what npm installs into an example has pages of its own.
    for page in [
        *DOCS.glob("*.md"),
        *ROOT.glob("*.md"),
        *(ROOT / "examples").glob("*.md"),
        *(ROOT / "examples").glob("*/*.md"),
        *(ROOT / "packages").glob("*.md"),
        *(ROOT / "packages").glob("*/*.md"),
    ]:
        for target in re.findall(r"\]\((?!https?://|mailto:)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{target} in {page.name}"


def shell_blocks(page: Path) -> list[str]:
    return re.findall(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


def wait_until_live(port: int, service: subprocess.Popen[str]) -> None:
    def is_live() -> bool:
        assert service.poll() is None, "the service ended by itself"
        asked = ["curl", "-sf", f"http://127.0.0.1:{port}/health/live"]
        return subprocess.run(asked, capture_output=True, check=False).returncode == 0

    wait_until(is_live, "the start of the service")


@pytest.mark.full
def test_the_commands_of_readme_and_curl_page_run_in_order(tmp_path: Path) -> None:
    """Every shell block, top to bottom, in one folder: each `make run` in a terminal of its own, the rest in one."""
    blocks = shell_blocks(ROOT / "README.md") + shell_blocks(DOCS / "curl.md")
    assert len(blocks) == 5
    first, second = free_port(), free_port()
    env = {name: value for name, value in os.environ.items() if not name.startswith("GATEHOUSE_")}
    env |= {"GATEHOUSE_PORT": str(first), "GATEHOUSE_METRICS": "off"}
    (tmp_path / ".venv").symlink_to(sys.prefix)
    # `make run` installs and then serves; everything is installed here, so only the second half runs.
    assert "@$(BIN)/gatehouse serve\n" in (ROOT / "Makefile").read_text(encoding="utf-8")
    serve = 'make() { test "$*" = run; exec .venv/bin/gatehouse serve; }\n'
    services: list[subprocess.Popen[str]] = []
    pipe = subprocess.PIPE
    terminal = subprocess.Popen(["bash", "-eu"], cwd=tmp_path, env=env, stdin=pipe, stdout=pipe, text=True)
    assert terminal.stdin
    try:
        for block in blocks:
            script = block.replace("=8001", f"={second}").replace(":8001", f":{second}")
            if "make run" in block:
                services.append(subprocess.Popen(["bash", "-euc", serve + script], cwd=tmp_path, env=env, text=True))
                wait_until_live([first, second][len(services) - 1], services[-1])
            else:
                terminal.stdin.write(script)
                terminal.stdin.flush()
        printed, _ = terminal.communicate(timeout=PATIENCE)
    finally:
        for process in (terminal, *services):
            process.terminate()
        for process in (terminal, *services):
            process.wait(PATIENCE)
    assert "Added user ann" in printed, printed
    answers = [line for line in printed.split("\n") if line.startswith("{")]
    assert len(answers) == 4, "users/me and logout, in both variants"
    assert all(answer.startswith('{"code":"00000"') for answer in answers), printed
    assert {path.name for path in tmp_path.iterdir()} == {"data", "data-curl", ".venv"}


@pytest.mark.full
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="these are sources without their history")
def test_the_commands_of_the_first_hour_lead_to_a_commit(tmp_path: Path) -> None:
    """In a clone with the tools of this environment, so nothing is installed and `make check` is left to its hooks."""
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", ROOT, clone], check=True)
    (clone / ".venv").symlink_to(sys.prefix)
    somebody = {f"GIT_{role}_{fact}": "a@b" for role in ("AUTHOR", "COMMITTER") for fact in ("NAME", "EMAIL")}
    env = os.environ | somebody | {"SKIP": "types"}  # all of them, with an empty cache, are checked beside the tests
    script = "".join(["make() { :; }\n", *shell_blocks(ROOT / "CONTRIBUTING.md")])
    done = subprocess.run(
        ["bash", "-eux"], input=script, cwd=clone, env=env, capture_output=True, text=True, check=False
    )
    printed = done.stdout + done.stderr
    assert done.returncode == 0, printed
    assert "1 failed" in done.stdout, "the test notices that the change is missing"
    assert "Refuse passwords with the username backwards" in done.stdout
    left = subprocess.run(["git", "status", "--short"], cwd=clone, capture_output=True, text=True, check=True).stdout
    assert left in {"", "?? .venv\n"}


def skeleton(page: Path) -> dict[str, list[str]]:
    """What a translation must share with its original: levels of headings, commands, links, code names, rows."""
    content = page.read_text(encoding="utf-8")
    prose = re.sub(r"```.*?```", "", content, flags=re.DOTALL)
    return {
        "headings": re.findall(r"^#+", prose, re.MULTILINE),
        "commands": shell_blocks(page),
        "diagrams": re.findall(r"```mermaid\n(.*?)\n", content),
        "links": re.findall(r"\]\((docs/[\w-]+\.md|examples/[\w./-]+|CHANGELOG.md|CONTRIBUTING.md)\)", prose),
        "addresses": re.findall(r"<(http[^>]+)>", prose),
        "code": sorted(re.findall(r"`[^`]+`", prose)),
        "rows": [row for row in prose.split("\n") if row.startswith("|---")],
        "lines of tables": [str(len(re.findall(r"^\|", prose, re.MULTILINE)))],
    }


def test_the_chinese_readme_is_in_step_with_the_english_one() -> None:
    assert skeleton(ROOT / "README.zh-CN.md") == skeleton(ROOT / "README.md")


PHRASES = (
    "whence", "newest so many", "at most so many", "leave it away", "one and the same", "open what they made",
    "neighbour of the logs", "size for the morning", "and its kin", "one a line", "makes, all lines open",
    "which no perm here has", "takes whoever", "does not know. the", "does not open anything", "those of this second",
    "takes all perms from its people", "theft is noticed", "copied aside", "gives nothing to its holders",
    "as it was when one comes back", "need not be names of users", "the own password",
)  # fmt: skip


def test_no_page_or_help_text_uses_a_phrase_that_readers_stumbled_over() -> None:
    pages = [*DOCS.glob("*.md"), *ROOT.glob("*.md"), *(ROOT / "examples").glob("*/README.md")]
    for page in [*pages, *(ROOT / "gatehouse/settings").glob("*.py"), *(ROOT / "gatehouse/cli").glob("*.py")]:
        words = re.sub(r"\s+", " ", page.read_text(encoding="utf-8").lower())
        for phrase in PHRASES:
            assert phrase not in words, f"{phrase!r} in {page.name}"


def test_the_readme_opens_the_pages_by_a_name() -> None:
    """Browsers give passkeys to localhost and not to 127.0.0.1."""
    for name in ("README.md", "README.zh-CN.md"):
        text = (ROOT / name).read_text()
        assert "http://localhost:8000/account" in text
        assert "127.0.0.1:8000" not in text


def test_files_that_comments_name_exist() -> None:
    """A file that was moved leaves no sentence behind that sends readers to its old place."""
    files = [
        path
        for folder in ("gatehouse", "packages", "release", "tests", "benchmarks", "docs")
        for kind in ("py", "lua", "sql", "md", "json")
        for path in (ROOT / folder).rglob(f"*.{kind}")
        if "node_modules" not in path.parts
    ]
    known = [path.as_posix() for path in [*files, *ROOT.glob("*.md")]]
    for path in files:
        if path.suffix in {".py", ".lua", ".sql"}:
            named = re.findall(r"`([\w./]+\.(?:py|lua|sql|md|json))`", path.read_text())
            assert [name for name in named if not any(each.endswith(f"/{name}") for each in known)] == [], path
