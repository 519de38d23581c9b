"""An authenticator in software: makes passkeys and signs with them, as a phone or a security key does."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from dataclasses import dataclass, field
from typing import Any

import cbor2
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256

USER_PRESENT, USER_VERIFIED, ATTESTED = 0x01, 0x04, 0x40


def b64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


@dataclass
class Authenticator:
    """One device with one passkey. What a test changes, it lies about."""

    origin: str
    rp_id: str
    verified: bool = True
    counter: int = 0
    counts: bool = False  # synced passkeys say 0 all the time
    handle: str = ""
    credential: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))

    def create(self, options: dict[str, Any]) -> dict[str, Any]:
        self.handle = options["user"]["id"]
        numbers = self.key.public_key().public_numbers()
        cose = {1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32), -3: numbers.y.to_bytes(32)}
        attested = bytes(16) + len(self.credential).to_bytes(2) + self.credential + cbor2.dumps(cose)
        data = self._data(ATTESTED) + attested
        attestation = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data})
        client_data = self._client_data("webauthn.create", options)
        response = {
            "clientDataJSON": b64(client_data),
            "attestationObject": b64(attestation),
            "transports": ["internal"],
        }
        return self._credential(response)

    def get(self, options: dict[str, Any]) -> dict[str, Any]:
        if self.counts:
            self.counter += 1
        data, client_data = self._data(0), self._client_data("webauthn.get", options)
        signature = self.key.sign(data + hashlib.sha256(client_data).digest(), ec.ECDSA(SHA256()))
        response = {
            "clientDataJSON": b64(client_data),
            "authenticatorData": b64(data),
            "signature": b64(signature),
            "userHandle": self.handle,
        }
        return self._credential(response)

    def _data(self, flags: int) -> bytes:
        flags |= USER_PRESENT | (USER_VERIFIED if self.verified else 0)
        return hashlib.sha256(self.rp_id.encode()).digest() + bytes([flags]) + self.counter.to_bytes(4)

    def _client_data(self, kind: str, options: dict[str, Any]) -> bytes:
        return json.dumps({"type": kind, "challenge": options["challenge"], "origin": self.origin}).encode()

    def _credential(self, response: dict[str, Any]) -> dict[str, Any]:
        name = b64(self.credential)
        return {"id": name, "rawId": name, "type": "public-key", "response": response, "clientExtensionResults": {}}
