"""The two kinds of token: how they are made and read. Whether their session is live is checked in `sessions.py`.

Access token: a signed JWT that other services can check by themselves. `claims.py` has its claims about the user.
Refresh token: `1.<session>.<generation>.<HMAC>`. Nothing about it is stored, so nothing stored can be turned
into one; and the current one of a session can be made again, which lets racing refreshes converge.
"""

from __future__ import annotations

import hmac
import re
import secrets
from typing import TYPE_CHECKING, Any, NamedTuple

from gatehouse.auth.keys.algorithms import ALGORITHMS
from gatehouse.auth.keys.jws import MAX_TOKEN_LENGTH, encode_claims, encode_header, read_own_jwt
from gatehouse.auth.sessions.amr import proof_claims
from gatehouse.auth.sessions.claims import ClaimSet, profile_claims, reductions
from gatehouse.common.base64url import base64url
from gatehouse.common.bounded_cache import BoundedCache
from gatehouse.common.logs import log

if TYPE_CHECKING:
    from gatehouse.auth.keys.key_ring import KeyRing, Signer
    from gatehouse.stores.database.users import Profile
    from gatehouse.stores.state.protocol import Session

# Every type that an access token of ours can have; nothing else that we sign has one of them. Both are read whatever
# the setting, so that a change of it logs nobody out.
TOKEN_TYPES = ("at+jwt", "JWT")
# Access tokens and ID tokens that applications get have these, and ours have not.
APPLICATION_CLAIMS = frozenset({"client_id", "azp"})
# Verifying a signature costs as much as all the rest of a request, so verified tokens are cached.
CACHE_SIZE = 20_000
# Users for whom the log warns once that a claim was left out of their tokens.
MAX_TRIM_WARNINGS = 1_000


_REFRESH = re.compile(r"1\.(\d{1,19}-[A-Za-z0-9_-]{22})\.(\d{1,10})\.([A-Za-z0-9_-]{43})")


class TokenSet(NamedTuple):
    """What login and refresh hand out; `expires_in` is the life of the access token in seconds."""

    access: str
    refresh: str
    expires_in: int
    session: str


class Claims(NamedTuple):
    """The claims of a verified access token. `methods` is `amr`; 0.1.0 has issued tokens without it and `auth_time`."""

    user: int
    session: str
    expires: float
    issued: float
    methods: tuple[str, ...] = ()
    authenticated: float | None = None
    source: str = ""  # of identity; empty if the login went by none


def new_session_id(user: int) -> str:
    """Begins with the user's id, so that a token names the part of the state that has the session."""
    return f"{user}-{secrets.token_urlsafe(16)}"


def user_of_session(session: str) -> int:
    return int(session.partition("-")[0])


class RefreshTokens:
    def __init__(self, *keys: bytes) -> None:
        self.rekey(*keys)

    def rekey(self, *keys: bytes) -> None:
        """The first key signs; every key verifies."""
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
    return base64url(hmac.digest(key, body.encode(), "sha256"))


def _max_body_length(signer: Signer) -> int:
    return MAX_TOKEN_LENGTH - 1 - ALGORITHMS[signer.algorithm].signature_length


class AccessTokens:
    def __init__(
        self,
        ring: KeyRing,
        issuer: str,
        audience: str,
        *,
        token_type: str = TOKEN_TYPES[0],
        claim_set: ClaimSet = ClaimSet(),  # noqa: B008 - a tuple: nobody can change it
    ) -> None:
        self._ring = ring
        self._issuer = issuer
        self._audience = audience
        self._token_type = token_type
        self._claim_set = claim_set
        self._warned_users: set[int] = set()  # users whose warning was logged
        self._verified: BoundedCache[str, Claims] = BoundedCache(CACHE_SIZE)
        self._key_ring_version = ring.version

    def require_signer(self) -> None:
        """Raises `StoreUnavailable` as long as there is no key to sign with."""
        _ = self._ring.signer

    def make(self, profile: Profile, session: Session, now: float, expires: float) -> str:
        claims = {
            "iss": self._issuer,
            "aud": self._audience,
            "sub": str(profile.user.id),
            "sid": session.id,
            "jti": secrets.token_urlsafe(12),
            "iat": int(now),
            "exp": int(expires),
            "auth_time": int(session.opened),
            **proof_claims(session.proof),
            **profile_claims(profile, self._claim_set),
        }
        signer = self._ring.signer
        header = encode_header(signer.kid, signer.algorithm, self._token_type)
        body = f"{header}.{encode_claims(claims)}"
        if len(body) > _max_body_length(signer):
            body = f"{header}.{self._reduce(claims, profile.user.id, _max_body_length(signer) - len(header) - 1)}"
        return f"{body}.{base64url(signer.sign(body.encode()))}"

    def _reduce(self, claims: dict[str, Any], user: int, max_length: int) -> str:
        """The claims without what does not fit. The user stays logged in; a service does not find what was left out."""
        for left in reductions(claims):
            shorter = encode_claims(left)
            if len(shorter) <= max_length:
                break
        if user not in self._warned_users and len(self._warned_users) < MAX_TRIM_WARNINGS:
            self._warned_users.add(user)
            log.warning("claims left out: the access token would be too long", user=user, claims=sorted(left))
        return shorter

    async def verify(self, token: str, now: float) -> Claims | None:
        """The claims of a token that we made and that has not expired; None for anything else.

        Whether its session is live is checked separately, on every request.
        """
        if self._ring.version != self._key_ring_version:
            # The set of keys has changed and one may have been deleted, so the cache is invalidated.
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
        claims = await read_own_jwt(self._ring, token, TOKEN_TYPES, self._issuer, self._audience)
        # Those of applications name one, whatever their audience: they open nothing here.
        if claims is None or not claims.keys().isdisjoint(APPLICATION_CLAIMS):
            return None
        try:
            return Claims(
                int(claims["sub"]),
                str(claims["sid"]),
                int(claims["exp"]),
                int(claims["iat"]),
                tuple(claims.get("amr", ())),
                claims.get("auth_time"),
                str(claims.get("idp", "")),
            )
        except (ValueError, TypeError, OverflowError):
            return None
