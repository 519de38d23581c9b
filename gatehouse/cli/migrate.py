"""`gatehouse migrate`: migrate the databases to the schema of this release."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import click

from gatehouse.cli import output
from gatehouse.cli.exit_codes import EXIT_REFUSED
from gatehouse.cli.output import echo, json_option
from gatehouse.cli.with_service import settings_in_force
from gatehouse.common import logs
from gatehouse.composition import open_database, open_state
from gatehouse.stores.database import migrate as schema
from gatehouse.stores.database.sql_engine import PATIENCE
from gatehouse.stores.state.sqlite.state_file import create as create_state

if TYPE_CHECKING:
    from gatehouse.settings import Settings


@click.command()
@click.option("--check", is_flag=True, help="Change nothing; exit code 1 if there is something to do.")
@json_option
@click.pass_context
def migrate(ctx: click.Context, *, check: bool, as_json: bool) -> None:
    """Migrate the databases to this release.

    On the embedded default `gatehouse serve` does this by itself; with a database of your own run it before the
    first start and with every upgrade. It may run on several nodes at once, and a second run changes nothing. An
    SQLite file is backed up before it is changed.

    \b
    Examples:
      gatehouse migrate
      gatehouse migrate --check
    """
    given = settings_in_force()
    logs.configure("warning", given.log_format)
    done = asyncio.run(_check(given) if check else _migrate(given))
    if as_json:
        output.as_document(
            {"before": done.before, "after": done.after, "backup": str(done.backup) if done.backup else None}
        )
    else:
        _print_result(done, check=check)
    if check and done.before != done.after:
        ctx.exit(EXIT_REFUSED)


async def _check(given: Settings) -> schema.Migrated:
    if given.embedded_accounts and not given.accounts_path.exists():
        return schema.Migrated(None, schema.HEAD)
    database = open_database(given, patience=PATIENCE)
    try:
        return schema.Migrated(await schema.current(database), schema.HEAD)
    finally:
        await database.close()


async def _migrate(given: Settings) -> schema.Migrated:
    if given.embedded_accounts or given.embedded_state:
        given.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    if given.embedded_state:
        create_state(given.state_path)
    if given.postgres_state:
        await _create_state_tables(given)
    database = open_database(given, patience=PATIENCE)
    try:
        return await schema.migrate(database)
    finally:
        await database.close()


async def _create_state_tables(given: Settings) -> None:
    state = open_state(given)
    try:
        await state.ping()  # the first connection makes what is missing
    finally:
        await state.close()


def _print_result(done: schema.Migrated, *, check: bool) -> None:
    if done.before == done.after:
        return echo(f"The accounts are at version {done.after}: nothing to do.")
    if check:
        return echo(f"The accounts are at version {done.before or 'none'}, this release needs {done.after}.")
    if done.backup:
        echo(f"Backed up the accounts to {done.backup}.")
    return echo(f"Migrated the accounts from version {done.before or 'none'} to {done.after}.")
