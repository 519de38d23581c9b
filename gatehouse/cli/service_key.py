"""`gatehouse service-key`: which other services may ask about tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gatehouse.auth.audit import Event
from gatehouse.auth.keys.service_keys import digest, new_service_key
from gatehouse.cli import output
from gatehouse.cli.output import Moment, echo, json_option
from gatehouse.cli.prompts import confirm
from gatehouse.cli.with_service import CLI_CLIENT, with_service
from gatehouse.management import accepted_values

if TYPE_CHECKING:
    from gatehouse.composition import Service


@click.group(no_args_is_help=True)
def service_key() -> None:
    """Keys with which other services ask about tokens.

    With its key a service asks /oauth2/introspect whether a token is still valid. Only a digest of the
    key is stored.
    """


@service_key.command("add")
@click.argument("name")
@json_option
@with_service
async def add(service: Service, name: str, *, as_json: bool) -> None:
    """Create a key for the service NAME and show it, once.

    \b
    Example:
      gatehouse service-key add billing
    """
    accepted_values.check_text("service name", name)
    made = new_service_key()
    await service.stores.service_keys.add(name, digest(made), service.clock())
    service.audit.record(Event.SERVICE_KEY_ADDED, CLI_CLIENT, detail={"name": name})
    if as_json:
        return output.as_document({"name": name, "key": made})
    return echo(f"The key of {name}, shown this once: {made}")


@service_key.command("list")
@json_option
@with_service
async def list_(service: Service, *, as_json: bool) -> None:
    """List the services that have a key.

    \b
    Example:
      gatehouse service-key list
    """
    found = [{"name": each.name, "created": Moment(each.created)} for each in await service.stores.service_keys.all()]
    output.records(found, {"name": "SERVICE", "created": "CREATED"}, as_json=as_json, nothing="No service keys.")


@service_key.command("revoke")
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
@with_service
async def revoke(service: Service, name: str, *, yes: bool) -> None:
    """Revoke the key of a service; from then on it is refused.

    \b
    Example:
      gatehouse service-key revoke billing --yes
    """
    confirm(f"Revoke the key of {name}?", yes=yes)
    await service.stores.service_keys.delete(name)
    service.audit.record(Event.SERVICE_KEY_REVOKED, CLI_CLIENT, detail={"name": name})
    echo(f"Revoked the key of {name}.")
