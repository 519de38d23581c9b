"""Asks the service about each token (RFC 7662): a logout shows at once, and roles and perms are those of now.

`remember` trades that for fewer requests: an answer is used again for so many seconds, and never beyond the life
of its token. The default is 0.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from gatehouse.common.bounded_cache import BoundedCache
from gatehouse.verify.errors import TokenInvalid, Unavailable
from gatehouse.verify.fetch import check_url, fetch
from gatehouse.verify.principal import Principal

if TYPE_CHECKING:
    from collections.abc import Callable

CACHE_SIZE = 10_000
MAX_CACHE_SECONDS = 60.0
# What an access token can look like; anything else is refused without a request.
_TOKEN = re.compile(r"[A-Za-z0-9._-]{16,4096}")


class Introspector:
    """`url` is the service's `/oauth2/introspect`; the key comes from `gatehouse service-key add NAME`."""

    knows_perms = True

    def __init__(
        self,
        url: str,
        service_key: str,
        *,
        remember: float = 0.0,
        timeout: float = 3.0,
        allow_http: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if not 0 <= remember <= MAX_CACHE_SECONDS:
            raise ValueError(f"remember: expected 0 to {MAX_CACHE_SECONDS:.0f} seconds, got {remember}")
        self._url = check_url(url, allow_http=allow_http)
        self._key = service_key
        self._remember = remember
        self._timeout = timeout
        self._clock = clock
        self._cache: BoundedCache[bytes, tuple[float, Principal | None]] = BoundedCache(CACHE_SIZE)

    def check(self, token: str) -> Principal:
        name = _cache_key(token)
        known = self._cached(name)
        return known if known is not None else self._store(name, self._ask(token))

    async def check_async(self, token: str) -> Principal:
        name = _cache_key(token)
        known = self._cached(name)
        return known if known is not None else self._store(name, await asyncio.to_thread(self._ask, token))

    def _ask(self, token: str) -> Any:
        return fetch(
            self._url,
            self._timeout,
            body=urlencode({"token": token, "token_type_hint": "access_token"}).encode(),
            headers={
                "Authorization": f"Bearer {self._key}",
                "Content-Type": "application/x-www-form-urlencoded",
                "Accept": "application/json",
            },
        )

    def _cached(self, name: bytes) -> Principal | None:
        until, principal = self._cache.get(name, (0.0, None))
        if self._clock() >= until:
            return None
        if principal is None:
            raise TokenInvalid("not active")
        return principal

    def _store(self, name: bytes, answer: Any) -> Principal:
        principal = _principal(answer)
        if self._remember:
            until = self._clock() + self._remember
            self._cache[name] = (min(until, principal.expires) if principal else until, principal)
        if principal is None:
            raise TokenInvalid("not active")
        return principal


def _cache_key(token: str) -> bytes:
    """The cache key of an answer: a digest, so that the cache holds no token."""
    if not _TOKEN.fullmatch(token):
        raise TokenInvalid("not an access token")
    return hashlib.sha256(token.encode()).digest()


def _principal(answer: Any) -> Principal | None:
    """None for a token that is not active. Raises `Unavailable` if the answer is malformed."""
    try:
        if answer["active"] is False:
            return None
        if answer["active"] is not True or answer["token_type"] != "Bearer":
            raise Unavailable("unexpected introspection response")
        return Principal(
            user_id=int(answer["sub"]),
            session=str(answer["sid"]),
            roles=frozenset(map(str, answer["roles"])),
            expires=float(answer["exp"]),
            perms=frozenset(map(str, answer["perms"])),
            username=str(answer["username"]),
        )
    except (KeyError, TypeError, ValueError):
        raise Unavailable("unexpected introspection response") from None
