"""The key ring: the signing keys, stored sealed under the master secret and rotated.

One key signs. Older ones only verify: what they signed is accepted until it expires. A
new one is published before it signs, for longer than any node goes without reading the store and any other service
caches the JWKS. So a rotation logs nobody out, even from one algorithm to another.

Applications choose the algorithm of their ID tokens. Where it is not that of the key that signs, there is another key
for it, of the purpose `OPENID`, which signs nothing else.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from gatehouse.auth.keys.algorithms import ALGORITHMS, thumbprint
from gatehouse.auth.keys.sealing import SIGNING_KEYS, WrongSecret, seal, unseal
from gatehouse.common.clock_skew import CLOCK_SKEW_SECONDS
from gatehouse.stores.database.signing_keys import Keys, StoredKey
from gatehouse.stores.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gatehouse.auth.keys.algorithms import PublicKey, Sign

# How often a node reads the keys from the store.
NODE_RELOAD_SECONDS = 15
# How long another service may keep the published keys, by the `max-age` of the JWKS.
JWKS_MAX_AGE = 300
# A node may learn of a new key this late, hand out the old JWKS until then, and that may be kept this long.
PUBLISHED_BEFORE_SIGNING_SECONDS = NODE_RELOAD_SECONDS + JWKS_MAX_AGE + CLOCK_SKEW_SECONDS
# A `kid` that is not known is looked up in the store, and the JWKS is read from it, but not more often than this:
# forged ones cost nothing.
RELOAD_SECONDS = 1.0


class Signer(NamedTuple):
    """The key that signs now."""

    kid: str
    algorithm: str
    sign: Sign


class VerificationKey(NamedTuple):
    """The public half of a key, and the one algorithm that it is good for."""

    algorithm: str
    public: PublicKey


def new_key(secret: bytes, algorithm_name: str, now: float, purpose: str = "") -> StoredKey:
    algorithm = ALGORITHMS[algorithm_name]
    kid = "-"
    while kid.startswith("-"):  # such a name could not be typed: `gatehouse key retire -x...` reads as an option
        private, public = algorithm.generate()
        kid = thumbprint(algorithm, public)
    return StoredKey(kid, public, seal(secret, SIGNING_KEYS, kid, private), now, None, algorithm.name, purpose)


def as_jwk(key: StoredKey) -> dict[str, str]:
    """The public half, as `/.well-known/jwks.json` shows it."""
    return {**ALGORITHMS[key.algorithm].jwk(key.public), "kid": key.kid, "alg": key.algorithm, "use": "sig"}


def unseal_private(secrets: Sequence[bytes], key: StoredKey) -> bytes:
    return unseal(secrets, SIGNING_KEYS, key.kid, key.sealed)


def signing_key_at(stored: Sequence[StoredKey], now: float) -> StoredKey | None:
    """The key that signs: the newest that has been published long enough; failing that the oldest there is."""
    candidates = [key for key in stored if key.signs_until is None or key.signs_until > now]
    published = [key for key in candidates if key.created + PUBLISHED_BEFORE_SIGNING_SECONDS <= now]
    return published[-1] if published else candidates[0] if candidates else None


class KeyRing:
    """The signing keys of a running service, kept in step with the store. `secrets`: the first seals, all open."""

    def __init__(self, store: Keys, secrets: Sequence[bytes], clock: Callable[[], float], token_ttl: int) -> None:
        self.secrets = secrets
        # Raised by every change of the set, so that caches of verified tokens are invalidated.
        self.version = 0
        self._store = store
        self._clock = clock
        self._token_ttl = token_ttl + CLOCK_SKEW_SECONDS
        self._loaded = float("-inf")
        self._public: dict[str, VerificationKey] = {}
        self._jwks: list[dict[str, str]] = []
        self._signer: Signer | None = None
        self._id_token_signers: dict[str, Signer] = {}  # by algorithm
        self.stored: Sequence[StoredKey] = ()

    async def load(self) -> None:
        """Read the store. Raises `WrongSecret` if the key that should sign cannot be opened; the last one stays."""
        now = self._loaded = self._clock()
        self.stored = await self._store.all()
        # A key of a kind that only a later release knows is passed over: that release may run on another node.
        known = [key for key in self.stored if key.algorithm in ALGORITHMS]
        verifying = [key for key in known if now < self.verifies_until(key)]
        if [key.kid for key in verifying] != list(self._public):
            self._public = {key.kid: _verification_key(key) for key in verifying}
            self._jwks = [as_jwk(key) for key in verifying]
            self.version += 1
        self._signer = self._signer_among([key for key in verifying if not key.purpose], now, self._signer)
        signers = [
            self._signer_among([key for key in verifying if key.purpose and key.algorithm == name], now, current)
            for name, current in ((name, self._id_token_signers.get(name)) for name in ALGORITHMS)
        ]
        self._id_token_signers = {signer.algorithm: signer for signer in signers if signer is not None}

    def _signer_among(self, keys: Sequence[StoredKey], now: float, current: Signer | None) -> Signer | None:
        signing = signing_key_at(keys, now)
        if signing is None or (current is not None and current.kid == signing.kid):
            return current
        make_signer = ALGORITHMS[signing.algorithm].make_signer
        return Signer(signing.kid, signing.algorithm, make_signer(unseal_private(self.secrets, signing)))

    async def find(self, kid: str) -> VerificationKey | None:
        """The public half of a key; one that another node has just made is looked up in the store."""
        if kid not in self._public and self._may_be_stale():
            with suppress(WrongSecret):  # logged by the background task; verifying needs no secret
                await self.load()
        if not self.loaded:
            raise StoreUnavailable("the signing keys have not been read yet")  # not the fault of the token
        return self._public.get(kid)

    @property
    def loaded(self) -> bool:
        """False until the store has answered once; until then no token can be verified."""
        return bool(self.stored)

    @property
    def signer(self) -> Signer:
        if self._signer is None:
            raise StoreUnavailable("the signing keys have not been read yet")
        return self._signer

    def id_token_signer(self, algorithm: str) -> Signer | None:
        """For the tokens of an application that wants this algorithm; None if no key for it was made yet."""
        return self.signer if self.signer.algorithm == algorithm else self._id_token_signers.get(algorithm)

    async def jwks(self) -> dict[str, list[dict[str, str]]]:
        """With what another process has just made: an application that was added a moment ago asks for its key."""
        if self._may_be_stale():
            with suppress(WrongSecret, StoreUnavailable):  # then as it was
                await self.load()
        return {"keys": self._jwks}

    def _may_be_stale(self) -> bool:
        return self._clock() >= self._loaded + RELOAD_SECONDS

    def verifies_until(self, key: StoredKey) -> float:
        """When the last token that the key can have signed has expired."""
        return float("inf") if key.signs_until is None else key.signs_until + self._token_ttl


def _verification_key(key: StoredKey) -> VerificationKey:
    return VerificationKey(key.algorithm, ALGORITHMS[key.algorithm].read_public(key.public))
