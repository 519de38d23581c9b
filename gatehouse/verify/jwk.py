"""A key of a JWKS, with the one algorithm that it verifies.

The algorithm follows from the kind of the key and is never taken from a token. So a token that says `HS256`, or
names an elliptic-curve key beside `RS256`, verifies nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePublicKey, EllipticCurvePublicNumbers
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey, RSAPublicNumbers

from gatehouse.common.base64url import from_base64url

MIN_RSA_BITS = 2048


class VerificationKey(NamedTuple):
    kid: str
    algorithm: str
    public: EllipticCurvePublicKey | Ed25519PublicKey | RSAPublicKey


def read_jwk(jwk: Any) -> VerificationKey | None:
    """None for a key of another kind, for another use, or without a name. `ValueError` if it cannot be read."""
    if not isinstance(jwk, dict) or not isinstance(jwk.get("kid"), str) or jwk.get("use", "sig") != "sig":
        return None
    match jwk.get("kty"), jwk.get("crv"):
        case "EC", "P-256":
            key = VerificationKey(jwk["kid"], "ES256", _p256(jwk))
        case "OKP", "Ed25519":
            key = VerificationKey(jwk["kid"], "EdDSA", Ed25519PublicKey.from_public_bytes(_raw(jwk, "x")))
        case "RSA", _:
            key = VerificationKey(jwk["kid"], "RS256", _rsa(jwk))
        case _:
            return None
    return key if jwk.get("alg", key.algorithm) == key.algorithm else None


def _p256(jwk: dict[str, Any]) -> EllipticCurvePublicKey:
    return EllipticCurvePublicNumbers(_number(jwk, "x"), _number(jwk, "y"), SECP256R1()).public_key()


def _rsa(jwk: dict[str, Any]) -> RSAPublicKey:
    key = RSAPublicNumbers(_number(jwk, "e"), _number(jwk, "n")).public_key()
    if key.key_size < MIN_RSA_BITS:
        raise ValueError(f"an RSA key of {key.key_size} bits")
    return key


def _number(jwk: dict[str, Any], member: str) -> int:
    return int.from_bytes(_raw(jwk, member), "big")


def _raw(jwk: dict[str, Any], member: str) -> bytes:
    text = jwk.get(member)
    if not isinstance(text, str):
        raise ValueError(f"no {member}")  # noqa: TRY004 - what a key that cannot be read raises
    return from_base64url(text)
