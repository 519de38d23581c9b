"""What the password of an unknown name is checked against, so that the time it takes discloses nothing.

A hash that no password matches, of the same scheme and cost as a real one. If users were imported with bcrypt hashes,
some known names take the time of bcrypt; then the same share of unknown names does too, always the same ones, chosen
by a keyed hash of the name. So neither time says whether a name exists.
"""

from __future__ import annotations

import base64
import hmac
import secrets
from typing import TYPE_CHECKING

from gatehouse.auth.passwords.hashing import LANES, MEMORY_KIB, PASSES
from gatehouse.stores.accounts.users import name_key

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.stores.accounts.users import Users

RECOUNT_SECONDS = 600.0
_BCRYPT_ALPHABET = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


class DecoyHashes:
    def __init__(self, users: Users, key: bytes, clock: Callable[[], float]) -> None:
        self._users = users
        self._key = key
        self._clock = clock
        self._counted = float("-inf")
        self._share = 0.0
        self._argon2 = decoy_argon2()
        self._bcrypt = ""

    async def for_name(self, username: str) -> str:
        if self._clock() >= self._counted + RECOUNT_SECONDS:
            self._counted = self._clock()
            self._share, example = await self._users.bcrypt_share()
            self._bcrypt = decoy_bcrypt(example[:7]) if example else ""
        digest = hmac.digest(self._key, name_key(username).encode("utf-8", "replace"), "sha256")
        chosen = int.from_bytes(digest[:8]) < self._share * 2**64
        return self._bcrypt if chosen else self._argon2


def decoy_argon2() -> str:
    def random(size: int) -> str:
        return base64.b64encode(secrets.token_bytes(size)).rstrip(b"=").decode()

    return f"$argon2id$v=19$m={MEMORY_KIB},t={PASSES},p={LANES}${random(16)}${random(32)}"


def decoy_bcrypt(scheme_and_cost: str) -> str:
    """For `$2b$10$` and the like."""
    salt = "".join(secrets.choice(_BCRYPT_ALPHABET) for _ in range(21)) + "."
    return scheme_and_cost + salt + "".join(secrets.choice(_BCRYPT_ALPHABET) for _ in range(31))
