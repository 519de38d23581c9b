"""`gatehouse directory`: LDAP directories and Active Directory, whose people log in here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gatehouse.cli import output
from gatehouse.cli.by_name import profile_of
from gatehouse.cli.directory_sync import sync
from gatehouse.cli.output import echo, json_option
from gatehouse.cli.prompts import confirm
from gatehouse.cli.source_commands import DIRECTORY, add_source, opened, shared_commands, show_steps
from gatehouse.cli.source_options import config_options
from gatehouse.cli.with_service import OPERATOR, with_service
from gatehouse.identity_sources.definitions import DirectoryConfig, SourceKind
from gatehouse.stores.errors import Missing

if TYPE_CHECKING:
    from gatehouse.auth.identity.sources import Source
    from gatehouse.composition import Service
    from gatehouse.identity_sources.person import Person

SHOWN_CHARACTERS = 60


@click.group(no_args_is_help=True)
def directory() -> None:
    """Directories (LDAP, Active Directory) whose people log in here.

    Their people log in with the name and password that they have there, in every console. The directory decides
    about the roles that its groups are mapped to; roles that you grant by hand stay. docs/company-login.md explains it.
    """


@directory.command("add")
@click.argument("name")
@config_options(DirectoryConfig, required=("urls", "base"))
@click.option("--disabled", is_flag=True, help="Do not use it yet: test it first, then enable it.")
@with_service
async def add(service: Service, /, name: str, *, disabled: bool, **options: Any) -> None:
    """Add a directory.

    The password of --bind-dn is asked for, or read from a file.

    \b
    Examples:
      gatehouse directory add corp --url ldaps://ldap.example.org --base dc=example,dc=org \\
        --bind-dn cn=gatehouse,dc=example,dc=org \\
        --role cn=admins,ou=groups,dc=example,dc=org=ADMIN
      gatehouse directory add ad --vendor ad --url ldaps://dc1.corp.example --base dc=corp,dc=example \\
        --bind-dn svc-gatehouse@corp.example --secret-file - < password.txt
    """
    secret = f"Password of {options['bind_dn']}" if options["bind_dn"] else ""
    await add_source(service, name, SourceKind.DIRECTORY, options, secret, enabled=not disabled)
    echo(f"Added directory {name}. Try it: gatehouse directory test {name} --user SOMEBODY")
    if disabled:
        echo(f"Then: gatehouse directory enable {name}")


for command in shared_commands(DIRECTORY, lambda _service, _name: {}):
    directory.add_command(command)
directory.add_command(sync)


@directory.command("test")
@click.argument("name")
@click.option("--user", "person", metavar="NAME", default="", help="Show also what is known of this person there.")
@json_option
@with_service
async def test(service: Service, name: str, person: str, *, as_json: bool) -> None:
    """Test a directory step by step.

    The steps are: name resolved, connected, TLS, bind, search, groups. With --user also one person: the attributes
    there, and the profile, department and roles that the mapping makes of them. The exit code is 1 at the first step
    that fails. Nothing is changed, and a disabled directory can be tested.

    \b
    Example:
      gatehouse directory test corp --user carol
    """
    async with opened(service, DIRECTORY, name) as source:
        steps = await show_steps(source.directory.test(person), as_json=as_json)
        found = await source.directory.find(person) if person else None
        preview = await _preview(service, source, found) if found else {}
    if as_json:
        return output.as_document({"steps": steps, **preview})
    if found:
        click.secho("\nAttributes there", underline=True)
        output.record({key: _short(some) for key, some in sorted(found.attributes.items())}, as_json=False)
        click.secho("\nUser here", underline=True)
        output.record(preview["user"], as_json=False)
    return None


async def _preview(service: Service, source: Source, person: Person) -> dict[str, Any]:
    """What a login of the person makes of it."""
    mapped = await service.identity.people.map(source, person)
    departments = {each.id: each.name for each in await service.stores.departments.all()}
    department = source.config.mapping.default_department if mapped.department is None else mapped.department
    known = {role.code for role in await service.stores.roles.all()}
    missing = sorted(set(mapped.roles) - known)
    return {
        "attributes": person.attributes,
        "groups": person.groups,
        "user": {
            "username": mapped.username,
            "nickname": mapped.nickname,
            "email": mapped.email,
            "mobile": mapped.mobile,
            "department": f"{departments.get(department, 'there is none with this id')} (id {department})",
            "roles": [code for code in mapped.roles if code in known],
            **({"missing_roles": missing} if missing else {}),
            "login": await _outcome(service, source, person, mapped.username),
        },
    }


async def _outcome(service: Service, source: Source, person: Person, username: str) -> str:
    linked = await service.stores.sources.by_subject(source.id, person.issuer, person.subject)
    if linked is not None:
        user = (await service.stores.users.names([linked.user]))[linked.user]
        return f"as user {user}, who is linked"
    if await service.stores.users.by_name(username):
        return f"refused: another user is called {username} (gatehouse directory link {username} {source.name})"
    if not source.config.create_users:
        return "refused: no users are made (--no-create-users), and none is linked"
    return "the first login makes the user"


def _short(values: tuple[str, ...]) -> str:
    text = ", ".join(values)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}..."


@directory.command("link")
@click.argument("user")
@click.argument("name")
@click.option("--as", "there", metavar="PERSON", help="The login name there.  [default: USER]")
@click.option("--yes", is_flag=True, help="Do not ask.")
@with_service
async def link(service: Service, user: str, name: str, there: str | None, *, yes: bool) -> None:
    """Link a user to somebody in a directory.

    From then on the person in the directory NAME logs in as this user. The password there is then the only one; a
    password that the user has here is no longer asked for.

    \b
    Example:
      gatehouse directory link ann corp --as lee.ann
    """
    who = (await profile_of(service, user)).user
    async with opened(service, DIRECTORY, name) as source:
        person = await source.directory.find(there or who.username)
        if person is None:
            raise Missing(f"nobody (or more than one) who may log in is called {there or who.username!r} at {name}")
        mapped = await service.identity.people.map(source, person)
        described = " ".join(filter(None, (mapped.nickname, mapped.email and f"<{mapped.email}>")))
        confirm(f"{person.name} at {name} is {described or person.subject}. Log in as user {who.username}?", yes=yes)
        await service.management.source_changes.link(OPERATOR, who.id, source, person)
    echo(f"User {who.username} is {person.name} at {name} from now on.")
