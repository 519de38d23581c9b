"""The command as a whole: help, version, completion, exit codes, and what it does not load."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from gatehouse.cli import COMMANDS, gatehouse
from gatehouse.settings import descriptions
from gatehouse.version import __version__
from tests.cli.terminal import Terminal
from tests.support.running import Running, environment, free_port
from tests.support.waiting import PATIENCE


def every_command() -> Iterator[tuple[str, click.Command]]:
    def below(words: str, command: click.Command, ctx: click.Context) -> Iterator[tuple[str, click.Command]]:
        yield words, command
        if isinstance(command, click.Group):
            for name in command.list_commands(ctx):
                child = command.get_command(ctx, name)
                assert child is not None
                yield from below(f"{words} {name}".strip(), child, ctx)

    return below("", gatehouse, click.Context(gatehouse))


ALL = dict(every_command())


@pytest.fixture
def nowhere(tmp_path: Path) -> Terminal:
    """A machine on which no service has ever been started."""
    return Terminal(environment(tmp_path / "data", free_port()))


@pytest.mark.parametrize("words", ALL)
def test_every_command_explains_itself_with_an_example(words: str, nowhere: Terminal) -> None:
    for flag in ("--help", "-h"):
        page = nowhere(*words.split(), flag).done()
        assert page.startswith(f"Usage: gatehouse {words}".rstrip())
    if not isinstance(ALL[words], click.Group):
        assert f"gatehouse {words}" in page.split("Example", 1)[1] or "--config" in page
    for option in ALL[words].params:
        if isinstance(option, click.Option):
            assert option.help, option


def test_the_list_of_commands_says_what_each_says_of_itself() -> None:
    for name, (_, summary) in COMMANDS.items():
        assert (ALL[name].help or "").partition("\n")[0] == summary


def test_every_setting_that_is_not_secret_is_a_flag_of_serve(nowhere: Terminal) -> None:
    page = nowhere("serve", "--help").done()
    for each in descriptions():
        assert (each.flag in re.findall(r"^  (--\S+) VALUE", page, re.MULTILINE)) is not each.secret


def test_settings_that_are_wrong_are_told_all_at_once(nowhere: Terminal, tmp_path: Path) -> None:
    config = tmp_path / "settings.toml"
    config.write_text('access_ttl = "soon"\ncolour = "red"\n')
    outcome = nowhere("--config", str(config), "serve", "--port", "none")
    assert (outcome.code, outcome.out) == (2, "")
    lines = outcome.err.splitlines()
    assert len(lines) == 3
    assert all(line.startswith("gatehouse: ") for line in lines)
    assert any("--port" in line for line in lines)
    assert any("'colour'" in line for line in lines)


def test_wrong_usage_is_one_line_and_exit_code_2(nowhere: Terminal) -> None:
    assert "No such command 'usr'" in nowhere("usr").refused()
    assert "No such option" in nowhere("user", "list", "--nope").refused()
    assert "'--limit'" in nowhere("user", "list", "--limit", "0").refused()
    assert "Missing argument" in nowhere("user", "show").refused()
    assert "(see gatehouse user show --help)" in nowhere("user", "show").refused()


def test_a_group_without_a_command_shows_its_help(nowhere: Terminal) -> None:
    for words in ((), ("user",)):
        outcome = nowhere(*words)
        assert (outcome.code, outcome.out) == (2, "")
        assert outcome.err.startswith("Usage: gatehouse")


def test_commands_do_not_lay_out_an_empty_service(nowhere: Terminal) -> None:
    assert "there are no accounts in" in nowhere("user", "list").refused(3)
    assert not Path(nowhere.env["GATEHOUSE_DATA_DIR"]).exists()


def test_a_database_that_is_away_is_one_line_and_exit_code_3(nowhere: Terminal) -> None:
    nowhere.env |= {
        "GATEHOUSE_SECRET": "kP3vLr9QyX2mTn7wBz5cHd8fJg4sAe6u",
        "GATEHOUSE_DATABASE_URL": f"postgresql://nobody@127.0.0.1:{free_port()}/none",
    }
    Path(nowhere.env["GATEHOUSE_DATA_DIR"]).mkdir()
    assert "accounts database" in nowhere("user", "list").refused(3)
    assert "accounts database" in nowhere("migrate").refused(3)


def test_state_that_cannot_be_opened_is_one_line_and_exit_code_3(nowhere: Terminal) -> None:
    nowhere("migrate").done()
    nowhere.env["GATEHOUSE_SECRET"] = "kP3vLr9QyX2mTn7wBz5cHd8fJg4sAe6u"
    state = Path(nowhere.env["GATEHOUSE_DATA_DIR"]) / "state.db"
    state.write_bytes(b"this is no database " * 100)
    assert "state file" in nowhere("user", "list").refused(3)


def test_a_database_url_that_is_none_is_one_line(nowhere: Terminal) -> None:
    nowhere.env["GATEHOUSE_SECRET"] = "kP3vLr9QyX2mTn7wBz5cHd8fJg4sAe6u"
    Path(nowhere.env["GATEHOUSE_DATA_DIR"]).mkdir()
    nowhere.env["GATEHOUSE_DATABASE_URL"] = "nonsense"
    assert "GATEHOUSE_DATABASE_URL" in nowhere("user", "list").refused()
    nowhere.env["GATEHOUSE_DATABASE_URL"] = "mysql://user:hush@host/name"
    refusal = nowhere("user", "list").refused()
    assert "expected postgresql://" in refusal
    assert "hush" not in refusal


def test_version(nowhere: Terminal) -> None:
    assert nowhere("--version").done() == f"gatehouse {__version__}\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str, nowhere: Terminal) -> None:
    assert "_GATEHOUSE_COMPLETE" in nowhere("completion", shell).done()


def test_completion_knows_the_commands(nowhere: Terminal) -> None:
    env = nowhere.env | {"_GATEHOUSE_COMPLETE": "bash_complete", "COMP_WORDS": "gatehouse ses", "COMP_CWORD": "1"}
    asked = subprocess.run(
        [sys.executable, "-c", "from gatehouse.cli import main; main()"],
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )
    assert [line.rpartition(",")[2] for line in asked.stdout.split()] == ["session"]


def loaded(*words: str, env: dict[str, str]) -> set[str]:
    """The modules that a command brings into memory."""
    program = (
        "import sys\nfrom gatehouse.cli import run\n"
        f"try: run({list(words)!r})\nexcept SystemExit: pass\n"
        "print('\\n' + ' '.join(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_help_loads_nothing_heavy_and_serve_no_tables(nowhere: Terminal) -> None:
    heavy = {"numpy", "PIL", "sqlalchemy", "alembic", "granian", "rich", "apsw", "cryptography", "msgspec"}
    assert not heavy & loaded("--help", env=nowhere.env)
    assert not {"numpy", "sqlalchemy", "granian", "rich"} & loaded("serve", "--help", env=nowhere.env)
    # A weak secret stops it before it serves, with everything loaded that serving needs.
    stopped = loaded("serve", env=nowhere.env | {"GATEHOUSE_SECRET": "weak"})
    assert {"granian", "sqlalchemy"} <= stopped
    assert not {"gatehouse.cli.output", "alembic", "rich"} & stopped


def test_a_password_is_asked_for_twice_and_not_echoed(server: Running) -> None:
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "gatehouse", "user", "add", "asked"],
        env=server.env, stdin=follower, stdout=follower, stderr=follower, start_new_session=True,
    )  # fmt: skip
    os.close(follower)
    seen = b""

    def until(words: bytes) -> None:
        nonlocal seen
        while words not in seen:
            seen += os.read(leader, 1024)

    until(b"New password of asked: ")
    os.write(leader, b"quite a passphrase\n")
    until(b"Once more: ")
    os.write(leader, b"quite a passphrase\n")
    until(b"Added user asked")
    assert process.wait(PATIENCE) == 0
    os.close(leader)
    assert b"passphrase" not in seen
