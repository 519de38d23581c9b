"""The answer of every operation that logs in or refreshes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from gatehouse.api.http.response import Response, success

if TYPE_CHECKING:
    from gatehouse.auth.sessions.tokens import TokenSet


class TokenData(Struct):
    accessToken: str
    refreshToken: str
    tokenType: Annotated[str, Meta(examples=["Bearer"])]
    expiresIn: Annotated[int, Meta(description="Seconds until the access token expires.", examples=[7200])]


def tokens_response(tokens: TokenSet, language: str) -> Response:
    return success(TokenData(tokens.access, tokens.refresh, "Bearer", tokens.expires_in), language)
