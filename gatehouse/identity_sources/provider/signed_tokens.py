"""What ID tokens and logout tokens have in common: header, signature, and the claims that say by whom, for whom, when.

Pure but for the keys; the time is handed in. `CallbackRefused` for each token that must not pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import jwt
import msgspec

from gatehouse.common.jwk import ALGORITHMS
from gatehouse.identity_sources.clients import CallbackRefused
from gatehouse.identity_sources.provider.http_client import shown

if TYPE_CHECKING:
    from gatehouse.identity_sources.provider.keys import KeySet

MAX_TOKEN = 64 * 1024
MAX_NAME = 255  # of a subject, a session, a token id
SKEW = 60.0
_LAST_SECOND = 253402300799  # of the year 9999

Claims = dict[str, Any]


class Recipient(NamedTuple):
    """Who must have made a token, and for whom."""

    issuer: str
    client_id: str


class SignedToken(NamedTuple):
    claims: Claims
    algorithm: str


async def verify(token: object, keys: KeySet, *types: str) -> SignedToken:
    """`types`: what the header may say as `typ`, if it says so at all."""
    if not isinstance(token, str) or len(token) > MAX_TOKEN:
        raise CallbackRefused("no token, or one that is too long")
    algorithm, kid = _read_header(token, types)
    payload = await keys.verify(token, algorithm, kid)
    if payload is None:
        raise CallbackRefused(f"no key of the provider has signed the token (kid {shown(kid)}, {algorithm})")
    try:
        return SignedToken(msgspec.json.decode(payload, type=Claims), algorithm)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise CallbackRefused("the claims of the token are not a JSON object") from None


def _read_header(token: str, types: tuple[str, ...]) -> tuple[str, str | None]:
    try:
        header = jwt.get_unverified_header(token)
    except (jwt.PyJWTError, ValueError, RecursionError):
        raise CallbackRefused("the token is not a signed JWT") from None
    algorithm, kid = header.get("alg"), header.get("kid")
    if algorithm not in ALGORITHMS:
        raise CallbackRefused(
            f"the token is signed by {shown(algorithm)}; only signatures with a key pair are accepted"
        )
    if "crit" in header or not (kid is None or isinstance(kid, str)):
        raise CallbackRefused("the header of the token asks for something unknown")
    if str(header.get("typ", "JWT")).lower().removeprefix("application/") not in types:
        raise CallbackRefused(f"the token has the type {shown(header['typ'])}")
    return algorithm, kid


def check_issued(claims: Claims, recipient: Recipient, now: float) -> None:
    """Made by this issuer, for this client, not in the future, and not expired."""
    if claims.get("iss") != recipient.issuer:
        raise CallbackRefused(f"the token was issued by {shown(claims.get('iss'))}")
    _check_audience(claims, recipient.client_id)
    if time_of(claims, "exp") + SKEW <= now:
        raise CallbackRefused("the token has expired, or the clocks differ")
    if time_of(claims, "iat") - SKEW > now:
        raise CallbackRefused("the token was issued in the future: the clocks differ")
    if "nbf" in claims and time_of(claims, "nbf") - SKEW > now:
        raise CallbackRefused("the token is not valid yet")


def _check_audience(claims: Claims, client_id: str) -> None:
    audience = claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    if client_id not in audiences:
        raise CallbackRefused(f"the token is for {shown(audience)}, not for us")
    # One that is for several says for whom it was made.
    if claims.get("azp", client_id) != client_id or (len(audiences) > 1 and "azp" not in claims):
        raise CallbackRefused(f"the token was made for {shown(claims.get('azp'))}, not for us")


def time_of(claims: Claims, name: str) -> float:
    value = claims.get(name)
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= _LAST_SECOND:
        raise CallbackRefused(f"the token has no usable {name}")
    return float(value)


def name_in(claims: Claims, name: str) -> str:
    """A claim that is a name for a machine: a subject, a session, an id. "" if there is none."""
    value = claims.get(name, "")
    if not isinstance(value, str) or len(value) > MAX_NAME or not (value.isprintable()):
        raise CallbackRefused(f"the token has no usable {name}")
    return value
