"""What the password of an unknown name is checked against, so that the time it takes discloses nothing.

A hash that no password matches, of the same scheme and cost as a real one. If users were imported with hashes of
another scheme or cost, some known names take the time of those; then the same share of unknown names does too, always
the same ones, chosen by a keyed hash of the name. So no time says whether a name exists.
"""

from __future__ import annotations

import base64
import hmac
import re
import secrets
from typing import TYPE_CHECKING

from gatehouse.auth.passwords.hashing import LANES, MEMORY_KIB, PASSES
from gatehouse.stores.database.users import name_key

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.stores.database.users import Users

RECOUNT_SECONDS = 600.0
# Schemes and costs beside ours: an import brings one or two.
OTHERS_MAX = 20
OUR_SCHEME_AND_COST = f"$argon2id$v=19$m={MEMORY_KIB},t={PASSES},p={LANES}$"
_ARGON2 = re.compile(r"\$argon2id\$v=\d+\$[a-z0-9=,]+\$")
_BCRYPT_ALPHABET = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


class DecoyHashes:
    def __init__(self, users: Users, key: bytes, clock: Callable[[], float]) -> None:
        self._users = users
        self._key = key
        self._clock = clock
        self._counted = float("-inf")
        self._usual = decoy_argon2()
        self._others: list[tuple[float, str]] = []  # the share of users with such a hash, and a decoy

    async def for_name(self, username: str) -> str:
        if self._clock() >= self._counted + RECOUNT_SECONDS:
            self._counted = self._clock()
            found = await self._users.other_hashes(OUR_SCHEME_AND_COST, OTHERS_MAX)
            self._others = [(share, decoy_like(example)) for share, example in found]
        digest = hmac.digest(self._key, name_key(username).encode("utf-8", "replace"), "sha256")
        chosen = int.from_bytes(digest[:8]) / 2**64
        for share, decoy in self._others:
            if chosen < share:
                return decoy
            chosen -= share
        return self._usual


def decoy_like(stored: str) -> str:
    """One that takes as long to check."""
    if stored.startswith("$2"):
        return decoy_bcrypt(stored[:7])
    argon2 = _ARGON2.match(stored)
    return decoy_argon2(argon2[0] if argon2 else OUR_SCHEME_AND_COST)


def decoy_argon2(scheme_and_cost: str = OUR_SCHEME_AND_COST) -> str:
    """For `$argon2id$v=19$m=19456,t=2,p=1$` and the like."""

    def random(size: int) -> str:
        return base64.b64encode(secrets.token_bytes(size)).rstrip(b"=").decode()

    return f"{scheme_and_cost}{random(16)}${random(32)}"


def decoy_bcrypt(scheme_and_cost: str) -> str:
    """For `$2b$10$` and the like."""
    salt = "".join(secrets.choice(_BCRYPT_ALPHABET) for _ in range(21)) + "."
    return scheme_and_cost + salt + "".join(secrets.choice(_BCRYPT_ALPHABET) for _ in range(31))
