"""The two kinds of token: how they are made and read. What they open is decided in `sessions.py`.

Access token: a JWT signed with Ed25519 that other services can check by themselves.
Refresh token: `1.<session>.<generation>.<HMAC>`. Nothing about it is stored, so nothing stored can be turned
into one; and the current one of a session can be made again, which lets racing refreshes converge.
"""

from __future__ import annotations

import hmac
import re
import secrets
from binascii import b2a_base64
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import jwt
import msgspec

from gatehouse.bounded_cache import BoundedCache

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatehouse.auth.keys.ring import KeyRing

ALGORITHM = "EdDSA"
TYPE = "at+jwt"
# Longer than any token we make; whatever is longer need not be looked at.
MAX_TOKEN_LENGTH = 4096
# Verifying a signature costs as much as all the rest of a request, so verified tokens are remembered.
CACHE_SIZE = 20_000

_REFRESH = re.compile(r"1\.(\d{1,19}-[A-Za-z0-9_-]{22})\.(\d{1,10})\.([A-Za-z0-9_-]{43})")


class TokenSet(NamedTuple):
    """What login and refresh hand out; `expires_in` is the life of the access token in seconds."""

    access: str
    refresh: str
    expires_in: int


class Claims(NamedTuple):
    """What an access token says, once it is believed."""

    user: int
    session: str
    expires: float
    issued: float


def new_session_id(user: int) -> str:
    """Begins with the user's id, so that whoever holds a token knows in which part of the state to look."""
    return f"{user}-{secrets.token_urlsafe(16)}"


class RefreshTokens:
    def __init__(self, *keys: bytes) -> None:
        self.rekey(*keys)

    def rekey(self, *keys: bytes) -> None:
        """The first makes, all of them read."""
        self._keys = keys

    def make(self, session: str, generation: int) -> str:
        body = f"1.{session}.{generation}"
        return f"{body}.{_mac(self._keys[0], body)}"

    def decode(self, token: str) -> tuple[str, int] | None:
        """The session and generation of a token that we made; None for anything else."""
        found = _REFRESH.fullmatch(token) if len(token) < 256 else None
        if found is None:
            return None
        body = token[: found.start(3) - 1]
        for key in self._keys:
            if hmac.compare_digest(_mac(key, body), found[3]):
                return found[1], int(found[2])
        return None


def _mac(key: bytes, body: str) -> str:
    return _base64url(hmac.digest(key, body.encode(), "sha256"))


_encode = msgspec.json.Encoder().encode


_URL_SAFE = bytes.maketrans(b"+/", b"-_")


def _base64url(raw: bytes) -> str:
    return b2a_base64(raw, newline=False).translate(_URL_SAFE, b"=").decode()


@lru_cache(maxsize=16)
def _header(kid: str) -> str:
    return _base64url(_encode({"alg": ALGORITHM, "typ": TYPE, "kid": kid}))


class AccessTokens:
    def __init__(self, ring: KeyRing, issuer: str, audience: str) -> None:
        self._ring = ring
        self._issuer = issuer
        self._audience = audience
        self._verified: BoundedCache[str, Claims] = BoundedCache(CACHE_SIZE)
        self._key_ring_version = ring.version

    def make(self, user: int, session: str, roles: Sequence[str], now: float, expires: float) -> str:
        kid, sign = self._ring.signer
        claims = {
            "iss": self._issuer,
            "aud": self._audience,
            "sub": str(user),
            "sid": session,
            "jti": secrets.token_urlsafe(12),
            "iat": int(now),
            "exp": int(expires),
            "roles": list(roles),
        }
        # Put together here and not by the JWT library, which takes longer over it than the signature itself.
        body = f"{_header(kid)}.{_base64url(_encode(claims))}"
        return f"{body}.{_base64url(sign(body.encode()))}"

    async def verify(self, token: str, now: float) -> Claims | None:
        """The claims of a token that we made and that has not expired; None for anything else.

        Whether its session still lives is another question, asked every time.
        """
        if self._ring.version != self._key_ring_version:
            # The set of keys has changed: one may have been withdrawn, so everything is verified anew.
            self._verified.clear()
            self._key_ring_version = self._ring.version
        claims = self._verified.get(token)
        if claims is None:
            claims = await self._verify(token)
            if claims is None:
                return None
            self._verified[token] = claims
        if now >= claims.expires:
            self._verified.pop(token, None)
            return None
        return claims

    async def _verify(self, token: str) -> Claims | None:
        if len(token) > MAX_TOKEN_LENGTH:
            return None
        try:
            header = jwt.get_unverified_header(token)
            kid = header.get("kid")
            if header.get("typ") != TYPE or not isinstance(kid, str):
                return None
            key = await self._ring.find(kid)
            if key is None:
                return None
            # The key comes from our own ring and the algorithm is fixed: nothing in the header has a say.
            claims = jwt.decode(
                token,
                key,
                algorithms=[ALGORITHM],
                issuer=self._issuer,
                audience=self._audience,
                options={
                    "require": ["exp", "iat", "sub", "sid"],
                    # These two ask the machine's clock; ours is handed in, and `verify` looks at it every time.
                    "verify_exp": False,
                    "verify_iat": False,
                },
            )
            return Claims(int(claims["sub"]), str(claims["sid"]), int(claims["exp"]), int(claims["iat"]))
        except (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError):
            return None
