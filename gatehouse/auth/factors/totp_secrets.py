"""TOTP secrets as they are stored: sealed under the master secret, each for its user, and re-sealed when it changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.auth.keys.sealing import seal, unseal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatehouse.auth.keys.key_ring import KeyRing
    from gatehouse.stores.database.totp_and_recovery_codes import Factors

PURPOSE = "totp secrets"


def seal_totp(secret: bytes, user: int, totp_secret: bytes) -> bytes:
    return seal(secret, PURPOSE, str(user), totp_secret)


def open_totp(secrets: Sequence[bytes], user: int, sealed: bytes) -> bytes:
    """Raises `WrongSecret` if none of the master secrets sealed it, or it was sealed for another user."""
    return unseal(secrets, PURPOSE, str(user), sealed)


class TotpSecrets:
    """Seals with the first of the master secrets in force, opens with all of them."""

    def __init__(self, ring: KeyRing, store: Factors) -> None:
        self._ring = ring
        self._store = store
        self._decoy: tuple[bytes, bytes] | None = None

    def seal(self, user: int, totp_secret: bytes) -> bytes:
        return seal_totp(self._ring.secrets[0], user, totp_secret)

    def open(self, user: int, sealed: bytes) -> bytes:
        return open_totp(self._ring.secrets, user, sealed)

    def decoy(self, user: int, totp_secret: bytes) -> bytes:
        """A sealed secret to open in place of a real one: sealed once for each master secret."""
        first = self._ring.secrets[0]
        if self._decoy is None or self._decoy[0] != first:
            self._decoy = (first, seal_totp(first, user, totp_secret))
        return self._decoy[1]

    async def reseal(self, secret: bytes) -> int:
        """Seal every TOTP secret under `secret`; how many there are."""
        number = 0
        async for batch in self._store.sealed_batches():
            await self._store.reseal(
                {user: (old, seal_totp(secret, user, self.open(user, old))) for user, old in batch.items()}
            )
            number += len(batch)
        return number
