"""`gatehouse provider`: OpenID providers, DingTalk and Feishu, whose people log in here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gatehouse.cli import output
from gatehouse.cli.by_name import profile_of
from gatehouse.cli.output import echo, json_option
from gatehouse.cli.source_commands import PROVIDER, add_source, opened, shared_commands, show_steps
from gatehouse.cli.source_options import config_options
from gatehouse.cli.with_service import OPERATOR, with_service
from gatehouse.identity_sources.definitions import ProviderConfig, SourceKind
from gatehouse.identity_sources.person import Person

if TYPE_CHECKING:
    from gatehouse.composition import Service


@click.group(no_args_is_help=True)
def provider() -> None:
    """OpenID providers (Keycloak, Azure, DingTalk, Feishu) whose people log in here.

    Each is a button on the login page. The provider decides about the roles that its groups are mapped to; roles that
    you grant by hand stay. docs/company-login.md explains it.
    """


@provider.command("add")
@click.argument("name")
@click.option(
    "--kind",
    type=click.Choice([kind.value for kind in PROVIDER.kinds]),
    default=SourceKind.OPENID.value,
    show_default=True,
    help="What it speaks.",
)
@config_options(ProviderConfig, required=("client_id",))
@click.option("--disabled", is_flag=True, help="Show no button yet: test it first, then enable it.")
@with_service
async def add(service: Service, /, name: str, kind: str, *, disabled: bool, **options: Any) -> None:
    """Add a provider.

    Its client secret is asked for, or read from a file.

    \b
    Examples:
      gatehouse provider add keycloak --issuer https://sso.example.org/realms/corp --client-id gatehouse \\
        --title "Company account" --role /admins=ADMIN
      gatehouse provider add dingtalk --kind dingtalk --client-id dingabc --secret-file - < secret.txt
    """
    if kind == SourceKind.OPENID and not options["issuer"]:
        raise click.UsageError("Missing option '--issuer'.")
    secret = "" if options["client_auth"] == "none" else f"Client secret of {options['client_id']}"
    await add_source(service, name, SourceKind(kind), options, secret, enabled=not disabled)
    echo(f"Added provider {name}. Register there:")
    output.record(addresses(service, name), as_json=False)
    echo(f"Then try it: gatehouse provider test {name}")


def addresses(service: Service, name: str) -> dict[str, Any]:
    """What is registered at the provider."""
    ours = f"{service.settings.public_url}/login/{name}"
    return {
        "redirect_uri": f"{ours}/callback",
        "post_logout_uri": f"{ours}/logged-out",
        "backchannel_logout_uri": f"{ours}/backchannel-logout",
    }


for command in shared_commands(PROVIDER, addresses):
    provider.add_command(command)


@provider.command("test")
@click.argument("name")
@json_option
@with_service
async def test(service: Service, name: str, *, as_json: bool) -> None:
    """Test a provider step by step.

    The steps are: its configuration, its keys, and whether it knows our client and secret. Nothing is changed. The exit
    code is 1 at the first step that fails. A disabled provider can be tested.

    \b
    Example:
      gatehouse provider test keycloak
    """
    async with opened(service, PROVIDER, name) as source:
        steps = await show_steps(source.provider.test(), as_json=as_json)
    if as_json:
        output.as_document({"steps": steps})


@provider.command("link")
@click.argument("user")
@click.argument("name")
@click.option("--subject", required=True, metavar="SUB", help="Who it is there: the claim sub of its tokens.")
@with_service
async def link(service: Service, user: str, name: str, subject: str) -> None:
    """Link a user to somebody at a provider.

    From then on the person at the provider NAME logs in as this user. Nobody is linked by name or mail: look up the
    subject at the provider (Keycloak calls it the user's ID). People can also link themselves, on their account page.

    \b
    Example:
      gatehouse provider link ann keycloak --subject 5f0c0d0e-3c1f-4f0e-9b6e-0b6f6f0c9a10
    """
    who = (await profile_of(service, user)).user
    async with opened(service, PROVIDER, name) as source:
        person = Person(subject, subject, {}, issuer=source.provider.issuer)
        await service.management.source_changes.link(OPERATOR, who.id, source, person)
    echo(f"User {who.username} is {subject} at {name} from now on.")
