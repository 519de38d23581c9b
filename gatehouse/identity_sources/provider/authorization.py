"""The two ends of the code flow that every provider has: the request, and the query that the browser brings back."""

from __future__ import annotations

import hashlib
import re
import secrets
from hmac import compare_digest
from typing import TYPE_CHECKING

from gatehouse.common.base64url import base64url
from gatehouse.identity_sources.clients import AuthorizationRequest, CallbackRefused
from gatehouse.identity_sources.provider.http_client import shown, with_query

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_CODE = 4096
_ERROR_CODE = re.compile(r"[a-z_]{1,64}", re.ASCII)


def authorization_request(
    endpoint: str, parameters: dict[str, str], *, with_nonce: bool, with_pkce: bool = True
) -> AuthorizationRequest:
    """With a fresh state, and PKCE unless the provider does not know it; what is empty is left out."""
    state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
    query = {
        "response_type": "code",
        **parameters,
        "state": state,
        "nonce": nonce if with_nonce else "",
        "code_challenge": base64url(hashlib.sha256(verifier.encode()).digest()) if with_pkce else "",
        "code_challenge_method": "S256" if with_pkce else "",
    }
    url = with_query(endpoint, {name: value for name, value in query.items() if value})
    return AuthorizationRequest(url, state, nonce, verifier)


def check_state(query: Mapping[str, str], request: AuthorizationRequest) -> None:
    if not request.state or not compare_digest(query.get("state", "").encode(), request.state.encode()):
        raise CallbackRefused("the state is not the one of this login")


def code_in(query: Mapping[str, str], *names: str) -> str:
    """`names`: what the code is called."""
    if "error" in query:
        error, why = query["error"], shown(query.get("error_description", ""))
        raise CallbackRefused(
            f"the provider refuses: {shown(error)} {why}", error if _ERROR_CODE.fullmatch(error) else ""
        )
    code = next((query[name] for name in names if query.get(name)), "")
    if not 0 < len(code) <= MAX_CODE:
        raise CallbackRefused("the callback has no code")
    return code
