"""Signed JWTs: put together here and not by the JWT library, which takes longer over it than the signature itself."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import jwt
import msgspec

from gatehouse.common.base64url import base64url

if TYPE_CHECKING:
    from collections.abc import Collection

    from gatehouse.auth.keys.key_ring import KeyRing, Signer

# No access token of ours is longer, and longer ones are refused unread. Tomcat and gunicorn take 8 KB of headers.
MAX_TOKEN_LENGTH = 4096

_encode = msgspec.json.Encoder().encode


def encode_claims(claims: object) -> str:
    return base64url(_encode(claims))


@lru_cache(maxsize=16)
def encode_header(kid: str, algorithm: str, token_type: str) -> str:
    return encode_claims({"alg": algorithm, "typ": token_type, "kid": kid})


def sign_jwt(signer: Signer, token_type: str, claims: object) -> str:
    body = f"{encode_header(signer.kid, signer.algorithm, token_type)}.{encode_claims(claims)}"
    return f"{body}.{base64url(signer.sign(body.encode()))}"


async def read_own_jwt(
    ring: KeyRing,
    token: str,
    token_types: Collection[str],
    issuer: str,
    audience: str | None = None,
    *,
    max_length: int = MAX_TOKEN_LENGTH,
) -> dict[str, Any] | None:
    """The claims of a token that a key of the ring has signed as one of these types; None for anything else.

    Whether it has expired is for the caller to say: the library would ask the machine's clock.
    """
    if len(token) > max_length:
        return None
    try:
        header = jwt.get_unverified_header(token)
        kid = header.get("kid")
        if header.get("typ") not in token_types or not isinstance(kid, str):
            return None
        key = await ring.find(kid)
        if key is None:
            return None
        # The key comes from our own ring and the algorithm from the key: the `alg` of the header is ignored.
        claims: dict[str, Any] = jwt.decode(
            token,
            key.public,
            algorithms=[key.algorithm],
            issuer=issuer,
            audience=audience,
            options={
                "require": ["exp", "iat", "sub", "sid"],
                "verify_exp": False,
                "verify_iat": False,
                "verify_aud": audience is not None,
            },
        )
    except (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError):
        return None
    return claims
