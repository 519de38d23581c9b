"""`gatehouse limit`: lockouts, names that are locked after failed logins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gatehouse.cli import output
from gatehouse.cli.output import Moment, echo, json_option
from gatehouse.cli.with_service import OPERATOR, with_service

if TYPE_CHECKING:
    from gatehouse.composition import Service


@click.group(no_args_is_help=True)
def limit() -> None:
    """Lockouts: names that are locked after failed logins.

    Failures are counted by name and place. A place is an address from which the name has logged in before; all
    other addresses together are "elsewhere", so guessing from there does not lock the owner out at a known address.
    """


@limit.command("list")
@json_option
@with_service
async def list_(service: Service, *, as_json: bool) -> None:
    """List the locked names, the longest lockout first; unknown usernames are listed too.

    \b
    Example:
      gatehouse limit list
    """
    columns = {"name": "NAME", "place": "PLACE", "failures": "FAILURES", "until": "UNTIL"}
    found = [
        {"name": each.name, "place": each.source, "failures": each.failures, "until": Moment(each.until)}
        for each in await service.management.lockouts.all()
    ]
    output.records(found, columns, as_json=as_json, nothing="No name is locked.")


@limit.command("lift")
@click.argument("name")
@with_service
async def lift(service: Service, name: str) -> None:
    """Unlock a name for all places; its failures are cleared.

    \b
    Example:
      gatehouse limit lift ann
    """
    if not await service.management.lockouts.lift(OPERATOR, name):
        return echo(f"{name} is not locked.")
    return echo(f"Unlocked {name}.")
