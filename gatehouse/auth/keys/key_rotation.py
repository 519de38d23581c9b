"""Changes to the signing keys: by command of an operator, and by age.

Rotation: a new key is stored and the old one is given the time at which it stops signing, in one step. Until then the
new one is published and the old one signs; from then on the new one signs and the old one only verifies; when its last
token has expired it is deleted. Nobody is logged out.

Retiring, for a key that may have leaked: it is deleted at once, and every node refuses what it signed as soon as it
reads the store again. Sessions stay open: clients get 401 for their access token, and refresh it.

Another algorithm in the settings is a rotation like any other. It waits until the newest key has begun to sign: nodes
whose settings disagree would otherwise replace each other's key at every check.

Keys for ID tokens (`OPENID`) are made when an application first wants their algorithm, and rotated and retired in the
same way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.auth.audit import Audit, ClientInfo, Event, KeyChangeReason
from gatehouse.auth.keys.key_ring import PUBLISHED_BEFORE_SIGNING_SECONDS, new_key, unseal_private
from gatehouse.auth.keys.sealing import SIGNING_KEYS, seal
from gatehouse.stores.database.signing_keys import OPENID
from gatehouse.stores.errors import Missing, StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection

    from gatehouse.auth.keys.key_ring import KeyRing, Signer
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
        id_token_algorithms: Callable[[], Awaitable[Collection[str]]],
    ) -> None:
        """`id_token_algorithms`: those that applications want."""
        self._store = store
        self._ring = ring
        self._audit = audit
        self._clock = clock
        self._max_age = max_age
        self._algorithm = algorithm
        self._id_token_algorithms = id_token_algorithms

    async def rotate(self, client: ClientInfo) -> StoredKey | None:
        """A new key, and one for each algorithm of ID tokens; None if another node has rotated at the same time."""
        await self._ring.load()
        for key in self._newest_for_id_tokens().values():
            await self._replace(key, client, KeyChangeReason.OPERATOR)
        return await self._replace(self._newest(), client, KeyChangeReason.OPERATOR)

    async def ensure(self, algorithm: str) -> Signer:
        """The signer of ID tokens of this algorithm, whose key is made if it is the first time that it is needed.

        Called when an application is added, so that its key is published before it signs.
        """
        signer = self._ring.id_token_signer(algorithm) if self._ring.loaded else None
        if signer is None:
            await self._ring.load()  # another node may have made it
            signer = self._ring.id_token_signer(algorithm)
        if signer is None:
            await self._make_for_id_tokens(algorithm)
            signer = self._ring.id_token_signer(algorithm)
        if signer is None:
            raise StoreUnavailable(f"the {algorithm} key for ID tokens is gone again")
        return signer

    async def retire(self, kid: str, client: ClientInfo) -> StoredKey | None:
        """Delete a key at once, because it may have leaked; returns its successor if it was the only one to sign.

        The audit trail says `key.retired` of this and of an ordinary replacement; the reason tells which.
        """
        await self._ring.load()
        retired = next((key for key in self._ring.stored if key.kid == kid), None)
        if retired is None:
            raise Missing(f"there is no key {kid!r}")
        others = [
            key
            for key in self._ring.stored
            if key.kid != kid and key.signs_until is None and key.purpose == retired.purpose
            if not key.purpose or key.algorithm == retired.algorithm
        ]
        successor = None if others else self._successor(retired)
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
        await self._rotate_for_id_tokens(now)
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
        new = self._successor(old)
        if old is None:
            await self._store.add(new)
        elif await self._store.replace(old.kid, new, now + PUBLISHED_BEFORE_SIGNING_SECONDS):
            self._record(Event.KEY_RETIRED, old.kid, client, reason)
        else:
            return None
        self._record(Event.KEY_ADDED, new.kid, client, reason)
        await self._ring.load()
        return new

    async def _rotate_for_id_tokens(self, now: float) -> None:
        newest, main = self._newest_for_id_tokens(), self._newest()
        for key in self._ring.stored:  # two nodes have made one at the same time
            if key.purpose and key.signs_until is None and key.kid != newest[key.algorithm].kid:
                await self._store.retire(key.kid, now + PUBLISHED_BEFORE_SIGNING_SECONDS)
        for key in newest.values():
            if now >= key.created + self._max_age:
                await self._replace(key, ClientInfo(), KeyChangeReason.AGE)
        for algorithm in await self._id_token_algorithms():
            if algorithm not in newest and main is not None and main.algorithm != algorithm:
                await self._make_for_id_tokens(algorithm)

    async def _make_for_id_tokens(self, algorithm: str) -> None:
        new = new_key(self._ring.secrets[0], algorithm, self._clock(), OPENID)
        await self._store.add(new)
        self._record(Event.KEY_ADDED, new.kid, ClientInfo(), KeyChangeReason.ALGORITHM)
        await self._ring.load()

    def _successor(self, old: StoredKey | None) -> StoredKey:
        algorithm = old.algorithm if old is not None and old.purpose else self._algorithm
        return new_key(self._ring.secrets[0], algorithm, self._clock(), old.purpose if old else "")

    def _newest(self) -> StoredKey | None:
        """The key without a successor."""
        newest = (key for key in reversed(self._ring.stored) if key.signs_until is None and not key.purpose)
        return next(newest, None)

    def _newest_for_id_tokens(self) -> dict[str, StoredKey]:
        """The same of each algorithm."""
        return {key.algorithm: key for key in self._ring.stored if key.purpose and key.signs_until is None}

    def _record(self, event: Event, kid: str, client: ClientInfo, reason: KeyChangeReason) -> None:
        self._audit.record(event, client, reason=reason, detail={"kid": kid})
