"""`gatehouse user`: who may log in, with which password and which roles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gatehouse.cli import output
from gatehouse.cli.by_name import profile_of, user_id
from gatehouse.cli.new_password_input import password_options, read_password, show_once
from gatehouse.cli.output import Moment, echo, json_option
from gatehouse.cli.with_service import OPERATOR, with_service
from gatehouse.stores.database.users import UserChange

if TYPE_CHECKING:
    from gatehouse.composition import Service


@click.command("disable")
@click.argument("name")
@with_service
async def disable(service: Service, name: str) -> None:
    """Disable a user: its sessions end at once, and it cannot log in.

    \b
    Example:
      gatehouse user disable ann
    """
    await service.management.user_changes.edit(OPERATOR, await user_id(service, name), UserChange(enabled=False))
    echo(f"Disabled user {name}; its sessions have ended.")


@click.command("enable")
@click.argument("name")
@with_service
async def enable(service: Service, name: str) -> None:
    """Enable a user, who can log in again.

    \b
    Example:
      gatehouse user enable ann
    """
    await service.management.user_changes.edit(OPERATOR, await user_id(service, name), UserChange(enabled=True))
    echo(f"Enabled user {name}.")


@click.command("password")
@click.argument("name")
@password_options
@json_option
@with_service
async def password(service: Service, name: str, *, password_stdin: bool, random_password: bool, as_json: bool) -> None:
    """Set a user's password; its sessions end at once.

    \b
    Examples:
      gatehouse user password ann
      gatehouse user password ann --random-password
    """
    account = (await profile_of(service, name)).user
    username = account.username
    new, generated = read_password(username, password_stdin=password_stdin, random=random_password)
    await service.management.user_changes.set_password(OPERATOR, account.id, await service.hash_pool.hash(new))
    if as_json:
        return output.as_document({"username": username} | ({"password": new} if generated else {}))
    echo(f"Set the password of {username}; its sessions have ended.")
    return show_once(new) if generated else None


@click.command("link")
@click.argument("name")
@json_option
@with_service
async def link(service: Service, name: str, *, as_json: bool) -> None:
    """Print a link with which a user sets its own password, once, within a day.

    Until then the old password and the open sessions stay good. Every change of the password voids the link.

    \b
    Example:
      gatehouse user link ann
    """
    account = (await profile_of(service, name)).user
    made = await service.management.password_links.make(OPERATOR, account.id)
    facts = {"username": account.username, "url": made.url, "expires": Moment(made.expires)}
    if as_json:
        return output.as_document(facts)
    echo(f"{account.username} sets a password here, once, until {output.absolute(made.expires)}:")
    return echo(made.url)


@click.command("grant")
@click.argument("name")
@click.argument("roles", nargs=-1, required=True, metavar="ROLE...")
@with_service
async def grant(service: Service, name: str, roles: tuple[str, ...]) -> None:
    """Give a user one or more roles.

    \b
    Example:
      gatehouse user grant ann ADMIN AUDITOR
    """
    await service.management.user_changes.grant(OPERATOR, await user_id(service, name), roles)
    echo(f"Granted {name}: {', '.join(roles)}.")


@click.command("revoke")
@click.argument("name")
@click.argument("roles", nargs=-1, required=True, metavar="ROLE...")
@with_service
async def revoke(service: Service, name: str, roles: tuple[str, ...]) -> None:
    """Take one or more roles from a user.

    \b
    Example:
      gatehouse user revoke ann ADMIN
    """
    await service.management.user_changes.revoke(OPERATOR, await user_id(service, name), roles)
    echo(f"Revoked from {name}: {', '.join(roles)}.")
