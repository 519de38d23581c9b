"""`gatehouse import`: import users from another system."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from gatehouse.cli import output
from gatehouse.cli.exit_codes import EXIT_REFUSED
from gatehouse.cli.output import echo, json_option
from gatehouse.cli.progress import progress_bars
from gatehouse.cli.with_service import with_service
from gatehouse.messages.quantities import counted
from gatehouse.transfer.file_format import FileFormat
from gatehouse.transfer.file_reader import UserFile
from gatehouse.transfer.importer import Importer
from gatehouse.transfer.youlai_mapping import open_youlai

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.composition import Service
    from gatehouse.transfer.import_rows import ImportCount, Source, Summary

F = TypeVar("F", bound="Callable[..., Any]")

# As many are named on a terminal; --json names all.
SHOWN_ADAPTED = 20


@click.group("import", no_args_is_help=True)
def imports() -> None:
    """Import users from another system.

    Ids, roles, departments and password hashes are kept: people log in with the password they have. Run it as
    often as you like: existing accounts are compared, and only differences are written. Users who exist keep their
    password. A run that was interrupted continues when it is run again.
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

    These are the tables of youlai-boot and related backends. Nothing is written there. If the administrator of the
    first start is still the only user and unchanged, the imported administrator replaces it.

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
    "file_format",
    type=click.Choice([each.value for each in FileFormat]),
    help="Without it, the file name decides.",
)
@common
@with_service
async def users(
    service: Service, file: Path, file_format: str | None, *, dry_run: bool, overwrite_passwords: bool, as_json: bool
) -> None:
    """Read a file of JSON Lines or CSV, as `gatehouse export` writes it, or the console's sheet of users (xlsx or CSV).

    Only the username is needed; fields that a line leaves out keep their value, or get the default of a new user. A new
    user without a hash has no password that works: set one with `gatehouse user password`.

    \b
    Examples:
      gatehouse import users people.jsonl --dry-run
      gatehouse import users people.csv
      gatehouse import users people.xlsx
    """
    source = UserFile(file, FileFormat(file_format) if file_format else None)
    await _import(service, source, dry_run=dry_run, overwrite=overwrite_passwords, as_json=as_json)


async def _import(service: Service, source: Source, *, dry_run: bool, overwrite: bool, as_json: bool) -> None:
    importer = Importer(
        database=service.stores.database,
        state=service.stores.state,
        sessions=service.sessions,
        outbox=service.outbox,
        clock=service.clock,
        dry_run=dry_run,
        overwrite_passwords=overwrite,
        secrets=service.key_ring.secrets,
    )
    with progress_bars() as report:
        summary = await importer.run(source, partial(report, "users"))
    if as_json:
        output.as_document(_document(summary))
    else:
        _print_summary(summary)
    if summary.refused:
        click.get_current_context().exit(EXIT_REFUSED)


def _print_summary(summary: Summary) -> None:
    lines = [
        {"what": what, "added": count.added, "changed": count.changed, "unchanged": count.unchanged}
        for what, count in _counts(summary).items()
    ]
    columns = {"what": "", "added": "ADDED", "changed": "CHANGED", "unchanged": "UNCHANGED"}
    output.records(lines, columns, as_json=False, nothing="")
    if summary.skipped:
        echo(f"Skipped {counted(summary.skipped, 'deleted user')} of the source.")
    if summary.replaced_admin:
        echo(f"The administrator of the first start, {summary.replaced_admin}, was replaced.")
    for origin, text in summary.adapted[:SHOWN_ADAPTED]:
        echo(f"Adapted: {origin}: {text}")
    if len(summary.adapted) > SHOWN_ADAPTED:
        echo(f"... and {len(summary.adapted) - SHOWN_ADAPTED} more; --json names all.")
    for origin, text in summary.refused:
        echo(f"Refused: {origin}: {text}")
    echo("Dry run: nothing was written." if summary.dry_run else "Done.")


def _counts(summary: Summary) -> dict[str, ImportCount]:
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
            what: {"added": count.added, "changed": count.changed, "unchanged": count.unchanged}
            for what, count in _counts(summary).items()
        },
        "skipped": summary.skipped,
        "madeWay": summary.replaced_admin,  # the name since 0.1.0
        "adapted": [{"place": remark.origin, "text": remark.text} for remark in summary.adapted],
        "refused": [{"place": remark.origin, "text": remark.text} for remark in summary.refused],
    }
