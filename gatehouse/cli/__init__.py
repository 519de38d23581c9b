"""The command line: `gatehouse`, for operators.

Each noun is a file of its own that is imported when the noun is typed, so that `--help` and completion answer at
once and `serve` carries nothing that only the other commands need.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.exceptions import NoArgsIsHelpError
from click.shell_completion import CompletionItem

from gatehouse.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

# Name, the module here that holds the command of the module's name, and the line for `gatehouse --help`.
COMMANDS = {
    "serve": ("serve", "Run the service."),
    "user": ("user", "People who can log in."),
    "role": ("role", "Roles, and the perms they give."),
    "dept": ("dept", "Departments, the tree that users belong to."),
    "menu": ("menu", "What the console's side menu shows, and its buttons."),
    "directory": ("directory", "Directories (LDAP, Active Directory) whose people log in here."),
    "provider": ("provider", "OpenID providers (Keycloak, Azure, DingTalk, Feishu) whose people log in here."),
    "client": ("client", "Applications (Grafana, Gitea, ...) that people log in to with their account here."),
    "session": ("session", "Who is logged in, and from where."),
    "limit": ("limit", "Lockouts: names that are locked after failed logins."),
    "audit": ("audit", "Show the audit trail: who did what, from where, when and why."),
    "key": ("key", "Keys that sign access tokens, and the ID tokens of applications."),
    "secret": ("secret", "The master secret, from which every other key is derived."),
    "service-key": ("service_key", "Keys with which other services ask about tokens."),
    "import": ("imports", "Import users from another system."),
    "export": ("export", "Write users, roles and departments to a file."),
    "migrate": ("migrate", "Migrate the databases to this release."),
    "move": ("move", "Move from the embedded default to PostgreSQL and Redis, or PostgreSQL alone."),
    "doctor": ("doctor", "Check settings, stores, clock and files; say what to do."),
    "completion": ("completion", "Print the completion script of a shell."),
}


class Commands(click.Group):
    """Knows its commands by the table above, and loads the one that is typed."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - the table knows without it
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        if cmd_name not in COMMANDS:
            return None
        name, _ = COMMANDS[cmd_name]
        command: click.Command = getattr(import_module(f"gatehouse.cli.{name}"), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - as above
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        named = [
            CompletionItem(name, help=summary) for name, (_, summary) in COMMANDS.items() if name.startswith(incomplete)
        ]
        return named + click.Command.shell_complete(self, ctx, incomplete)


@click.command(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    no_args_is_help=True,
)
@click.version_option(__version__, message="gatehouse %(version)s", help="Show the version and exit.")
@click.option(
    "--config",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Settings file (TOML). Without it: GATEHOUSE_CONFIG, else gatehouse.toml if there is one here.",
)
def gatehouse(config: Path | None) -> None:
    """A login service that admin front ends plug into.

    Every command reads the same settings as the service: variables GATEHOUSE_..., and a settings file. Changes
    take effect in the running service on its next request, on every node.

    \b
    Examples:
      gatehouse serve
      gatehouse user add ann --role ADMIN
      gatehouse session end --user ann
      gatehouse doctor

    \b
    Exit codes:
      0  done
      1  the answer is no: doctor or a test found a fault, migrate --check found work,
         import or sync refused something, or you answered no
      2  wrong usage: a name, a value or a setting; one line on standard error says which
      3  a store or a directory cannot be reached, or is not at the schema of this release
    """


def main() -> None:
    sys.exit(run())


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command. Errors that an operator can cause are one line each on standard error."""
    try:
        code = gatehouse.main(arguments, prog_name="gatehouse", standalone_mode=False)
    except NoArgsIsHelpError as bare:
        click.echo(bare.format_message(), err=True)
        return bare.exit_code
    except Exception as problem:
        from gatehouse.cli.exit_codes import explain  # noqa: PLC0415 - knows the stores, which --help does without

        explanation = explain(problem)
        if explanation is None:
            raise
        for line in explanation.lines:
            click.echo(line, err=True)
        return explanation.exit_code
    return code if isinstance(code, int) else 0
