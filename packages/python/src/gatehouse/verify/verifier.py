"""Checks access tokens with the public keys of the service, without asking it about each.

A token stays valid until it expires, even when its session has ended. Where that is too long, have the
verifier follow the sessions that end (`ended_sessions.py`), or ask the service (`introspection.py`).
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import jwt

from gatehouse.verify.bounded_cache import BoundedCache
from gatehouse.verify.ended_sessions import MAX_LEEWAY
from gatehouse.verify.errors import TokenInvalid
from gatehouse.verify.keys import KeySet
from gatehouse.verify.principal import Principal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from gatehouse.verify.ended_sessions import EndedSessions
    from gatehouse.verify.jwk import VerificationKey

MAX_TOKEN_LENGTH = 4096
ALGORITHMS = {"ES256", "EdDSA", "RS256"}
# Verified tokens are cached: a signature costs more than all the rest of a check.
CACHE_SIZE = 10_000


class _Verified(NamedTuple):
    key: VerificationKey
    issued: float
    principal: Principal


class Verifier:
    """`keys` is the URL of the service's JWKS, or a `KeySet` with bounds of your own.

    `perms_in_token` says that the service puts perms into its tokens (GATEHOUSE_TOKEN_PERMS=on); a token without them
    then has none. `role_perms` says what roles give, if you want `require("a:b:c")` to work without that.
    `token_type` is the service's GATEHOUSE_TOKEN_TYPE. `ended_sessions` knows of sessions that have ended.
    """

    def __init__(
        self,
        keys: str | KeySet,
        issuer: str,
        audience: str = "gatehouse",
        *,
        leeway: float = 10.0,
        perms_in_token: bool = False,
        role_perms: Mapping[str, Iterable[str]] | None = None,
        token_type: str = "at+jwt",  # noqa: S107 - no password
        ended_sessions: EndedSessions | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if not 0 <= leeway <= MAX_LEEWAY:
            raise ValueError(f"leeway: expected 0 to {MAX_LEEWAY:.0f} seconds, got {leeway}")
        self._keys = KeySet(keys) if isinstance(keys, str) else keys
        self._issuer = issuer
        self._audience = audience
        self._leeway = leeway
        self._perms_in_token = perms_in_token
        self._role_perms = {role: frozenset(perms) for role, perms in (role_perms or {}).items()}
        self._token_type = token_type
        self._ended_sessions = ended_sessions
        self._clock = clock
        self._verified: BoundedCache[str, _Verified] = BoundedCache(CACHE_SIZE)
        self.knows_perms = perms_in_token or role_perms is not None

    def check(self, token: str) -> Principal:
        if self._ended_sessions is not None and self._ended_sessions.should_wait:
            self._ended_sessions.wait()
        return self._principal(token, self._keys.find(self._kid(token)))

    async def check_async(self, token: str) -> Principal:
        if self._ended_sessions is not None and self._ended_sessions.should_wait:
            await asyncio.to_thread(self._ended_sessions.wait)
        return self._principal(token, await self._keys.find_async(self._kid(token)))

    def _principal(self, token: str, key: VerificationKey | None) -> Principal:
        if key is None:
            raise TokenInvalid("signed by no key of the service")
        verified = self._verified.get(token)
        if verified is None or verified.key is not key:
            verified = self._verify(token, key)
            self._verified[token] = verified
        if not verified.issued - self._leeway <= self._clock() < verified.principal.expires + self._leeway:
            self._verified.pop(token, None)
            raise TokenInvalid("expired, or not yet issued")
        if self._ended_sessions is not None:
            self._ended_sessions.check(verified.principal.session, verified.issued)
        return verified.principal

    def _verify(self, token: str, key: VerificationKey) -> _Verified:
        try:
            # The key comes from the service's own set and the algorithm from the key: the header is ignored.
            claims = jwt.decode(
                token,
                key.public,
                algorithms=[key.algorithm],
                issuer=self._issuer,
                audience=self._audience,
                leeway=self._leeway,
                options={"require": ["exp", "iat", "sub", "sid"], "verify_exp": False, "verify_iat": False},
            )
            return _Verified(key, float(claims["iat"]), self._read(claims))
        except jwt.PyJWTError as problem:
            raise TokenInvalid(f"not valid: {type(problem).__name__}") from None
        except (KeyError, ValueError, TypeError, OverflowError, RecursionError):
            raise TokenInvalid("malformed claims") from None

    def _read(self, claims: dict[str, Any]) -> Principal:
        session = claims["sid"]
        if not isinstance(session, str) or not session:
            raise ValueError("no session")
        roles = _texts(claims["roles"])
        return Principal(
            user_id=int(claims["sub"]),
            session=session,
            roles=roles,
            expires=float(claims["exp"]),
            perms=self._perms(roles, claims),
            username=claims.get("preferred_username"),
            department=claims.get("dept"),
        )

    def _perms(self, roles: frozenset[str], claims: dict[str, Any]) -> frozenset[str] | None:
        if not self.knows_perms:
            return None
        in_token = _texts(claims.get("perms", [])) if self._perms_in_token else frozenset()
        return in_token.union(*(self._role_perms.get(role, frozenset()) for role in roles))

    def _kid(self, token: str) -> str:
        """Which key the token names. A token that is not a JWT of the service costs no fetch."""
        verified = self._verified.get(token)
        if verified is not None:
            return verified.key.kid
        if len(token) > MAX_TOKEN_LENGTH:
            raise TokenInvalid("longer than any access token")
        try:
            header = jwt.get_unverified_header(token)
        except (jwt.PyJWTError, ValueError, RecursionError) as problem:
            raise TokenInvalid(f"not a JWT: {type(problem).__name__}") from None
        kid = header.get("kid")
        if header.get("typ") != self._token_type or header.get("alg") not in ALGORITHMS or not isinstance(kid, str):
            raise TokenInvalid("not an access token")
        return kid


def _texts(value: Any) -> frozenset[str]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise TypeError("not a list of texts")
    return frozenset(value)
