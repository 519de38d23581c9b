"""Keys: everything is derived from the master secret; signing keys are stored sealed under it and take turns.

One key signs. Older ones are retired: they sign nothing more, and what they signed is honoured until it expires. A
new one is shown for a while before it signs, so that every node knows it by then. So a rotation logs nobody out.
"""

from __future__ import annotations

import base64
import hashlib
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from nacl.bindings import crypto_sign, crypto_sign_BYTES, crypto_sign_seed_keypair

from gatehouse.stores.accounts.keys import Keys, StoredKey
from gatehouse.stores.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Sign = Callable[[bytes], bytes]

# A token may still arrive this long after its expiry by the clock of another node.
CLOCK_SKEW = 60
# How long a new key is shown before it signs: longer than any node goes without reading the store.
PUBLISHED_BEFORE_SIGNING_SECONDS = 20
# A `kid` that is not known is looked up in the store, but not more often than this: forged ones cost nothing.
RELOAD_SECONDS = 1.0


class WrongSecret(ValueError):
    """The master secret does not open the stored keys."""


def derive(secret: bytes, purpose: str) -> bytes:
    """A key of 32 bytes for one purpose; knowing one tells nothing of the others or of the secret."""
    return HKDF(SHA256(), 32, salt=None, info=b"gatehouse " + purpose.encode()).derive(secret)


def seal(secret: bytes, kid: str, private: bytes) -> bytes:
    nonce = os.urandom(12)
    return nonce + AESGCM(derive(secret, "signing keys")).encrypt(nonce, private, kid.encode())


def unseal(secrets: Sequence[bytes], key: StoredKey) -> bytes:
    """The private half, by whichever of the master secrets sealed it."""
    for secret in secrets:
        with suppress(InvalidTag):
            return AESGCM(derive(secret, "signing keys")).decrypt(key.sealed[:12], key.sealed[12:], key.kid.encode())
    raise WrongSecret(f"signing key {key.kid} was sealed under another master secret")


def new_key(secret: bytes, now: float) -> StoredKey:
    kid = "-"
    while kid.startswith("-"):  # such a name could not be typed: `gatehouse key retire -x...` reads as an option
        private = Ed25519PrivateKey.generate()
        public = private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        kid = thumbprint(public)
    raw = private.private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption())
    return StoredKey(kid, public, seal(secret, kid, raw), now, None)


def thumbprint(public: bytes) -> str:
    """The key's name: its RFC 7638 thumbprint, so nobody has to hand out names."""
    canonical = f'{{"crv":"Ed25519","kty":"OKP","x":"{_base64url(public)}"}}'
    return _base64url(hashlib.sha256(canonical.encode()).digest())


def as_jwk(key: StoredKey) -> dict[str, str]:
    """The public half, as `/.well-known/jwks.json` shows it."""
    return {
        "kty": "OKP",
        "crv": "Ed25519",
        "x": _base64url(key.public),
        "kid": key.kid,
        "alg": "EdDSA",
        "use": "sig",
    }


def make_signer(private: bytes) -> Sign:
    """By libsodium: every token that is handed out is signed, and OpenSSL takes two thirds longer over it."""
    _, pair = crypto_sign_seed_keypair(private)
    return lambda message: crypto_sign(message, pair)[:crypto_sign_BYTES]


def signing_at(stored: Sequence[StoredKey], now: float) -> StoredKey | None:
    """The key that signs: the newest that has been shown long enough; failing that the oldest there is."""
    candidates = [key for key in stored if key.retired is None or key.retired > now]
    shown = [key for key in candidates if key.created + PUBLISHED_BEFORE_SIGNING_SECONDS <= now]
    return shown[-1] if shown else candidates[0] if candidates else None


class KeyRing:
    """The signing keys of a running service, kept in step with the store. `secrets`: the first seals, all open."""

    def __init__(self, store: Keys, secrets: Sequence[bytes], clock: Callable[[], float], token_ttl: int) -> None:
        self.secrets = secrets
        # Raised by every change of the set, for those who remember what its keys have verified.
        self.version = 0
        self._store = store
        self._clock = clock
        self._token_ttl = token_ttl + CLOCK_SKEW
        self._loaded = float("-inf")
        self._public: dict[str, Ed25519PublicKey] = {}
        self._signer: tuple[str, Sign] | None = None
        self.stored: Sequence[StoredKey] = ()

    async def load(self) -> None:
        """Read the store. Raises `WrongSecret` if the key that should sign cannot be opened; the last one stays."""
        now = self._loaded = self._clock()
        self.stored = await self._store.all()
        honoured = [key for key in self.stored if now < self.verifies_until(key)]
        if [key.kid for key in honoured] != list(self._public):
            self._public = {key.kid: Ed25519PublicKey.from_public_bytes(key.public) for key in honoured}
            self.version += 1
        signing = signing_at(honoured, now)
        if signing is not None and (self._signer is None or self._signer[0] != signing.kid):
            self._signer = (signing.kid, make_signer(unseal(self.secrets, signing)))

    async def find(self, kid: str) -> Ed25519PublicKey | None:
        """The public half of a key; one that another node has just made is looked up in the store."""
        if kid not in self._public and self._clock() >= self._loaded + RELOAD_SECONDS:
            with suppress(WrongSecret):  # told by housekeeping; to verify takes no secret
                await self.load()
        if not self.loaded:
            raise StoreUnavailable("the signing keys have not been read yet")  # not the fault of the token
        return self._public.get(kid)

    @property
    def loaded(self) -> bool:
        """False while the store has not answered even once; no token can be judged then."""
        return bool(self.stored)

    @property
    def signer(self) -> tuple[str, Sign]:
        """The name of the key that signs, and its signature of whatever it is given."""
        if self._signer is None:
            raise StoreUnavailable("the signing keys have not been read yet")
        return self._signer

    def jwks(self) -> dict[str, list[dict[str, str]]]:
        return {"keys": [as_jwk(key) for key in self.stored if key.kid in self._public]}

    def verifies_until(self, key: StoredKey) -> float:
        """When the last token that the key can have signed has expired."""
        return float("inf") if key.retired is None else key.retired + self._token_ttl


def _base64url(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
