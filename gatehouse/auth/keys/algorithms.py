"""The signing algorithms: how a key pair is made and stored, how it signs, and what its JWK looks like.

A stored key names its algorithm; nothing that a token says has a part in the choice.

| algorithm | private form | public form | signs with |
|---|---|---|---|
| ES256 | PKCS #8, DER | SubjectPublicKeyInfo, DER | OpenSSL: the only well-kept P-256 for Python, 31 us |
| EdDSA | 32 raw bytes | 32 raw bytes | libsodium: 24 us, where OpenSSL takes 40 us |
| RS256 | PKCS #8, DER | SubjectPublicKeyInfo, DER | OpenSSL: 340 us with 2048 bits |
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_der_private_key,
    load_der_public_key,
)
from nacl.bindings import crypto_sign, crypto_sign_BYTES, crypto_sign_seed_keypair

from gatehouse.common.base64url import base64url

if TYPE_CHECKING:
    from collections.abc import Callable

    Sign = Callable[[bytes], bytes]
    PublicKey = ec.EllipticCurvePublicKey | Ed25519PublicKey | rsa.RSAPublicKey

RSA_BITS = 2048
_COORDINATE_BYTES = 32


class Algorithm(NamedTuple):
    name: str
    signature_length: int  # in base64url characters, as in a token
    generate: Callable[[], tuple[bytes, bytes]]  # the private and the public half, as they are stored
    make_signer: Callable[[bytes], Sign]
    read_public: Callable[[bytes], PublicKey]
    jwk: Callable[[bytes], dict[str, str]]  # the members that RFC 7638 takes the thumbprint of


def thumbprint(algorithm: Algorithm, public: bytes) -> str:
    """The key id: its RFC 7638 thumbprint."""
    canonical = json.dumps(algorithm.jwk(public), sort_keys=True, separators=(",", ":"))
    return base64url(hashlib.sha256(canonical.encode()).digest())


def _generate_p256() -> tuple[bytes, bytes]:
    return _as_der(ec.generate_private_key(ec.SECP256R1()))


def _p256_signer(private: bytes) -> Sign:
    key = cast("ec.EllipticCurvePrivateKey", load_der_private_key(private, None))
    ecdsa = ec.ECDSA(SHA256())

    def sign(message: bytes) -> bytes:
        # A JWS holds the two numbers side by side (RFC 7518, 3.4), not in the DER form that OpenSSL gives.
        r, s = decode_dss_signature(key.sign(message, ecdsa))
        return r.to_bytes(_COORDINATE_BYTES, "big") + s.to_bytes(_COORDINATE_BYTES, "big")

    return sign


def _p256_jwk(public: bytes) -> dict[str, str]:
    numbers = cast("ec.EllipticCurvePublicKey", load_der_public_key(public)).public_numbers()
    x, y = (base64url(number.to_bytes(_COORDINATE_BYTES, "big")) for number in (numbers.x, numbers.y))
    return {"kty": "EC", "crv": "P-256", "x": x, "y": y}


def _generate_ed25519() -> tuple[bytes, bytes]:
    private = Ed25519PrivateKey.generate()
    return (
        private.private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption()),
        private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw),
    )


def _ed25519_signer(private: bytes) -> Sign:
    _, pair = crypto_sign_seed_keypair(private)
    return lambda message: crypto_sign(message, pair)[:crypto_sign_BYTES]


def _ed25519_jwk(public: bytes) -> dict[str, str]:
    return {"kty": "OKP", "crv": "Ed25519", "x": base64url(public)}


def _generate_rsa() -> tuple[bytes, bytes]:
    return _as_der(rsa.generate_private_key(public_exponent=65537, key_size=RSA_BITS))


def _rsa_signer(private: bytes) -> Sign:
    key = cast("rsa.RSAPrivateKey", load_der_private_key(private, None))
    scheme, digest = padding.PKCS1v15(), SHA256()
    return lambda message: key.sign(message, scheme, digest)


def _rsa_jwk(public: bytes) -> dict[str, str]:
    numbers = cast("rsa.RSAPublicKey", load_der_public_key(public)).public_numbers()
    n, e = (base64url(number.to_bytes((number.bit_length() + 7) // 8, "big")) for number in (numbers.n, numbers.e))
    return {"kty": "RSA", "n": n, "e": e}


def _as_der(private: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey) -> tuple[bytes, bytes]:
    return (
        private.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption()),
        private.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo),
    )


def _read_der(public: bytes) -> Any:
    return load_der_public_key(public)


ALGORITHMS = {
    algorithm.name: algorithm
    for algorithm in (
        Algorithm("ES256", 86, _generate_p256, _p256_signer, _read_der, _p256_jwk),
        Algorithm("EdDSA", 86, _generate_ed25519, _ed25519_signer, Ed25519PublicKey.from_public_bytes, _ed25519_jwk),
        Algorithm("RS256", 342, _generate_rsa, _rsa_signer, _read_der, _rsa_jwk),
    )
}
