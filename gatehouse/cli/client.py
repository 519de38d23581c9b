"""`gatehouse client`: applications that people log in to with their account here."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING, Any

import click
import msgspec
from msgspec import UNSET

from gatehouse.auth.oauth.clients import read_config
from gatehouse.auth.oauth.definitions import ClientAuth
from gatehouse.cli import output
from gatehouse.cli.client_options import changed_config, config_options
from gatehouse.cli.output import Moment, echo, json_option
from gatehouse.cli.prompts import confirm
from gatehouse.cli.with_service import OPERATOR, with_service
from gatehouse.common.parsing import duration
from gatehouse.management.client_recipes import OTHER, RECIPES, config_for, instructions
from gatehouse.management.oauth_clients import ClientDraft
from gatehouse.messages.quantities import counted

if TYPE_CHECKING:
    from gatehouse.composition import Service
    from gatehouse.management.client_recipes import Instructions
    from gatehouse.stores.database.oauth_clients import StoredClient


@click.group(no_args_is_help=True)
def client() -> None:
    """Applications (Grafana, Gitea, ...) that people log in to with their account here.

    An application sends its people here by OpenID Connect. docs/applications.md explains it.
    """


@client.command("add")
@click.argument("client_id")
@click.option("--for", "recipe", type=click.Choice(list(RECIPES)), help="Which program it is; with --url.")
@config_options
@json_option
@with_service
async def add(service: Service, /, client_id: str, recipe: str | None, *, as_json: bool, **options: Any) -> None:
    """Add an application, and show what to paste there. Its secret is shown this once.

    For a program that is known here, its address is enough; for others, give their redirect addresses.

    \b
    Examples:
      gatehouse client add grafana --for grafana --url https://grafana.example.com
      gatehouse client add wiki --redirect-uri https://wiki.example.com/oidc/callback --role STAFF
    """
    config = changed_config(config_for(recipe or OTHER, options["url"] or ""), options)
    draft = ClientDraft(name=options["name"] or UNSET, config=config)
    secret = await service.management.client_changes.add(OPERATOR, client_id, draft)
    shown = instructions(client_id, config, service.settings.public_url, secret)
    if as_json:
        facts = {"client_id": client_id, "client_secret": secret, **addresses(service), "text": shown.text}
        return output.as_document(facts)
    echo(f"Added application {client_id}.{' Its secret is shown this once.' if secret else ''}")
    return _show_instructions(shown)


@client.command("recipe")
@click.argument("client_id")
@click.option("--for", "recipe", type=click.Choice(list(RECIPES)), help="Of another program.")
@with_service
async def recipe(service: Service, client_id: str, recipe: str | None) -> None:
    """Show again what to paste into an application, but for its secret.

    \b
    Example:
      gatehouse client recipe grafana
    """
    config = read_config(await service.management.client_changes.by_client_id(client_id))
    if recipe:
        config = msgspec.structs.replace(config, recipe=recipe)
    wanted = config_for(config.recipe or OTHER, config.url).redirect_uris
    _show_instructions(instructions(client_id, config, service.settings.public_url))
    for uri in set(wanted) - set(config.redirect_uris):
        click.echo(f"\nNot registered yet: gatehouse client edit {client_id} --redirect-uri {quote(uri)}", err=True)


@client.command("edit")
@click.argument("client_id")
@config_options
@with_service
async def edit(service: Service, /, client_id: str, **options: Any) -> None:
    """Change an application.

    An option that may be repeated replaces all of them; an empty value sets it back.

    \b
    Example:
      gatehouse client edit grafana --role ADMIN --role STAFF
    """
    row = await service.management.client_changes.by_client_id(client_id)
    before = read_config(row)
    config = changed_config(before, options)
    if config == before and not options["name"]:
        raise click.UsageError("nothing to change: give at least one option")
    draft = ClientDraft(name=options["name"] or UNSET, config=UNSET if config == before else config, before=before)
    await service.management.client_changes.edit(OPERATOR, client_id, draft)
    echo(f"Changed application {client_id}.")
    if before.auth is not ClientAuth.SECRET and config.auth is ClientAuth.SECRET:
        echo(f"It has no secret yet: gatehouse client secret {client_id}")


@client.command("list")
@json_option
@with_service
async def list_(service: Service, *, as_json: bool) -> None:
    """List the applications, and how many users are logged in to each.

    \b
    Example:
      gatehouse client list
    """
    users = await service.stores.oauth_clients.users_by_client()
    found = [
        _summary(row) | {"users": users.get(row.id, 0), "url": read_config(row).url}
        for row in await service.management.client_changes.all()
    ]
    columns = {"client_id": "CLIENT ID", "name": "NAME", "enabled": "STATE", "users": "USERS", "url": "URL"}
    output.records(found, columns, as_json=as_json, nothing="No applications.")


@client.command("show")
@click.argument("client_id")
@json_option
@with_service
async def show(service: Service, client_id: str, *, as_json: bool) -> None:
    """Show one application. Of its secrets only the last characters are known.

    \b
    Example:
      gatehouse client show grafana
    """
    row = await service.management.client_changes.by_client_id(client_id)
    users = await service.stores.oauth_clients.users_by_client()
    secrets = (await service.management.client_changes.valid_secrets()).get(row.id, [])
    facts = _summary(row) | {
        "users": users.get(row.id, 0),
        "created": Moment(row.created),
        "changed": Moment(row.changed),
        **addresses(service),
    }
    config = read_config(row)
    fields = {name: getattr(config, name) for name in config.__struct_fields__}
    if as_json:
        shown = [
            {"hint": each.hint, "created": Moment(each.created), "expires": Moment(each.expires)} for each in secrets
        ]
        return output.record(facts | {"secrets": shown, "config": fields}, as_json=True)
    facts["secrets"] = [f"...{each.hint}{_until(each.expires)};" for each in secrets]
    set_fields = {name: value for name, value in fields.items() if value or value is False}
    return output.record(facts | set_fields, as_json=False)


@client.command("secret")
@click.argument("client_id")
@click.option(
    "--keep",
    default="7d",
    show_default=True,
    metavar="DURATION",
    help="How long the secret before it stays valid, such as 2h or 7d; 0: it ends at once.",
)
@json_option
@with_service
async def secret(service: Service, client_id: str, keep: str, *, as_json: bool) -> None:
    """Make a new secret and show it, once.

    The one before it stays valid for a while, so that nobody is turned away until the application has the new one.
    Older ones end: two are valid at most.

    \b
    Examples:
      gatehouse client secret grafana
      gatehouse client secret grafana --keep 0
    """
    made = await service.management.client_changes.new_secret(OPERATOR, client_id, duration(keep))
    if as_json:
        facts = {"client_id": client_id, "client_secret": made.text, "old_until": Moment(made.old_until)}
        return output.record(facts, as_json=True)
    echo(f"The new secret of {client_id}, shown this once: {made.text}")
    return echo(f"The one before it ends {Moment(made.old_until)}." if made.old_until else "No other one is valid.")


@client.command("enable")
@click.argument("client_id")
@with_service
async def enable(service: Service, client_id: str) -> None:
    """Enable an application.

    \b
    Example:
      gatehouse client enable grafana
    """
    await service.management.client_changes.edit(OPERATOR, client_id, ClientDraft(enabled=True))
    echo(f"Enabled application {client_id}.")


@client.command("disable")
@click.argument("client_id")
@with_service
async def disable(service: Service, client_id: str) -> None:
    """Disable an application.

    It is refused from the next request on, and what it was granted ends at once. Sessions that it keeps itself go on.

    \b
    Example:
      gatehouse client disable grafana
    """
    users = await service.management.client_changes.edit(OPERATOR, client_id, ClientDraft(enabled=False))
    echo(f"Disabled application {client_id}, to which {_were(users)} logged in.")


@client.command("remove")
@click.argument("client_id")
@click.option("--yes", is_flag=True, help="Do not ask.")
@with_service
async def remove(service: Service, client_id: str, *, yes: bool) -> None:
    """Remove an application, with its secrets and with what it was granted.

    \b
    Example:
      gatehouse client remove grafana --yes
    """
    row = await service.management.client_changes.by_client_id(client_id)
    users = (await service.stores.oauth_clients.users_by_client()).get(row.id, 0)
    confirm(f"Remove application {client_id}, to which {counted(users, 'user')} are logged in?", yes=yes)
    users = await service.management.client_changes.remove(OPERATOR, client_id)
    echo(f"Removed application {client_id}, to which {_were(users)} logged in.")


def _show_instructions(shown: Instructions) -> None:
    """The text as it is, to be pasted."""
    echo(str(shown.where))
    click.echo(f"\n{shown.text}", nl=False)


def addresses(service: Service) -> dict[str, str]:
    """What an application is told about us."""
    issuer = service.settings.public_url
    return {"issuer": issuer, "discovery": f"{issuer}/.well-known/openid-configuration"}


def _summary(row: StoredClient) -> dict[str, Any]:
    return {"client_id": row.client_id, "name": row.name, "enabled": output.enabled(row.enabled)}


def _until(expires: float | None) -> str:
    return f" until {output.absolute(expires)}" if expires else ""


def _were(users: int) -> str:
    return f"{counted(users, 'user')} {'was' if users == 1 else 'were'}"
