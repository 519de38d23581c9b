"""Opens the service for a command, and closes it when the command is done.

A command goes through the same rules as the service does, so what it changes is checked, recorded in the audit trail
and seen by every node on its next request.
"""

from __future__ import annotations

import asyncio
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec

import click

from gatehouse import settings
from gatehouse.auth.audit import ClientInfo
from gatehouse.common import logs
from gatehouse.common.os_user import os_user
from gatehouse.composition import open_service
from gatehouse.management.authority import CLI_ADDRESS
from gatehouse.stores.database import migrate
from gatehouse.stores.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from gatehouse.composition import Service
    from gatehouse.settings import Settings

P = ParamSpec("P")

# What the audit trail records for the operator: the operating system's name in place of a browser's.
CLI_CLIENT = ClientInfo(CLI_ADDRESS, os_user())

ID = click.IntRange(1, 2**63 - 1)
"""The number of a user or a department."""


def settings_in_force() -> Settings:
    return settings.load(config=click.get_current_context().find_root().params["config"])


def with_service(work: Callable[Concatenate[Service, P], Awaitable[None]]) -> Callable[P, None]:
    """Make a command from a coroutine that takes the service as its first argument."""

    @wraps(work)
    def command(*arguments: P.args, **options: P.kwargs) -> None:
        asyncio.run(_run_with_service(settings_in_force(), lambda service: work(service, *arguments, **options)))

    return command


async def _run_with_service(given: Settings, work: Callable[[Service], Awaitable[None]]) -> None:
    logs.configure("warning", given.log_format, cached=False)
    require_data(given)
    service = open_service(given, client=CLI_CLIENT)
    try:
        await migrate.check(service.database)
        await work(service)
    finally:
        await service.stop()


def require_data(given: Settings) -> None:
    """A command works on existing data; it must not create an empty database in the wrong folder."""
    if given.embedded_accounts and not given.accounts_path.exists():
        raise StoreUnavailable(
            f"there are no accounts in {given.data_dir}: start `gatehouse serve` once, "
            "or name the folder (GATEHOUSE_DATA_DIR, or data_dir in the settings file)"
        )
