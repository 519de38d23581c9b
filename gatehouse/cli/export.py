"""`gatehouse export`: write users, roles and departments to a file."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gatehouse.auth.audit import Event
from gatehouse.cli.output import echo
from gatehouse.cli.progress import progress_bars
from gatehouse.cli.with_service import CLI_CLIENT, with_service
from gatehouse.messages.quantities import counted
from gatehouse.transfer.export import export as write
from gatehouse.transfer.file_format import EXPORT_FORMATS, FileFormat, format_of

if TYPE_CHECKING:
    from gatehouse.composition import Service


@click.command("export")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--format",
    "file_format",
    type=click.Choice([each.value for each in EXPORT_FORMATS]),
    help="Without it, the file name decides.",
)
@click.option(
    "--with-hashes",
    is_flag=True,
    help="Write password hashes and sealed second factors too: guard the file like the database.",
)
@with_service
async def export(service: Service, file: Path, file_format: str | None, *, with_hashes: bool) -> None:
    """Write users, roles and departments to a file.

    JSON Lines holds everything, CSV the users alone. `gatehouse import users` reads both; second factors are good
    only under the same master secret. The file is readable by you only, and appears when it is complete.

    \b
    Examples:
      gatehouse export people.jsonl --with-hashes
      gatehouse export people.csv
    """
    with progress_bars() as report:
        count = await write(
            service.stores.database,
            file,
            FileFormat(file_format) if file_format else format_of(file, EXPORT_FORMATS),
            with_hashes=with_hashes,
            progress=partial(report, "users"),
        )
    detail = {"users": count, "with_hashes": with_hashes}
    service.audit.record(Event.USERS_EXPORTED, CLI_CLIENT, detail=detail)
    echo(f"Wrote {counted(count, 'user')} to {file}{', with their password hashes' if with_hashes else ''}.")
