"""Recovery codes: ten, shown once, each good once, for those who have lost their authenticator.

A code is ten characters, `k7m2p-9xwqd`: 50 random bits. Stored is an HMAC of it under a key derived from the user's
TOTP secret, which is stored sealed: without the master secret the stored form can neither be read nor be guessed at.
When the master secret changes the codes stay good, because the TOTP secret stays.
"""

from __future__ import annotations

import hmac
import secrets
from typing import Final

from gatehouse.auth.keys.sealing import derive

COUNT: Final = 10
ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"  # without i, l, o and u, as Crockford has it
LENGTH: Final = 10
# What people read for a character that is never shown.
LOOKALIKES: Final = str.maketrans("ilo", "110")


def new_codes() -> list[str]:
    return [_group("".join(secrets.choice(ALPHABET) for _ in range(LENGTH))) for _ in range(COUNT)]


def normalize(typed: str) -> str | None:
    """The ten characters that were meant, or None if this is not of the form of a recovery code."""
    text = typed.lower().replace("-", "").replace(" ", "").translate(LOOKALIKES)
    return text if len(text) == LENGTH and all(character in ALPHABET for character in text) else None


def digest(totp_secret: bytes, normal: str) -> bytes:
    return hmac.digest(derive(totp_secret, "recovery codes"), normal.encode(), "sha256")


def digests(totp_secret: bytes, codes: list[str]) -> list[bytes]:
    return [digest(totp_secret, code.replace("-", "")) for code in codes]


def _group(code: str) -> str:
    return f"{code[:5]}-{code[5:]}"
