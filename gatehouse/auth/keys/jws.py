"""Signed JWTs, put together here and not by the JWT library, which takes longer over it than the signature itself."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from gatehouse.common.base64url import base64url

if TYPE_CHECKING:
    from gatehouse.auth.keys.key_ring import Signer

_encode = msgspec.json.Encoder().encode


def encode_claims(claims: object) -> str:
    return base64url(_encode(claims))


@lru_cache(maxsize=16)
def encode_header(kid: str, algorithm: str, token_type: str) -> str:
    return encode_claims({"alg": algorithm, "typ": token_type, "kid": kid})


def sign_jwt(signer: Signer, token_type: str, claims: object) -> str:
    body = f"{encode_header(signer.kid, signer.algorithm, token_type)}.{encode_claims(claims)}"
    return f"{body}.{base64url(signer.sign(body.encode()))}"
