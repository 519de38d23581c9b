"""Options for the configuration of an application: one for each field of `ClientConfig`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click
import msgspec

from gatehouse.auth.oauth.definitions import ID_TOKEN_ALGORITHMS, ClientAuth, ClientConfig, Pkce, Scope

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., Any]")


def _flag(name: str, field: str, text: str) -> Callable[[F], F]:
    return click.option(f"--{name}/--no-{name}", field, default=None, help=text)


def _many(name: str, field: str, metavar: str, text: str, usual: str = "") -> Callable[[F], F]:
    default = f"  [default: {usual}]" if usual else ""
    return click.option(name, field, multiple=True, metavar=metavar, help=f"{text}; may be repeated.{default}")


_OPTIONS: list[Callable[[Any], Any]] = [
    click.option("--name", help="The name that people see.  [default: CLIENT_ID]"),
    click.option("--url", metavar="URL", help="Where people open it."),
    _many("--redirect-uri", "redirect_uris", "URL", "Where people come back to, exactly as it is sent"),
    _many("--post-logout-uri", "post_logout_redirect_uris", "URL", "Where people may be sent after a logout"),
    click.option(
        "--backchannel-uri", "backchannel_logout_uri", metavar="URL", help="Where it is told that a session ended."
    ),
    _many("--role", "roles", "CODE", "Who may use it: holders of this role", "everybody"),
    _many("--scope", "scopes", "SCOPE", "What it may ask for", " ".join(Scope)),
    click.option(
        "--auth",
        type=click.Choice([auth.value for auth in ClientAuth]),
        help=f"How it proves itself; none for one that runs in browsers or phones.  [default: {ClientAuth.SECRET}]",
    ),
    click.option(
        "--jwks-file",
        type=click.File(encoding="utf-8"),
        metavar="FILE",
        help="Its public keys (a JWK set), for private_key_jwt.",
    ),
    click.option(
        "--pkce",
        type=click.Choice([pkce.value for pkce in Pkce]),
        help=f"Whether it must use PKCE; nonce: that or a nonce.  [default: {Pkce.NONCE}]",
    ),
    click.option(
        "--first-party/--third-party",
        "first_party",
        default=None,
        help="Whether it is the company's own; of others people are asked for consent.  [default: first-party]",
    ),
    click.option("--id-token-alg", type=click.Choice(ID_TOKEN_ALGORITHMS), help="Of its ID tokens.  [default: RS256]"),
    _flag("claims-in-id-token", "claims_in_id_token", "Whether ID tokens say what userinfo says.  [default: no]"),
    _flag("emails-trusted", "emails_trusted", "Whether it is told that addresses are verified.  [default: no]"),
    click.option("--audience", metavar="TEXT", help="Of its access tokens.  [default: CLIENT_ID]"),
    _flag("allow-http", "allow_http", "Whether its addresses may be http:// to other machines.  [default: no]"),
]


def config_options(command: F) -> F:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def changed_config(config: ClientConfig, options: dict[str, Any]) -> ClientConfig:
    """The configuration with the options that were given; an empty one sets its field back."""
    usual, values = ClientConfig(), {}
    if (file := options["jwks_file"]) is not None:
        values["jwks"] = file.read()
    for name in ClientConfig.__struct_fields__:
        value = options.get(name)
        if value is None or value == ():
            continue
        if isinstance(value, tuple):
            value = tuple(each for each in value if each.strip())
        values[name] = getattr(usual, name) if value in ("", ()) else value
    if values.get("auth", config.auth) != ClientAuth.PRIVATE_KEY_JWT and "jwks" not in values:
        values["jwks"] = ""
    if unknown := sorted(set(values.get("scopes", ())) - set(Scope)):
        raise click.UsageError(f"no such scope: {', '.join(unknown)}; there are {', '.join(Scope)}")
    return msgspec.convert(msgspec.to_builtins(config) | msgspec.to_builtins(values), ClientConfig)
