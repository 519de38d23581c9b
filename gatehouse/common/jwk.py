"""Public keys of others (JWK): which algorithms each may verify, and whether one of them has signed a token.

The algorithms follow from the kind of the key. So nothing here verifies `none`, or an HMAC that was made with a public
key as its secret.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import jwt
import msgspec
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

if TYPE_CHECKING:
    from collections.abc import Iterable

MIN_RSA_BITS = 2048

_BY_KIND = {
    ("RSA", None): ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    ("EC", "P-256"): ("ES256",),
    ("EC", "P-384"): ("ES384",),
    ("EC", "P-521"): ("ES512",),
    ("OKP", "Ed25519"): ("EdDSA",),
}
ALGORITHMS = frozenset(name for names in _BY_KIND.values() for name in names)


class VerificationKey(NamedTuple):
    kid: str | None
    algorithms: tuple[str, ...]
    public: Any


def verified_payload(token: str, algorithm: str, kid: str | None, keys: Iterable[VerificationKey]) -> bytes | None:
    """What one of the keys has signed; None if none has."""
    for key in keys:
        if algorithm in key.algorithms and kid in (None, key.kid):
            try:
                payload: bytes = jwt.PyJWS().decode(token, key.public, algorithms=[algorithm])
            except jwt.PyJWTError:
                continue
            return payload
    return None


class _Described(msgspec.Struct):
    """What a JWK says about itself, beside the key."""

    kty: str
    kid: str | None = None
    crv: str | None = None
    alg: str | None = None
    use: str = "sig"
    key_ops: tuple[str, ...] = ("verify",)


def read_jwk(jwk: Any) -> VerificationKey | None:
    """None for a key that verifies no signatures, or that cannot be read: the others may still do."""
    try:
        key = msgspec.convert(jwk, _Described)
        algorithms = _BY_KIND.get((key.kty, None if key.kty == "RSA" else key.crv), ())
        algorithms = tuple(name for name in algorithms if key.alg in (None, name))
        # A private key that a provider publishes by mistake is nobody's secret any more.
        if not algorithms or key.use != "sig" or "verify" not in key.key_ops or "d" in jwk:
            return None
        public = jwt.PyJWK(jwk, algorithms[0]).key
    except (msgspec.ValidationError, jwt.PyJWTError, ValueError, TypeError):
        return None
    if isinstance(public, RSAPublicKey) and public.key_size < MIN_RSA_BITS:
        return None
    return VerificationKey(key.kid, algorithms, public)
