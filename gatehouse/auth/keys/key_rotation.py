"""Changes to the signing keys: by command of an operator, and by age.

Rotation: a new key is stored and the old one is given the time at which it stops signing, in one step. Until then the
new one is published and the old one signs; from then on the new one signs and the old one only verifies; when its last
token has expired it is deleted. Nobody is logged out.

Retiring, for a key that may have leaked: it is deleted at once, and every node refuses what it signed as soon as it
reads the store again. Sessions stay open: clients get 401 for their access token, and refresh it.

Another algorithm in the settings is a rotation like any other. It waits until the newest key has begun to sign: nodes
whose settings disagree would otherwise replace each other's key at every check.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.auth.audit import Audit, ClientInfo, Event, KeyChangeReason
from gatehouse.auth.keys.key_ring import PUBLISHED_BEFORE_SIGNING_SECONDS, new_key, unseal_private
from gatehouse.auth.keys.sealing import SIGNING_KEYS, seal
from gatehouse.stores.errors import Missing

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.auth.keys.key_ring import KeyRing
    from gatehouse.stores.database.signing_keys import Keys, StoredKey


class KeyRotation:
    def __init__(
        self,
        *,
        store: Keys,
        ring: KeyRing,
        audit: Audit,
        clock: Callable[[], float],
        max_age: int,
        algorithm: str,
    ) -> None:
        self._store = store
        self._ring = ring
        self._audit = audit
        self._clock = clock
        self._max_age = max_age
        self._algorithm = algorithm

    async def rotate(self, client: ClientInfo) -> StoredKey | None:
        """A new key; None if another node has rotated at the same time."""
        await self._ring.load()
        return await self._replace(self._newest(), client, KeyChangeReason.OPERATOR)

    async def retire(self, kid: str, client: ClientInfo) -> StoredKey | None:
        """Delete a key at once, because it may have leaked; returns its successor if it was the only one to sign.

        The audit trail says `key.retired` of this and of an ordinary replacement; the reason tells which.
        """
        await self._ring.load()
        if kid not in {key.kid for key in self._ring.stored}:
            raise Missing(f"there is no key {kid!r}")
        others = [key for key in self._ring.stored if key.kid != kid and key.signs_until is None]
        successor = None if others else new_key(self._ring.secrets[0], self._algorithm, self._clock())
        await self._store.delete(kid, successor)
        self._record(Event.KEY_RETIRED, kid, client, KeyChangeReason.WITHDRAWN)
        if successor is not None:
            self._record(Event.KEY_ADDED, successor.kid, client, KeyChangeReason.WITHDRAWN)
        await self._ring.load()
        return successor

    async def rotate_if_due(self) -> None:
        """Rotate a key that is too old or has another algorithm than the setting, and delete expired keys."""
        now = self._clock()
        newest = self._newest()
        if newest is None or now >= newest.created + self._max_age:
            await self._replace(newest, ClientInfo(), KeyChangeReason.AGE)
        elif newest.algorithm != self._algorithm and now >= newest.created + PUBLISHED_BEFORE_SIGNING_SECONDS:
            await self._replace(newest, ClientInfo(), KeyChangeReason.ALGORITHM)
        for key in self._ring.stored:
            if now >= self._ring.verifies_until(key):
                await self._store.delete(key.kid)

    async def reseal(self, secret: bytes) -> int:
        """Seal every key under `secret`; how many there are."""
        stored = await self._store.all()
        opened = {key.kid: unseal_private(self._ring.secrets, key) for key in stored}
        await self._store.reseal({kid: seal(secret, SIGNING_KEYS, kid, private) for kid, private in opened.items()})
        return len(stored)

    async def _replace(self, old: StoredKey | None, client: ClientInfo, reason: KeyChangeReason) -> StoredKey | None:
        """Replace the key that was found to be the newest; None if it is not any more, and nothing is done then."""
        now = self._clock()
        new = new_key(self._ring.secrets[0], self._algorithm, now)
        if old is None:
            await self._store.add(new)
        elif await self._store.replace(old.kid, new, now + PUBLISHED_BEFORE_SIGNING_SECONDS):
            self._record(Event.KEY_RETIRED, old.kid, client, reason)
        else:
            return None
        self._record(Event.KEY_ADDED, new.kid, client, reason)
        await self._ring.load()
        return new

    def _newest(self) -> StoredKey | None:
        """The key without a successor."""
        return next((key for key in reversed(self._ring.stored) if key.signs_until is None), None)

    def _record(self, event: Event, kid: str, client: ClientInfo, reason: KeyChangeReason) -> None:
        self._audit.record(event, client, reason=reason, detail={"kid": kid})
