"""Secrets of applications. Only a digest is stored: a secret is random and long, so there is nothing to guess."""

from __future__ import annotations

import hashlib
import secrets

PREFIX = "ghc_"
HINT_LENGTH = 4


def new_client_secret() -> str:
    return PREFIX + secrets.token_urlsafe(32)


def digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()


def hint(secret: str) -> str:
    """Its last characters, by which people tell two secrets apart."""
    return secret[-HINT_LENGTH:]
