"""`gatehouse secret`: the master secret, and how it is replaced while people are logged in."""

from __future__ import annotations

import time
from asyncio import sleep
from typing import TYPE_CHECKING

import click

from gatehouse.auth.audit import Event
from gatehouse.auth.keys.key_ring import NODE_RELOAD_SECONDS
from gatehouse.cli.output import echo, relative
from gatehouse.cli.prompts import confirm
from gatehouse.cli.with_service import CLI_CLIENT, with_service
from gatehouse.messages.quantities import counted
from gatehouse.settings.master_secret import new_secret, secret_path, write_secrets

if TYPE_CHECKING:
    from pathlib import Path

    from gatehouse.composition import Service

# Until then every running worker has read the file again.
RELOADED_SECONDS = NODE_RELOAD_SECONDS + 5


@click.group(no_args_is_help=True)
def secret() -> None:
    """The master secret, from which every other key is derived.

    It is in a file (SECRET_FILE, by default the file secret in the data folder), or in GATEHOUSE_SECRET. The
    file may hold several, one on each line: the first encrypts and signs, all of them decrypt and verify. A running
    service reads the file again every 15 seconds.
    """


@secret.command("rotate")
@click.option("--now", is_flag=True, help="Do not wait for running workers; only when the service is stopped.")
@with_service
async def rotate(service: Service, *, now: bool) -> None:
    """Replace the master secret by a new one. Nobody is logged out.

    First the new secret is added to the file, so that every worker can verify with it; 20 seconds later it
    moves to the front, and signing keys and second factors are sealed under it. No restart is needed. The old one
    still verifies refresh tokens; when all have been renewed, `gatehouse secret forget` removes it.

    Where nodes do not share the file, or the secret comes from GATEHOUSE_SECRET, do the same steps by hand: add the
    new one as GATEHOUSE_SECRET_PREVIOUS (or as a second line) on every node and restart them one by one; then swap
    the two and restart them one by one again; then `gatehouse secret reseal`.

    \b
    Example:
      gatehouse secret rotate
    """
    path = _file(service)
    known, new = tuple(service.key_ring.secrets), new_secret()
    write_secrets(path, [*known, new])
    if not now:
        echo(f"Added a new secret to {path}; in {RELOADED_SECONDS:.0f} seconds every worker has read it ...")
        await sleep(RELOADED_SECONDS)
    number = await service.reseal(new)
    write_secrets(path, [new, *known])
    service.audit.record(Event.SECRET_ROTATED, CLI_CLIENT, detail={"keys": number})
    echo(
        f"The new secret is in force and seals {counted(number, 'signing key')}. "
        "The old one still verifies refresh tokens;"
    )
    echo(f"remove it in {_days(service)} with `gatehouse secret forget`.")


@secret.command("forget")
@click.option("--yes", is_flag=True, help="Do not ask.")
@with_service
async def forget(service: Service, *, yes: bool) -> None:
    """Remove every secret but the first from the file.

    Sessions whose refresh token was signed by an old secret end. REFRESH_TTL after the last rotation there are none
    left; before that, users who have not refreshed since must log in again.

    \b
    Example:
      gatehouse secret forget
    """
    path = _file(service)
    first, *others = service.key_ring.secrets
    if not others:
        return echo(f"There is only one secret in {path}: nothing to forget.")
    rotated = path.stat().st_mtime
    if time.time() < rotated + service.settings.refresh_ttl:
        when = relative(rotated - time.time())
        confirm(f"The secret changed {when}: users who have not refreshed since must log in again. Continue?", yes=yes)
    await service.reseal(first)
    write_secrets(path, [first])
    service.audit.record(Event.SECRET_ROTATED, CLI_CLIENT, detail={"forgotten": len(others)})
    return echo(f"Removed {counted(len(others), 'old secret')} from {path}.")


@secret.command("reseal")
@with_service
async def reseal(service: Service) -> None:
    """Seal the signing keys and the second factors under the first secret.

    Needed only after a secret was replaced by hand; `rotate` and `forget` do it by themselves.

    \b
    Example:
      gatehouse secret reseal
    """
    number = await service.reseal(service.key_ring.secrets[0])
    service.audit.record(Event.SECRET_ROTATED, CLI_CLIENT, detail={"keys": number})
    echo(f"Sealed {counted(number, 'signing key')} under the first secret.")


def _file(service: Service) -> Path:
    if service.settings.secret:
        raise ValueError(
            "the secret comes from GATEHOUSE_SECRET, which no command can change: see `gatehouse secret rotate --help`"
        )
    return secret_path(service.settings)


def _days(service: Service) -> str:
    return relative(service.settings.refresh_ttl).removeprefix("in ")
