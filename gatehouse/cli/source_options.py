"""Options for the configuration of a directory or a provider: one for each field, named like it.

Lists and tables are options that may be repeated, named in the singular. An option that is given replaces the whole
field; an empty one sets it back to what is usual.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click
from msgspec import UNSET, UnsetType

from gatehouse.identity_sources.definitions import DirectoryConfig, ProviderConfig
from gatehouse.identity_sources.field_texts import field_types, field_value, table, with_fields

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from gatehouse.identity_sources.definitions import Config

F = TypeVar("F", bound="Callable[..., Any]")


class FieldOption(NamedTuple):
    help: str
    metavar: str = "TEXT"
    flag: str = ""  # where it is not that of the field
    choices: tuple[str, ...] = ()


_BOTH = {
    "ca_file": FieldOption("Authorities that its certificate may come from.  [default: the system's]", "FILE"),
    "timeout": FieldOption("How long one login may wait for it.", "SECONDS"),
    "create_users": FieldOption("Whether a first login makes the user."),
    "username": FieldOption("Where the username is.", "ATTRIBUTE"),
    "nickname": FieldOption("Where the nickname is.", "ATTRIBUTE"),
    "email": FieldOption("Where the email address is.", "ATTRIBUTE"),
    "mobile": FieldOption("Where the mobile number is.", "ATTRIBUTE"),
    "department": FieldOption("Where the department is: its name, code, or a value of --department-id.", "ATTRIBUTE"),
    "roles": FieldOption("A role for the members of a group; may be repeated.", "GROUP=CODE", "--role"),
    "default_roles": FieldOption("A role for everybody from here; may be repeated.", "CODE", "--default-role"),
    "departments": FieldOption(
        "The department for a value of the attribute; may be repeated.", "VALUE=ID", "--department-id"
    ),
    "default_department": FieldOption("Department of those for whom none is found.", "ID"),
}

_OPTIONS: dict[type[Config], dict[str, FieldOption]] = {
    DirectoryConfig: {
        "urls": FieldOption(
            "ldaps://HOST, or ldap://HOST with StartTLS. Repeat it for further servers.", "URL", "--url"
        ),
        "base": FieldOption("Where people are searched for, such as dc=example,dc=org.", "DN"),
        "bind_dn": FieldOption("The account that searches; its password is the secret.", "DN"),
        "vendor": FieldOption("Whose names of attributes and filters are usual.", choices=("openldap", "ad")),
        "allow_plain": FieldOption("Whether ldap:// goes without TLS: passwords can be read on the way."),
        "user_filter": FieldOption("Who may log in; users whom it no longer matches are disabled.", "FILTER"),
        "name_attributes": FieldOption(
            "What a login name is compared with; may be repeated.", "NAME", "--name-attribute"
        ),
        "subject_attribute": FieldOption("What identifies a person for ever.", "NAME"),
        "group_base": FieldOption("Where groups are searched for.  [default: --base]", "DN"),
        "group_filter": FieldOption("Which groups are somebody's; {dn} and {name} stand for the person.", "FILTER"),
        "nested_groups": FieldOption("Whether members of a group in a group are members."),
        "connections": FieldOption("How many each worker opens at most.", "NUMBER"),
        "recheck_seconds": FieldOption("A refresh asks about somebody again after this time.", "SECONDS"),
        "stale_seconds": FieldOption("How long refreshes go on while no server answers.", "SECONDS"),
        **_BOTH,
    },
    ProviderConfig: {
        "issuer": FieldOption("Its URL, as it stands in its ID tokens.", "URL"),
        "client_id": FieldOption("What we are called there.", "ID"),
        "scopes": FieldOption("A scope to ask for; may be repeated.", "SCOPE", "--scope"),
        "icon": FieldOption("Icon of the button: one of ours, or a URL.", "NAME"),
        "client_auth": FieldOption(
            "How we show our secret.", choices=("client_secret_basic", "client_secret_post", "none")
        ),
        "userinfo": FieldOption("Whether the userinfo endpoint is asked as well."),
        "trust_factors": FieldOption("Whether a second factor that it vouches for counts here."),
        "factor_acrs": FieldOption("An acr that means a second factor; may be repeated.", "ACR", "--factor-acr"),
        "prompt": FieldOption("Sent as prompt, such as login.", "WORD"),
        "logout": FieldOption("Whether our logout goes on to its logout."),
        "base_url": FieldOption("Of DingTalk or Feishu, where it is not the usual one.", "URL"),
        "tenant": FieldOption("Of Feishu or DingTalk: only people of this company.", "KEY"),
        "groups": FieldOption("The claim that has the groups.  [default: groups]", "CLAIM"),
        **{
            name: option._replace(metavar=option.metavar.replace("ATTRIBUTE", "CLAIM"))
            for name, option in _BOTH.items()
        },
    },
}


def config_options(config: type[Config], required: Collection[str] = ()) -> Callable[[F], F]:
    """One option for each field of the configuration, and those that all sources have."""

    def decorate(command: F) -> F:
        types, usual = field_types(config), config()
        options = [
            _option(name, types[name], _with_default(field, field_value(usual, name)), required=name in required)
            for name, field in _OPTIONS[config].items()
        ]
        options += [
            click.option("--title", help="The name that people see.  [default: NAME]"),
            click.option(
                "--sort", type=click.IntRange(0, 2**31 - 1), help="Place: smaller ones are asked and shown first."
            ),
            click.option(
                "--secret-file",
                type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
                metavar="FILE",
                help="File with the secret, or - for standard input. Without it you are asked.",
            ),
        ]
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def _with_default(field: FieldOption, value: Any) -> FieldOption:
    if isinstance(value, bool):
        value = "yes" if value else "no"
    shown = " ".join(value) if isinstance(value, tuple) else f"{value:g}" if isinstance(value, float) else value
    return field._replace(help=f"{field.help}  [default: {shown}]") if shown else field


def _option(name: str, kind: Any, field: FieldOption, *, required: bool) -> Callable[[F], F]:
    flag = field.flag or f"--{name.replace('_', '-')}"
    if kind is bool:
        return click.option(f"{flag}/--no-{flag[2:]}", name, default=None, help=field.help)
    if field.choices:
        return click.option(flag, name, type=click.Choice(field.choices), help=field.help)
    if kind in {int, float}:
        return click.option(flag, name, type=kind, metavar=field.metavar, help=field.help)
    multiple = kind is not str
    return click.option(flag, name, multiple=multiple, required=required, metavar=field.metavar, help=field.help)


def changed_config(config: Config, options: dict[str, Any]) -> Config | UnsetType:
    """The configuration with the options that were given; UNSET if none was."""
    types, usual = field_types(type(config)), type(config)()
    values = {}
    for name in types.keys() & {name for name, value in options.items() if value not in {None, ()}}:
        value = options[name]
        if isinstance(value, tuple):
            entries = [each for each in value if each.strip()]
            value = tuple(entries) if types[name] == tuple[str, ...] else table(types[name], entries)
        values[name] = field_value(usual, name) if value in ("", (), {}) else value
    return with_fields(config, values) if values else UNSET


def read_secret(what: str, file: Path | None) -> str:
    """Never an argument, which others can read in the list of processes."""
    if file is None:
        if not sys.stdin.isatty():
            raise click.UsageError(
                "no terminal to ask for the secret on: use --secret-file FILE, or - for standard input"
            )
        return str(click.prompt(what, hide_input=True, err=True))
    try:
        text = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
        return text.decode().removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        raise ValueError(f"the secret in {file} is not UTF-8") from None
