"""`gatehouse limit`: names that must wait after failed logins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gatehouse.auth.audit import Event
from gatehouse.cli import output
from gatehouse.cli.output import Moment, echo, json_option
from gatehouse.cli.with_service import OPERATOR, with_service

if TYPE_CHECKING:
    from gatehouse.service import Service


@click.group(no_args_is_help=True)
def limit() -> None:
    """Names that must wait after failed logins.

    Failures are counted by name and place. A place is an address from which the name has logged in before; all
    other addresses together are "elsewhere", so guessing from afar does not lock the owner out at home.
    """


@limit.command("list")
@json_option
@with_service
async def list_(service: Service, *, as_json: bool) -> None:
    """List the names that must wait now, the longest wait first. They need not be names of users.

    \b
    Example:
      gatehouse limit list
    """
    columns = {"name": "NAME", "place": "PLACE", "failures": "FAILURES", "until": "UNTIL"}
    found = [each._asdict() | {"until": Moment(each.until)} for each in await service.throttle.lockouts()]
    output.records(found, columns, as_json=as_json, nothing="Nobody must wait.")


@limit.command("lift")
@click.argument("name")
@with_service
async def lift(service: Service, name: str) -> None:
    """Let a name try again at once, from everywhere; its failures are forgotten.

    \b
    Example:
      gatehouse limit lift ann
    """
    user = await service.accounts.users.by_name(name)
    sessions = await service.sessions.of(user.id) if user else ()
    lifted = await service.throttle.lift(name, {session.address for session in sessions})
    if not lifted:
        return echo(f"{name} need not wait: nothing to lift.")
    service.audit.record(Event.LIMIT_LIFTED, OPERATOR, user=user.id if user else None, detail={"name": name})
    return echo(f"{name} may try again at once.")
