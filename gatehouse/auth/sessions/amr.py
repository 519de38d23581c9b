"""How a session was proven: the methods of its login, by the names of RFC 8176 (`amr`), and by which source.

The proof is kept in the session's row as one text, `pwd+otp` or `ldap@corp+otp`, and carried into its tokens. A method
behind `~` is one that a provider reports and that does not count here; `acr:` is the class of login that it reports.
A session that 0.1.0 has opened has no proof.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

if TYPE_CHECKING:
    from collections.abc import Sequence

_AT, _REPORTED, _ACR = "@", "~", "acr:"


class Method(StrEnum):
    PASSWORD = "pwd"
    CODE = "otp"  # of an authenticator app, or a recovery code
    PASSKEY = "hwk"
    QR = "qr"  # confirmed in another session, whose methods stand before it
    DIRECTORY = "ldap"  # a password that a directory has checked
    PROVIDER = "oidc"
    VOUCHED = "mfa"  # a second factor that a provider vouches for


# What the password alone is not. A passkey verifies its user, so it stands for both.
SECOND_FACTORS = frozenset({Method.CODE, Method.PASSKEY, Method.VOUCHED})


def method_at(method: Method, source: str) -> str:
    return f"{method}{_AT}{source}"


def reported(method: str) -> str:
    return f"{_REPORTED}{quote(method, safe='')}"


def reported_acr(acr: str) -> str:
    return f"{_ACR}{quote(acr, safe='')}"


def pack_methods(methods: Sequence[str]) -> str:
    return "+".join(methods)


def unpack_methods(proof: str) -> tuple[str, ...]:
    """The methods that count, by their names alone."""
    parts = proof.split("+") if proof else ()
    return tuple(part.partition(_AT)[0] for part in parts if not part.startswith((_REPORTED, _ACR)))


def describe(proof: str) -> str:
    """The methods that count, with their source, for people: `ldap@corp otp`."""
    return " ".join(part for part in proof.split("+") if not part.startswith((_REPORTED, _ACR)))


def source_of(proof: str) -> str:
    """The name of the source that the login went by; empty if that was ours."""
    return next((part.partition(_AT)[2] for part in proof.split("+") if _AT in part), "")


def proof_claims(proof: str) -> dict[str, Any]:
    """What a token says about it."""
    claims: dict[str, Any] = {"amr": unpack_methods(proof)}
    if source := source_of(proof):
        claims["idp"] = source
    if acr := next((part[len(_ACR) :] for part in proof.split("+") if part.startswith(_ACR)), ""):
        claims["acr"] = unquote(acr)
    return claims


def confirmed_by_qr(proof: str) -> tuple[str, ...]:
    """The proof of a session that another one has confirmed; unknown if that of the other is."""
    return (*proof.split("+"), Method.QR) if proof else ()


def with_source(methods: Sequence[str], source: str) -> str:
    """The proof of a session whose token has these methods and this source."""
    elsewhere = {Method.DIRECTORY.value, Method.PROVIDER.value}
    return pack_methods([f"{each}{_AT}{source}" if source and each in elsewhere else each for each in methods])
