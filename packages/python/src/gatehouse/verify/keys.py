"""The public keys of the service: fetched when needed, cached, and refetched at a bounded rate.

- A key that is known and fresh is used without a request.
- After `max_age` the set is fetched again, so that a retired key is forgotten. If the service is unavailable,
  the set is used until it is `stale_for` old.
- A `kid` that is not known causes a fetch, but there is at most one in `min_interval`, whatever forged tokens
  arrive and from however many threads or tasks.
"""

from __future__ import annotations

import asyncio
import threading
import time
from typing import TYPE_CHECKING, Any

from gatehouse.verify.errors import Unavailable
from gatehouse.verify.fetch import check_url, fetch
from gatehouse.verify.jwk import VerificationKey, read_jwk

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_KEYS = 100


class KeySet:
    def __init__(
        self,
        url: str,
        *,
        max_age: float = 300.0,
        stale_for: float = 3600.0,
        min_interval: float = 1.0,
        timeout: float = 3.0,
        allow_http: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._url = check_url(url, allow_http=allow_http)
        self._max_age = max_age
        self._stale_for = stale_for
        self._min_interval = min_interval
        self._timeout = timeout
        self._clock = clock
        self._keys: dict[str, VerificationKey] = {}
        self._fetched = float("-inf")
        self._tried = float("-inf")
        self._last_error: Unavailable | None = None
        self._updating = threading.Lock()
        self._pending: asyncio.Task[None] | None = None

    def find(self, kid: str) -> VerificationKey | None:
        """The key, or None if the service has no such key. `Unavailable` if that cannot be found out."""
        if not self._is_current(kid):
            self._update(kid)
        return self._answer(kid)

    async def find_async(self, kid: str) -> VerificationKey | None:
        """The same for tasks: however many wait, one thread fetches."""
        if not self._is_current(kid):
            loop = asyncio.get_running_loop()
            if self._pending is None or self._pending.done() or self._pending.get_loop() is not loop:
                self._pending = loop.create_task(asyncio.to_thread(self._update, kid))
            await asyncio.shield(self._pending)
        return self._answer(kid)

    def _is_current(self, kid: str) -> bool:
        """Whether no fetch is needed, or none is allowed yet."""
        now = self._clock()
        fresh = kid in self._keys and now < self._fetched + self._max_age
        return fresh or now < self._tried + self._min_interval

    def _update(self, kid: str) -> None:
        with self._updating:
            if self._is_current(kid):
                return  # another thread has just fetched them
            try:
                self._keys = _read(fetch(self._url, self._timeout))
                self._fetched = self._clock()
                self._last_error = None
            except Unavailable as problem:
                self._last_error = problem
            finally:
                # Counted from the end, so that a service which fails slowly is not asked without pause.
                self._tried = self._clock()

    def _answer(self, kid: str) -> VerificationKey | None:
        old = self._clock() >= self._fetched + self._max_age + self._stale_for
        key = None if old else self._keys.get(kid)
        if key is None and self._last_error is not None:
            raise Unavailable(str(self._last_error))
        return key


def _read(document: Any) -> dict[str, VerificationKey]:
    """The keys of a JWKS that can sign access tokens; others are passed over."""
    keys = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(keys, list) or len(keys) > MAX_KEYS:
        raise Unavailable("not a JWKS")
    found = {}
    for key in keys:
        try:
            read = read_jwk(key)
        except ValueError:
            raise Unavailable("not a JWKS: a key cannot be read") from None
        if read is not None:
            found[read.kid] = read
    return found
