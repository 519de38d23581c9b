"""Feishu, from its public documentation. NOT TRIED AGAINST THE REAL ONE: the tests have a stand-in that answers so.

The token request is JSON; an error is a number in `code`, often with status 200; what is asked for is in `data`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.identity_sources.clients import CallbackRefused
from gatehouse.identity_sources.definitions import ProviderConfig
from gatehouse.identity_sources.errors import SourceUnavailable
from gatehouse.identity_sources.provider.http_client import shown
from gatehouse.identity_sources.provider.oauth_provider import TOKEN, OAuthProvider

if TYPE_CHECKING:
    from gatehouse.identity_sources.clients import AuthorizationRequest
    from gatehouse.identity_sources.provider.http_client import Answer
    from gatehouse.identity_sources.provider.signed_tokens import Claims

UNKNOWN_CODE = {20003, 20004, 20024, 20049}  # not found, expired, of another client, PKCE
# Does not exist, may not use the app, has resigned, is frozen, is not registered.
REFUSED_PERSON = {20008, 20010, 20021, 20022, 20023}


class Feishu(OAuthProvider):
    login_host = "https://accounts.feishu.cn"
    api_host = "https://open.feishu.cn"
    authorize_path = "/open-apis/authen/v1/authorize"
    subject_claim = "union_id"
    name_claim = "name"
    has_pkce = True

    def authorize_parameters(self) -> dict[str, str]:
        # Its scopes are its own; the usual ones of OpenID mean nothing there.
        scopes = self.config.scopes
        return {"scope": "" if scopes == ProviderConfig().scopes else " ".join(scopes)}

    async def exchange(self, code: str, request: AuthorizationRequest, redirect_uri: str) -> Claims:
        body = {
            "grant_type": "authorization_code",
            "client_id": self.config.client_id,
            "client_secret": self.secret,
            "code": code,
            "redirect_uri": redirect_uri,
            "code_verifier": request.verifier,
        }
        answer = await self._http.post_json(self.api("/open-apis/authen/v2/oauth/token"), body, TOKEN)
        _check(answer)
        if not isinstance(answer.body.get("access_token"), str):
            raise SourceUnavailable("Feishu gives no token", TOKEN)
        return answer.body

    async def ask_person(self, tokens: Claims) -> Claims:
        headers = {"Authorization": f"Bearer {tokens['access_token']}"}
        answer = await self._http.get(self.api("/open-apis/authen/v1/user_info"), TOKEN, headers)
        _check(answer)
        person = answer.body.get("data")
        if not isinstance(person, dict):
            raise SourceUnavailable("Feishu does not say who came", TOKEN)
        self.check_tenant(person.get("tenant_key"))
        return person


def _check(answer: Answer) -> None:
    code, why = answer.body.get("code"), answer.body.get("error_description", answer.body.get("msg"))
    problem = f"Feishu answers {answer.status} {shown(code)} {shown(why)}"
    if code in UNKNOWN_CODE:
        raise CallbackRefused(problem, "invalid_grant")
    if code in REFUSED_PERSON:
        raise CallbackRefused(problem, "access_denied")
    if code != 0 or answer.status != 200:
        raise SourceUnavailable(problem, TOKEN)
