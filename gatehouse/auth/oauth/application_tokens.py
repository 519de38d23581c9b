"""Access tokens of applications (RFC 9068): for userinfo, and for the application's own services.

They name their application and open nothing of our API; ours name none and are refused here. Both kinds are signed by
the same keys.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, NamedTuple

from gatehouse.auth.keys.jws import MAX_TOKEN_LENGTH, read_own_jwt, sign_jwt
from gatehouse.auth.oauth.definitions import Scope
from gatehouse.auth.oauth.id_tokens import acr_of
from gatehouse.auth.sessions.amr import unpack_methods

if TYPE_CHECKING:
    from gatehouse.auth.keys.key_ring import KeyRing
    from gatehouse.auth.oauth.id_tokens import TokenFacts

TOKEN_TYPE = "at+jwt"


class ApplicationClaims(NamedTuple):
    """Of a token that is ours and has not expired; whether its grant lives is asked for each time."""

    user: int
    session: str
    grant: str
    client_id: str
    audience: str
    scopes: tuple[str, ...]
    issued: int
    expires: int
    authenticated: int
    methods: tuple[str, ...]


class ApplicationTokens:
    def __init__(self, ring: KeyRing, issuer: str) -> None:
        self._ring = ring
        self._issuer = issuer

    def make(self, facts: TokenFacts) -> str:
        client, session = facts.client, facts.session
        methods = unpack_methods(session.proof)
        claims: dict[str, Any] = {
            "iss": self._issuer,
            "aud": client.config.audience or client.client_id,
            "sub": str(session.user),
            "client_id": client.client_id,
            "scope": " ".join(facts.scopes),
            "sid": session.id,
            "grant": facts.grant,
            "jti": secrets.token_urlsafe(12),
            "iat": int(facts.issued),
            "exp": int(facts.expires),
            "auth_time": int(session.opened),
            "acr": acr_of(methods),
            "amr": methods,
        }
        if Scope.ROLES not in facts.scopes:
            return sign_jwt(self._ring.signer, TOKEN_TYPE, claims)
        token = sign_jwt(self._ring.signer, TOKEN_TYPE, {**claims, "roles": facts.profile.roles})
        # As in our own tokens: what does not fit into a header line is left out whole. Userinfo has it.
        return token if len(token) <= MAX_TOKEN_LENGTH else sign_jwt(self._ring.signer, TOKEN_TYPE, claims)

    async def read(self, token: str, now: float) -> ApplicationClaims | None:
        claims = await read_own_jwt(self._ring, token, (TOKEN_TYPE,), self._issuer)
        try:
            if claims is None or now >= claims["exp"]:
                return None
            return ApplicationClaims(
                user=int(claims["sub"]),
                session=claims["sid"],
                grant=claims["grant"],
                client_id=claims["client_id"],
                audience=claims["aud"],
                scopes=tuple(claims["scope"].split()),
                issued=int(claims["iat"]),
                expires=int(claims["exp"]),
                authenticated=int(claims["auth_time"]),
                methods=tuple(claims["amr"]),
            )
        except KeyError:  # an access token of our own API
            return None
