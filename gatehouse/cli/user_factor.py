"""`gatehouse user factor`: the second factors of a user, and how an operator resets them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gatehouse.cli import output
from gatehouse.cli.output import Moment, echo, json_option
from gatehouse.cli.prompts import confirm
from gatehouse.cli.with_service import with_service
from gatehouse.management.authority import OPERATOR

if TYPE_CHECKING:
    from gatehouse.composition import Service


@click.command("factor")
@click.argument("name")
@click.option("--reset", is_flag=True, help="Remove authenticator app, recovery codes and passkeys.")
@click.option("--yes", is_flag=True, help="Do not ask before a reset.")
@json_option
@with_service
async def factor(service: Service, name: str, *, reset: bool, yes: bool, as_json: bool) -> None:
    """Show the second factors of a user, or reset them.

    A reset is for a user who has lost both the authenticator app and the recovery codes. Verify who asks first:
    from then on the password alone logs this user in, even where a passkey had replaced it. Sessions stay open.

    \b
    Examples:
      gatehouse user factor ann
      gatehouse user factor ann --reset
    """
    account = (await service.accounts.user(name)).user
    if reset:
        confirm(f"Remove every second factor of {account.username}?", yes=yes)
        removed = await service.factor_administration.reset(OPERATOR, account.id)
        return echo(f"Removed from {account.username}: {', '.join(removed) or 'nothing, there was no second factor'}.")
    status = await service.factors.enrolment.status(account.id)
    facts = {
        "username": account.username,
        "totp": "on" if status.totp else "off",
        "recovery_codes_left": status.recovery_codes_left,
        "password_login": "on" if await service.factor_administration.password_login(account.username) else "off",
    }
    passkeys = [
        {
            "id": passkey.id,
            "name": passkey.name,
            "created": Moment(passkey.created),
            "last_used": Moment(passkey.last_used) if passkey.last_used else None,
        }
        for passkey in await service.factors.own_passkeys.all(account.id)
    ]
    if as_json:
        return output.as_document(facts | {"passkeys": passkeys})
    output.record(facts, as_json=False)
    columns = {"id": "ID", "name": "PASSKEY", "created": "CREATED", "last_used": "LAST USED"}
    return output.records(passkeys, columns, as_json=False, nothing="No passkeys.")
