"""Keys: everything is derived from the master secret; signing keys are stored sealed under it and take turns.

One key signs. Older ones are retired: they sign nothing more, and what they signed is honoured until it expires,
so a rotation logs nobody out.
"""

from __future__ import annotations

import base64
import hashlib
import os
from typing import TYPE_CHECKING

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from gatehouse.stores.accounts.keys import Keys, StoredKey
from gatehouse.stores.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# A token may still arrive this long after its expiry by the clock of another node.
CLOCK_SKEW = 60
# A `kid` that is not known is looked up in the store, but not more often than this: forged ones cost nothing.
RELOAD_SECONDS = 1.0


class WrongSecret(Exception):
    """The master secret does not open the stored keys."""


def derive(secret: bytes, purpose: str) -> bytes:
    """A key of 32 bytes for one purpose; knowing one tells nothing of the others or of the secret."""
    return HKDF(SHA256(), 32, salt=None, info=b"gatehouse " + purpose.encode()).derive(secret)


def seal(secret: bytes, kid: str, private: bytes) -> bytes:
    nonce = os.urandom(12)
    return nonce + AESGCM(derive(secret, "signing keys")).encrypt(nonce, private, kid.encode())


def unseal(secret: bytes, kid: str, sealed: bytes) -> bytes:
    try:
        return AESGCM(derive(secret, "signing keys")).decrypt(sealed[:12], sealed[12:], kid.encode())
    except InvalidTag:
        raise WrongSecret(f"signing key {kid} was sealed under another master secret") from None


def new_key(secret: bytes, now: float) -> StoredKey:
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


class KeyRing:
    """The signing keys of a running service, kept in step with the store."""

    def __init__(self, store: Keys, secret: bytes, clock: Callable[[], float], honoured_for: int) -> None:
        self._store = store
        self._secret = secret
        self._clock = clock
        self._honoured_for = honoured_for + CLOCK_SKEW
        self._loaded = float("-inf")
        self._stored: Sequence[StoredKey] = ()
        self._public: dict[str, Ed25519PublicKey] = {}
        self._signer: tuple[str, Ed25519PrivateKey] | None = None

    async def load(self) -> bool:
        """Read the store; True if the set of keys has changed."""
        self._loaded = self._clock()
        stored = [key for key in await self._store.all() if self._honours(key)]
        changed = [(key.kid, key.retired) for key in stored] != [(key.kid, key.retired) for key in self._stored]
        if changed:
            self._stored = stored
            self._public = {key.kid: Ed25519PublicKey.from_public_bytes(key.public) for key in stored}
            signing = [key for key in stored if key.retired is None]
            if signing:
                newest = signing[-1]
                private = unseal(self._secret, newest.kid, newest.sealed)
                self._signer = (newest.kid, Ed25519PrivateKey.from_private_bytes(private))
        return changed

    async def find(self, kid: str) -> Ed25519PublicKey | None:
        """The public half of a key; one that another node has just made is looked up in the store."""
        if kid not in self._public and self._clock() >= self._loaded + RELOAD_SECONDS:
            await self.load()
        if not self.loaded:
            raise StoreUnavailable("the signing keys have not been read yet")  # not the fault of the token
        return self._public.get(kid)

    @property
    def loaded(self) -> bool:
        """False while the store has not answered even once; no token can be judged then."""
        return bool(self._stored)

    @property
    def signer(self) -> tuple[str, Ed25519PrivateKey]:
        if self._signer is None:
            raise StoreUnavailable("the signing keys have not been read yet")
        return self._signer

    def jwks(self) -> dict[str, list[dict[str, str]]]:
        return {"keys": [as_jwk(key) for key in self._stored if self._honours(key)]}

    def _honours(self, key: StoredKey) -> bool:
        return key.retired is None or self._clock() < key.retired + self._honoured_for


def _base64url(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
