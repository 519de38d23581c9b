"""The public keys of a provider (JWKS), and which algorithms each may verify.

The algorithms follow from the kind of the key. So nothing here verifies `none`, or an HMAC that was made with a public
key as its secret.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import jwt
import msgspec
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

from gatehouse.identity_sources.errors import SourceUnavailable
from gatehouse.identity_sources.provider.fetched import Fetched

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from gatehouse.identity_sources.provider.http_client import HttpClient

STEP = "keys"
MAX_KEYS = 50
MIN_RSA_BITS = 2048

_BY_KIND = {
    ("RSA", None): ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    ("EC", "P-256"): ("ES256",),
    ("EC", "P-384"): ("ES384",),
    ("EC", "P-521"): ("ES512",),
    ("OKP", "Ed25519"): ("EdDSA",),
}
ALGORITHMS = frozenset(name for names in _BY_KIND.values() for name in names)


class VerificationKey(NamedTuple):
    kid: str | None
    algorithms: tuple[str, ...]
    public: Any


class KeySet:
    """The keys at the address that `jwks_uri` gives, fetched again when a token names one that is not there."""

    def __init__(self, http: HttpClient, jwks_uri: Callable[[], Awaitable[str]], clock: Callable[[], float]) -> None:
        self._http = http
        self._jwks_uri = jwks_uri
        self._fetched = Fetched(self._fetch, clock)

    async def get(self) -> tuple[VerificationKey, ...]:
        return await self._fetched.get()

    async def verify(self, token: str, algorithm: str, kid: str | None) -> bytes | None:
        """The payload; None if no key of the provider has signed it so."""
        keys = await self._fetched.get()
        payload = _verify(token, algorithm, kid, keys)
        # A token without a key id may be of a new key as well.
        if payload is None and (kid is None or all(key.kid != kid for key in keys)):
            payload = _verify(token, algorithm, kid, await self._fetched.get_again())
        return payload

    async def _fetch(self) -> tuple[VerificationKey, ...]:
        url = await self._jwks_uri()
        answer = await self._http.get(url, STEP)
        jwks = answer.body.get("keys")
        if answer.status != 200 or not isinstance(jwks, list):
            raise SourceUnavailable(f"{url} answers {answer.status}, and no key set", STEP)
        keys = tuple(key for key in map(read_jwk, jwks[:MAX_KEYS]) if key is not None)
        if not keys:
            raise SourceUnavailable(f"{url} has no public key that can verify a signature", STEP)
        return keys


def _verify(token: str, algorithm: str, kid: str | None, keys: tuple[VerificationKey, ...]) -> bytes | None:
    for key in keys:
        if algorithm in key.algorithms and kid in (None, key.kid):
            try:
                payload: bytes = jwt.PyJWS().decode(token, key.public, algorithms=[algorithm])
            except jwt.PyJWTError:
                continue
            return payload
    return None


class _Described(msgspec.Struct):
    """What a JWK says about itself, beside the key."""

    kty: str
    kid: str | None = None
    crv: str | None = None
    alg: str | None = None
    use: str = "sig"
    key_ops: tuple[str, ...] = ("verify",)


def read_jwk(jwk: Any) -> VerificationKey | None:
    """None for a key that verifies no signatures, or that cannot be read: the others may still do."""
    try:
        key = msgspec.convert(jwk, _Described)
        algorithms = _BY_KIND.get((key.kty, None if key.kty == "RSA" else key.crv), ())
        algorithms = tuple(name for name in algorithms if key.alg in (None, name))
        # A private key that a provider publishes by mistake is nobody's secret any more.
        if not algorithms or key.use != "sig" or "verify" not in key.key_ops or "d" in jwk:
            return None
        public = jwt.PyJWK(jwk, algorithms[0]).key
    except (msgspec.ValidationError, jwt.PyJWTError, ValueError, TypeError):
        return None
    if isinstance(public, RSAPublicKey) and public.key_size < MIN_RSA_BITS:
        return None
    return VerificationKey(key.kid, algorithms, public)
