"""`gatehouse import`: bring users along from another system."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from gatehouse.cli import output
from gatehouse.cli.failures import NO
from gatehouse.cli.output import echo, json_option
from gatehouse.cli.progress import progress_bars
from gatehouse.cli.with_service import with_service
from gatehouse.transfer.files import UserFile
from gatehouse.transfer.importer import Importer
from gatehouse.transfer.layout import Format
from gatehouse.transfer.youlai import open_youlai

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.service import Service
    from gatehouse.transfer.rows import ImportCount, Source, Summary

F = TypeVar("F", bound="Callable[..., Any]")

# As many are named on a terminal; --json names all.
SHOWN_ADAPTED = 20


@click.group("import", no_args_is_help=True)
def imports() -> None:
    """Bring users along from another system.

    Ids, roles, departments and password hashes come along: people log in with the password they have. Run it as
    often as you like: what is here already is compared, and only what differs is written. Passwords of users who are
    here already stay as they are. A run that was stopped half-way continues when it is run again.
    """


def common(command: F) -> F:
    """Options that both commands have."""
    passwords = click.option(
        "--overwrite-passwords", is_flag=True, help="Also replace the passwords of users who exist here."
    )
    dry_run = click.option("--dry-run", is_flag=True, help="Show what would be done, and change nothing.")
    return dry_run(passwords(json_option(command)))


@imports.command("youlai")
@click.option(
    "--from",
    "url",
    required=True,
    metavar="URL",
    help="mysql://, postgresql:// or sqlite:///; - reads it from standard input, where other users cannot see it.",
)
@common
@with_service
async def youlai(service: Service, url: str, *, dry_run: bool, overwrite_passwords: bool, as_json: bool) -> None:
    """Read sys_user, sys_role, sys_menu, sys_dept and the tables between them.

    These are the tables of youlai-boot and its relatives. Nothing is written there. On a service that was just started
    for the first time, its administrator makes way for the one who comes with the import.

    \b
    Examples:
      gatehouse import youlai --from mysql://reader:secret@db/youlai_admin --dry-run
      gatehouse import youlai --from sqlite:///old.db
    """
    if url == "-":
        url = sys.stdin.readline().strip()
    async with open_youlai(url) as source:
        await _import(service, source, dry_run=dry_run, overwrite=overwrite_passwords, as_json=as_json)


@imports.command("users")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "--format",
    "form",
    type=click.Choice([form.value for form in Format]),
    help="Without it, the file name decides.",
)
@common
@with_service
async def users(
    service: Service, file: Path, form: str | None, *, dry_run: bool, overwrite_passwords: bool, as_json: bool
) -> None:
    """Read a file of JSON Lines or CSV, as `gatehouse export` writes it.

    Only the username is needed; what a line does not say stays as it is, or gets the default of a new user. A new
    user without a hash has no password that works: set one with `gatehouse user password`.

    \b
    Examples:
      gatehouse import users people.jsonl --dry-run
      gatehouse import users people.csv
    """
    source = UserFile(file, Format(form) if form else None)
    await _import(service, source, dry_run=dry_run, overwrite=overwrite_passwords, as_json=as_json)


async def _import(service: Service, source: Source, *, dry_run: bool, overwrite: bool, as_json: bool) -> None:
    importer = Importer(
        database=service.database,
        state=service.state,
        sessions=service.sessions,
        clock=service.clock,
        dry_run=dry_run,
        overwrite_passwords=overwrite,
        secrets=service.ring.secrets,
    )
    with progress_bars() as report:
        summary = await importer(source, partial(report, "users"))
    if as_json:
        output.as_document(_document(summary))
    else:
        _say(summary)
    if summary.refused:
        click.get_current_context().exit(NO)


def _say(summary: Summary) -> None:
    lines = [
        {"what": what, "added": tally.added, "changed": tally.changed, "unchanged": tally.unchanged}
        for what, tally in _tallies(summary).items()
    ]
    columns = {"what": "", "added": "ADDED", "changed": "CHANGED", "unchanged": "UNCHANGED"}
    output.records(lines, columns, as_json=False, nothing="")
    if summary.skipped:
        echo(f"{summary.skipped} deleted user(s) in the source left out.")
    if summary.made_way:
        echo(f"The administrator of the first start, {summary.made_way}, made way.")
    for place, text in summary.adapted[:SHOWN_ADAPTED]:
        echo(f"Adapted: {place}: {text}")
    if len(summary.adapted) > SHOWN_ADAPTED:
        echo(f"... and {len(summary.adapted) - SHOWN_ADAPTED} more; --json names all.")
    for place, text in summary.refused:
        echo(f"Refused: {place}: {text}")
    echo("Dry run: nothing was written." if summary.dry_run else "Done.")


def _tallies(summary: Summary) -> dict[str, ImportCount]:
    return {
        "departments": summary.departments,
        "roles": summary.roles,
        "menus": summary.menus,
        "users": summary.users,
        "second factors": summary.factors,
    }


def _document(summary: Summary) -> dict[str, Any]:
    return {
        "dryRun": summary.dry_run,
        **{
            what: {"added": tally.added, "changed": tally.changed, "unchanged": tally.unchanged}
            for what, tally in _tallies(summary).items()
        },
        "skipped": summary.skipped,
        "madeWay": summary.made_way,
        "adapted": [remark._asdict() for remark in summary.adapted],
        "refused": [remark._asdict() for remark in summary.refused],
    }
