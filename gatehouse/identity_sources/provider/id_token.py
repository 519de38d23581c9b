"""The rules of an ID token from the token endpoint (OpenID Connect Core 1.0, 3.1.3.7)."""

from __future__ import annotations

import hashlib
from hmac import compare_digest
from typing import TYPE_CHECKING

from gatehouse.common.base64url import base64url
from gatehouse.identity_sources.clients import CallbackRefused
from gatehouse.identity_sources.provider.signed_tokens import check_issued, name_in

if TYPE_CHECKING:
    from gatehouse.identity_sources.provider.signed_tokens import Recipient, SignedToken


def check_id_token(token: SignedToken, recipient: Recipient, *, nonce: str, access_token: str, now: float) -> None:
    claims = token.claims
    check_issued(claims, recipient, now)
    # As bytes: the comparison takes no other texts than ASCII.
    if not nonce or not compare_digest(str(claims.get("nonce")).encode(), nonce.encode()):
        raise CallbackRefused("the nonce of the ID token is not the one of this login")
    if not name_in(claims, "sub"):
        raise CallbackRefused("the ID token names nobody")
    if "at_hash" in claims and claims["at_hash"] != _left_half(access_token, token.algorithm):
        raise CallbackRefused("the ID token belongs to another access token (at_hash)")


def _left_half(access_token: str, algorithm: str) -> str:
    # Ed25519, the one curve of EdDSA that is taken here, hashes by SHA-512.
    name = "sha512" if algorithm == "EdDSA" else f"sha{algorithm[2:]}"
    digest = hashlib.new(name, access_token.encode()).digest()
    return base64url(digest[: len(digest) // 2])
