"""`gatehouse serve`: the service in the foreground, every setting as a flag."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gatehouse.settings import descriptions, load

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def _flags(command: Callable[..., None]) -> Callable[..., None]:
    """A flag for each setting but the secret ones: a command line can be read by everyone on the machine."""
    for each in reversed([each for each in descriptions() if not each.secret]):
        default = f"  [default: {each.default}]" if each.default else ""
        option = click.option(each.flag, each.name, metavar="VALUE", help=f"{each.meaning}{default}")
        command = option(command)
    return command


@click.command()
@_flags
@click.pass_context
def serve(ctx: click.Context, /, **flags: str | None) -> None:
    """Run the service.

    With no settings at all it serves on 127.0.0.1:8000 and keeps everything in the folder data; the first start
    prints the administrator's name and password, once. It stays in the foreground and stops on SIGTERM or Ctrl-C
    after finishing the requests in flight.

    Every setting is a flag here, a variable (--access-ttl is GATEHOUSE_ACCESS_TTL) and a line of the settings file
    (access_ttl); a flag wins over a variable, a variable over the file. What is secret is no flag, because other
    people on the machine can read a command line: set GATEHOUSE_SECRET, GATEHOUSE_ADMIN_PASSWORD,
    GATEHOUSE_DATABASE_URL and GATEHOUSE_STATE_URL as variables or in the file.

    \b
    Examples:
      gatehouse serve
      gatehouse serve --port 9000 --workers 4
      gatehouse --config /etc/gatehouse.toml serve
    """
    config: Path | None = ctx.find_root().params["config"]
    given = load({name: value for name, value in flags.items() if value is not None}, config=config)
    from gatehouse.server import start  # noqa: PLC0415 - half a second that --help and a wrong setting need not wait for

    start.serve(given)
