"""The public keys of a provider (JWKS)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.common.jwk import read_jwk, verified_payload
from gatehouse.identity_sources.errors import SourceUnavailable
from gatehouse.identity_sources.provider.fetched import Fetched

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from gatehouse.common.jwk import VerificationKey
    from gatehouse.identity_sources.provider.http_client import HttpClient

STEP = "keys"
MAX_KEYS = 50


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
        payload = verified_payload(token, algorithm, kid, keys)
        # A token without a key id may be of a new key as well.
        if payload is None and (kid is None or all(key.kid != kid for key in keys)):
            payload = verified_payload(token, algorithm, kid, await self._fetched.get_again())
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
