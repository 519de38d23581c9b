"""DingTalk, from its public documentation. NOT TRIED AGAINST THE REAL ONE: the tests have a stand-in that answers so.

The token request is JSON with names of its own, the code comes back as `authCode`, the access token goes into a header
of its own, and an error is a text in `code`. PKCE is not documented there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.identity_sources.clients import CallbackRefused
from gatehouse.identity_sources.errors import SourceUnavailable
from gatehouse.identity_sources.provider.http_client import shown
from gatehouse.identity_sources.provider.oauth_provider import TOKEN, OAuthProvider

if TYPE_CHECKING:
    from gatehouse.identity_sources.clients import AuthorizationRequest
    from gatehouse.identity_sources.provider.http_client import Answer
    from gatehouse.identity_sources.provider.signed_tokens import Claims

UNKNOWN_CODE = "invalidParameter.authCode"  # and what follows: notFound


class DingTalk(OAuthProvider):
    login_host = "https://login.dingtalk.com"
    api_host = "https://api.dingtalk.com"
    authorize_path = "/oauth2/auth"
    code_names = ("authCode", "code")
    subject_claim = "unionId"
    name_claim = "nick"
    has_pkce = False

    def authorize_parameters(self) -> dict[str, str]:
        # Without `corpid` the person chooses no company, and the answer names none.
        tenant = self.config.tenant
        return {"scope": "openid corpid" if tenant else "openid", "prompt": "consent", "corpId": tenant}

    async def exchange(self, code: str, request: AuthorizationRequest, redirect_uri: str) -> Claims:  # noqa: ARG002
        body = {
            "clientId": self.config.client_id,
            "clientSecret": self.secret,
            "code": code,
            "grantType": "authorization_code",
        }
        answer = await self._http.post_json(self.api("/v1.0/oauth2/userAccessToken"), body, TOKEN)
        if str(answer.body.get("code")).startswith(UNKNOWN_CODE):
            raise CallbackRefused(f"DingTalk does not know the code: {_problem(answer)}", "invalid_grant")
        if answer.status != 200 or not isinstance(answer.body.get("accessToken"), str):
            raise SourceUnavailable(f"DingTalk gives no token: {_problem(answer)}", TOKEN)
        self.check_tenant(answer.body.get("corpId"))
        return answer.body

    async def ask_person(self, tokens: Claims) -> Claims:
        headers = {"x-acs-dingtalk-access-token": tokens["accessToken"]}
        answer = await self._http.get(self.api("/v1.0/contact/users/me"), TOKEN, headers)
        if answer.status != 200:
            raise SourceUnavailable(f"DingTalk does not say who came: {_problem(answer)}", TOKEN)
        return {**answer.body, "corpId": tokens.get("corpId")}


def _problem(answer: Answer) -> str:
    return f"{answer.status} {shown(answer.body.get('code'))} {shown(answer.body.get('message'))}"
