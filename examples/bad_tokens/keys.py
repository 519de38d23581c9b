"""The test issuer's signing keys, one of each algorithm, and tokens signed with anything that a test asks for."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

Json = dict[str, Any]


def b64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def encode(value: object) -> str:
    return b64(json.dumps(value, separators=(",", ":")).encode())


def number(value: int) -> str:
    return b64(value.to_bytes((value.bit_length() + 7) // 8, "big"))


class EcKey:
    alg = "ES256"

    def __init__(self, kid: str) -> None:
        self.kid = kid
        self.private = ec.generate_private_key(ec.SECP256R1())

    def jwk(self) -> Json:
        point = self.private.public_key().public_numbers()
        x, y = (b64(value.to_bytes(32, "big")) for value in (point.x, point.y))
        return {"kty": "EC", "crv": "P-256", "x": x, "y": y, "kid": self.kid, "alg": self.alg, "use": "sig"}

    def sign_der(self, data: bytes) -> bytes:
        return self.private.sign(data, ec.ECDSA(hashes.SHA256()))

    def sign(self, data: bytes) -> bytes:
        r, s = decode_dss_signature(self.sign_der(data))
        return r.to_bytes(32, "big") + s.to_bytes(32, "big")


class OkpKey:
    alg = "EdDSA"

    def __init__(self, kid: str) -> None:
        self.kid = kid
        self.private = Ed25519PrivateKey.generate()

    def jwk(self) -> Json:
        x = b64(self.private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw))
        return {"kty": "OKP", "crv": "Ed25519", "x": x, "kid": self.kid, "alg": self.alg, "use": "sig"}

    def sign(self, data: bytes) -> bytes:
        return self.private.sign(data)


class RsaKey:
    alg = "RS256"

    def __init__(self, kid: str) -> None:
        self.kid = kid
        self.private = rsa.generate_private_key(65537, 2048)

    def jwk(self) -> Json:
        public = self.private.public_key().public_numbers()
        return {
            "kty": "RSA", "n": number(public.n), "e": number(public.e), "kid": self.kid, "alg": self.alg, "use": "sig",
        }  # fmt: skip

    def sign(self, data: bytes) -> bytes:
        return self.private.sign(data, padding.PKCS1v15(), hashes.SHA256())

    def sign_rs512(self, data: bytes) -> bytes:
        return self.private.sign(data, padding.PKCS1v15(), hashes.SHA512())

    def sign_pss(self, data: bytes) -> bytes:
        return self.private.sign(data, padding.PSS(padding.MGF1(hashes.SHA256()), 32), hashes.SHA256())


Key = EcKey | OkpKey | RsaKey


def public_pem(key: Key) -> bytes:
    return key.private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def public_der(key: Key) -> bytes:
    return key.private.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def hs256(secret: bytes, data: bytes) -> bytes:
    return hmac.new(secret, data, hashlib.sha256).digest()
