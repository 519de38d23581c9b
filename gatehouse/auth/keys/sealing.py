"""Sealing: every key is derived from the master secret, and what is stored encrypted is encrypted under such a key.

A purpose has a key of its own. The name under which a thing is stored is authenticated along with it, so a row that
was moved to another name in the database does not open.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

if TYPE_CHECKING:
    from collections.abc import Sequence

SIGNING_KEYS = "signing keys"

_NONCE_BYTES = 12


class WrongSecret(ValueError):
    """None of the master secrets opens what is stored."""


def derive(secret: bytes, purpose: str) -> bytes:
    """A key of 32 bytes for one purpose; one discloses nothing about the others or the secret."""
    return HKDF(SHA256(), 32, salt=None, info=b"gatehouse " + purpose.encode()).derive(secret)


def seal(secret: bytes, purpose: str, name: str, content: bytes) -> bytes:
    nonce = os.urandom(_NONCE_BYTES)
    return nonce + AESGCM(derive(secret, purpose)).encrypt(nonce, content, name.encode())


def unseal(secrets: Sequence[bytes], purpose: str, name: str, sealed: bytes) -> bytes:
    """Decrypt with the master secret that encrypted it; raises `WrongSecret` if none of them did."""
    nonce, encrypted = sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:]
    for secret in secrets:
        with suppress(InvalidTag):
            return AESGCM(derive(secret, purpose)).decrypt(nonce, encrypted, name.encode())
    raise WrongSecret(f"{purpose}: {name} was sealed under another master secret")
