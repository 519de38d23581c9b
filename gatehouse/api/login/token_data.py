"""The answer of every operation that logs in or refreshes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.api.http.response import Response, success
from gatehouse.api.login.schemas import TokenData

if TYPE_CHECKING:
    from gatehouse.auth.sessions.tokens import TokenSet


def tokens_response(tokens: TokenSet, language: str) -> Response:
    return success(TokenData(tokens.access, tokens.refresh, "Bearer", tokens.expires_in), language)
