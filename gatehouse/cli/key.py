"""`gatehouse key`: the keys that sign access tokens, and the ID tokens of applications."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gatehouse.auth.keys.key_ring import NODE_RELOAD_SECONDS, PUBLISHED_BEFORE_SIGNING_SECONDS
from gatehouse.cli import output
from gatehouse.cli.output import Mark, Moment, echo, json_option
from gatehouse.cli.prompts import confirm
from gatehouse.cli.with_service import CLI_CLIENT, with_service

if TYPE_CHECKING:
    from gatehouse.composition import Service
    from gatehouse.stores.database.signing_keys import StoredKey

_COLUMNS = {
    "kid": "KEY",
    "purpose": "FOR",
    "algorithm": "ALGORITHM",
    "state": "STATE",
    "created": "CREATED",
    "retired": "RETIRED",
    "honoured_until": "VERIFIES UNTIL",
}


@click.group(no_args_is_help=True)
def key() -> None:
    """Keys that sign access tokens, and the ID tokens of applications.

    One key signs; older ones still verify what they signed until it has expired, and are deleted then. A new one
    takes over by itself at the age of KEY_MAX_AGE, or when SIGNING_ALGORITHM is set to another algorithm. For
    applications that want ID tokens of another algorithm there is one more key for each. The public keys are
    published at /.well-known/jwks.json.
    """


@key.command("list")
@json_option
@with_service
async def list_(service: Service, *, as_json: bool) -> None:
    """List the keys, oldest first, and what each of them does.

    \b
    next       will sign; published beforehand, so that everyone knows it
    signs      signs new tokens
    verifies   signs nothing more; its tokens are accepted until they expire

    \b
    Example:
      gatehouse key list
    """
    await service.key_ring.load()
    output.records(
        [_summary(service, each) for each in service.key_ring.stored], _COLUMNS, as_json=as_json, nothing="No keys."
    )


@key.command("rotate")
@json_option
@with_service
async def rotate(service: Service, *, as_json: bool) -> None:
    """Create a new signing key that takes over from the current one. Nobody is logged out.

    The new key is published first and signs 375 seconds later: every node knows it by then, and every service that
    verifies tokens by itself has fetched the published keys again. No restart is needed.

    \b
    Example:
      gatehouse key rotate
    """
    new = await service.key_rotation.rotate(CLI_CLIENT)
    if new is None:
        raise ValueError("another node has just created a new key: see `gatehouse key list`")
    if as_json:
        return output.as_document({"kid": new.kid})
    return echo(
        f"Made key {new.kid}; it signs in {PUBLISHED_BEFORE_SIGNING_SECONDS} seconds, and the old one still verifies."
    )


@key.command("retire")
@click.argument("kid")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
@with_service
async def retire(service: Service, kid: str, *, yes: bool, as_json: bool) -> None:
    """Retire a key at once, because it may have leaked: every token that it signed is refused.

    Every node refuses its tokens within 15 seconds. Sessions stay open: clients get 401 for their access token
    and refresh it. If the key was the one that signs, a new one takes its place. Services that verify
    tokens by themselves may have kept the key for the five minutes that /.well-known/jwks.json allows.

    \b
    Example:
      gatehouse key retire k3Jx0v5mRkO1zT7yYp2sXw8cBq4nLd6uVf9hGe1iAaE --yes
    """
    confirm(f"Retire key {kid} and refuse every token it signed?", yes=yes)
    successor = await service.key_rotation.retire(kid, CLI_CLIENT)
    if as_json:
        return output.as_document({"kid": kid, "successor": successor.kid if successor else None})
    echo(f"Retired key {kid}; every node refuses its tokens within {NODE_RELOAD_SECONDS} seconds.")
    return echo(f"Made key {successor.kid} in its place.") if successor else None


def _summary(service: Service, each: StoredKey) -> dict[str, Any]:
    until = service.key_ring.verifies_until(each)
    return {
        "kid": each.kid,
        "purpose": "ID tokens" if each.purpose else "access tokens",
        "algorithm": each.algorithm,
        "state": _state(service, each),
        "created": Moment(each.created),
        "retired": Moment(each.signs_until),
        "honoured_until": Moment(None if each.signs_until is None else until),
    }


def _state(service: Service, each: StoredKey) -> Mark:
    ring = service.key_ring
    signer = ring.id_token_signer(each.algorithm) if each.purpose else ring.signer
    if signer is not None and each.kid == signer.kid:
        return Mark("signs", "signs", "green")
    return Mark("next", "next", "cyan") if each.signs_until is None else Mark("verifies", "verifies", "yellow")
