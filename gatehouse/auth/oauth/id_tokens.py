"""ID tokens: what an application is told about a login, signed as it wants.

They are `typ: JWT` and have `azp`, which no access token of ours has; so neither can be taken for the other.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, NamedTuple

from gatehouse.auth.keys.jws import read_own_jwt, sign_jwt
from gatehouse.auth.sessions.amr import SECOND_FACTORS, unpack_methods
from gatehouse.common.base64url import base64url

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from gatehouse.auth.keys.key_ring import KeyRing, Signer
    from gatehouse.auth.oauth.clients import Client
    from gatehouse.stores.database.users import Profile
    from gatehouse.stores.state.protocol import Session

TOKEN_TYPE = "JWT"
# With the claims of a profile and a hundred roles in it. It is in no header, so it may be longer than an access token.
MAX_HINT_LENGTH = 32_768
ONE_FACTOR, TWO_FACTORS = ACR_VALUES = ("1", "2")


class TokenFacts(NamedTuple):
    """What the tokens of one answer are made of."""

    client: Client
    grant: str
    session: Session
    profile: Profile
    scopes: tuple[str, ...]
    issued: float
    expires: float


class Hint(NamedTuple):
    """Of an ID token that an application hands back: of whom, for which client and session it was. It may be old."""

    subject: str
    client_id: str
    session: str


def acr_of(methods: Collection[str]) -> str:
    """A passkey verifies its user, so it counts as two factors."""
    return ONE_FACTOR if SECOND_FACTORS.isdisjoint(methods) else TWO_FACTORS


def at_hash(access_token: str) -> str:
    """OpenID Connect Core, 3.1.3.6. Both of our algorithms hash with SHA-256."""
    return base64url(hashlib.sha256(access_token.encode()).digest()[:16])


class IdTokens:
    def __init__(self, ring: KeyRing, issuer: str) -> None:
        self._ring = ring
        self._issuer = issuer

    def make(self, signer: Signer, facts: TokenFacts, more: Mapping[str, Any]) -> str:
        """`more`: nonce, at_hash, claims about the user; what is empty is left out."""
        client_id, session = facts.client.client_id, facts.session
        methods = unpack_methods(session.proof)
        claims = {
            **{name: value for name, value in more.items() if value != ""},
            "iss": self._issuer,
            "sub": str(session.user),
            "aud": client_id,
            "azp": client_id,
            "iat": int(facts.issued),
            "exp": int(facts.expires),
            "auth_time": int(session.opened),
            "acr": acr_of(methods),
            "amr": methods,
            "sid": session.id,
        }
        return sign_jwt(signer, TOKEN_TYPE, claims)

    async def read_hint(self, token: str) -> Hint | None:
        """None for what is not an ID token of ours, or was signed by a key that we have deleted since."""
        claims = await read_own_jwt(self._ring, token, (TOKEN_TYPE,), self._issuer, max_length=MAX_HINT_LENGTH)
        if claims is None or claims.get("azp") != claims.get("aud") or not isinstance(claims.get("aud"), str):
            return None
        return Hint(str(claims["sub"]), claims["aud"], str(claims["sid"]))

    async def subject_of_hint(self, token: str) -> str:
        hint = await self.read_hint(token)
        return hint.subject if hint else ""
