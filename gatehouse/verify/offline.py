"""Checks access tokens with the public keys of the service, without asking it about each.

The price: a token stays good until it expires, even when its session has ended meanwhile. Where that is too long,
ask the service: `introspection.py`.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import jwt

from gatehouse.verify.errors import TokenInvalid
from gatehouse.verify.keys import KeySet
from gatehouse.verify.principal import Principal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

ALGORITHM = "EdDSA"
TYPE = "at+jwt"
LONGEST = 4096
MOST_LEEWAY = 120.0


class Verifier:
    """`keys` is the URL of the service's JWKS, or a `KeySet` with bounds of your own.

    `role_perms` says what roles give, if you want `require("a:b:c")` to work offline; the service does not tell.
    """

    def __init__(
        self,
        keys: str | KeySet,
        issuer: str,
        audience: str = "gatehouse",
        *,
        leeway: float = 10.0,
        role_perms: Mapping[str, Iterable[str]] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if not 0 <= leeway <= MOST_LEEWAY:
            raise ValueError(f"leeway: expected 0 to {MOST_LEEWAY:.0f} seconds, got {leeway}")
        self._keys = KeySet(keys) if isinstance(keys, str) else keys
        self._issuer = issuer
        self._audience = audience
        self._leeway = leeway
        self._role_perms = {role: frozenset(perms) for role, perms in (role_perms or {}).items()}
        self._clock = clock
        self.knows_perms = role_perms is not None

    def check(self, token: str) -> Principal:
        return self._principal(token, self._keys.find(_kid(token)))

    async def check_async(self, token: str) -> Principal:
        return self._principal(token, await self._keys.find_async(_kid(token)))

    def _principal(self, token: str, key: Ed25519PublicKey | None) -> Principal:
        if key is None:
            raise TokenInvalid("signed by no key of the service")
        claims = self._claims(token, key)
        try:
            roles = frozenset(str(role) for role in claims["roles"])
            return Principal(int(claims["sub"]), str(claims["sid"]), roles, claims["exp"], self._perms(roles))
        except (KeyError, TypeError, ValueError):
            raise TokenInvalid("the claims have another form") from None

    def _claims(self, token: str, key: Ed25519PublicKey) -> dict[str, Any]:
        try:
            # The key comes from the service's own set and the algorithm is fixed: the header has no say.
            claims = jwt.decode(
                token,
                key,
                algorithms=[ALGORITHM],
                issuer=self._issuer,
                audience=self._audience,
                options={"require": ["exp", "iat", "sub"], "verify_exp": False, "verify_iat": False},
            )
            expires, issued = float(claims["exp"]), float(claims["iat"])
        except (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError) as problem:
            raise TokenInvalid(f"not valid: {type(problem).__name__}") from None
        now = self._clock()
        if not issued - self._leeway <= now < expires + self._leeway:
            raise TokenInvalid("expired, or not yet issued")
        return {**claims, "exp": expires}

    def _perms(self, roles: frozenset[str]) -> frozenset[str] | None:
        if not self.knows_perms:
            return None
        return frozenset().union(*(self._role_perms.get(role, frozenset()) for role in roles))


def _kid(token: str) -> str:
    """Which key the token names. A token that is plainly not ours costs no fetch."""
    if len(token) > LONGEST:
        raise TokenInvalid("longer than any access token")
    try:
        header = jwt.get_unverified_header(token)
    except (jwt.PyJWTError, ValueError, RecursionError) as problem:
        raise TokenInvalid(f"not a JWT: {type(problem).__name__}") from None
    kid = header.get("kid")
    if header.get("typ") != TYPE or header.get("alg") != ALGORITHM or not isinstance(kid, str):
        raise TokenInvalid("not an access token")
    return kid
