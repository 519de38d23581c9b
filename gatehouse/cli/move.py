"""`gatehouse move`: from the embedded default to PostgreSQL and Redis, or PostgreSQL alone."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import click

from gatehouse.cli import output
from gatehouse.cli.output import echo, json_option
from gatehouse.cli.progress import progress_bars
from gatehouse.cli.with_service import settings_in_force
from gatehouse.common import logs
from gatehouse.composition import open_state
from gatehouse.stores.database.database_copy import CopiedTable, copy_accounts
from gatehouse.stores.database.sql_engine import PATIENCE, Database
from gatehouse.stores.errors import StoreUnavailable
from gatehouse.stores.state.sqlite.engine import live_sessions
from gatehouse.transfer.session_move import move_sessions

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.settings import Settings


@click.command()
@json_option
def move(*, as_json: bool) -> None:
    """Move from the embedded default to PostgreSQL and Redis, or PostgreSQL alone.

    Set GATEHOUSE_DATABASE_URL, and GATEHOUSE_STATE_URL to move the sessions too: what the data folder holds is copied
    there. Stop the service first, and keep the secret: the moved keys and tokens need it. If it is
    interrupted, run it again: it continues. At the end the rows of every table are compared on both sides. The data
    folder is left as it is.

    \b
    Examples:
      gatehouse migrate && gatehouse move && gatehouse serve
    """
    given = settings_in_force()
    logs.configure("warning", given.log_format, cached=False)
    with progress_bars(hidden=as_json) as report:
        moved, sessions = asyncio.run(_move(given, report))
    if as_json:
        return output.as_document({"tables": [each._asdict() for each in moved], "sessions": sessions})
    for each in moved:
        echo(f"{each.table}: {each.rows} rows, checksum {each.checksum[:16]} on both sides")
    echo(f"Everything has been moved, with {sessions} live sessions.")
    return echo("Keep the secret; the data folder is not needed any more.")


async def _move(given: Settings, report: Callable[[str, int, int], None]) -> tuple[list[CopiedTable], int]:
    if given.embedded_accounts:
        raise ValueError("GATEHOUSE_DATABASE_URL is not set: it names the database to move to")
    if not given.accounts_path.exists():
        raise StoreUnavailable(f"there are no accounts in {given.data_dir}: nothing to move")
    source = Database(f"sqlite:///{given.accounts_path}")
    target = Database(given.accounts_url, patience=PATIENCE, time_limit=False)
    try:
        moved = await copy_accounts(source, target, report)
    finally:
        await source.close()
        await target.close()
    return moved, await _sessions(given, report)


async def _sessions(given: Settings, report: Callable[[str, int, int], None]) -> int:
    if given.embedded_state:
        return 0
    now = time.time()
    total = sum(1 for _ in live_sessions(given.state_path, now))
    state = open_state(given)
    try:
        return await move_sessions(live_sessions(given.state_path, now), total, state, report)
    finally:
        await state.close()
