"""What DingTalk and Feishu have in common: OAuth with a code, no discovery, no ID token, an answer about the person.

Who came is what the provider says about the access token that it has just issued for our code, asked over TLS. There is
no nonce and no logout of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from gatehouse.identity_sources.clients import AuthorizationRequest, CallbackRefused, ProviderLogin, TestStep
from gatehouse.identity_sources.errors import SourceUnavailable
from gatehouse.identity_sources.provider.authorization import authorization_request, check_state, code_in
from gatehouse.identity_sources.provider.claims import to_person
from gatehouse.identity_sources.provider.http_client import HttpClient, check_url
from gatehouse.identity_sources.provider.signed_tokens import name_in

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from gatehouse.identity_sources.clients import LogoutToken
    from gatehouse.identity_sources.definitions import ProviderConfig
    from gatehouse.identity_sources.provider.signed_tokens import Claims

TOKEN = "token"


class OAuthProvider:
    """A subclass says where and how it is asked. Implements `clients.Provider`."""

    login_host: ClassVar[str]
    api_host: ClassVar[str]
    authorize_path: ClassVar[str]
    code_names: ClassVar[tuple[str, ...]] = ("code",)
    subject_claim: ClassVar[str]
    name_claim: ClassVar[str]
    has_pkce: ClassVar[bool]

    def __init__(self, config: ProviderConfig, client_secret: str) -> None:
        self.config = config
        self.secret = client_secret
        self._issuer = config.base_url or self.login_host
        self._http = HttpClient(config, self._issuer)

    def authorize_parameters(self) -> dict[str, str]:
        """Those beside `response_type`, `client_id`, `redirect_uri` and `state`."""
        raise NotImplementedError

    async def exchange(self, code: str, request: AuthorizationRequest, redirect_uri: str) -> Claims:
        """The answer with the access token. A code that is not known is `CallbackRefused` with `invalid_grant`."""
        raise NotImplementedError

    async def ask_person(self, tokens: Claims) -> Claims:
        raise NotImplementedError

    def api(self, path: str) -> str:
        return check_url(self.config.base_url or self.api_host, "base_url", TOKEN).rstrip("/") + path

    async def begin(
        self,
        redirect_uri: str,
        *,
        prompt: str = "",  # noqa: ARG002 - neither is known there
        max_age: int | None = None,  # noqa: ARG002
    ) -> AuthorizationRequest:
        endpoint = check_url(self._issuer, "base_url", "discovery").rstrip("/") + self.authorize_path
        parameters = {
            "client_id": self.config.client_id,
            "redirect_uri": redirect_uri,
            **self.authorize_parameters(),
        }
        return authorization_request(endpoint, parameters, with_nonce=False, with_pkce=self.has_pkce)

    async def complete(self, query: dict[str, str], request: AuthorizationRequest, redirect_uri: str) -> ProviderLogin:
        check_state(query, request)
        code = code_in(query, *self.code_names)
        async with self._http.within(TOKEN):
            claims = await self.ask_person(await self.exchange(code, request, redirect_uri))
        subject = name_in(claims, self.subject_claim)
        if not subject:
            raise SourceUnavailable(f"{self._issuer} names nobody: {self.subject_claim} is missing", TOKEN)
        person = to_person(claims, self.config.mapping, issuer=self._issuer, subject=subject)
        names = person.attributes.get(self.config.mapping.username or self.name_claim) or (person.name,)
        return ProviderLogin(person._replace(name=names[0]))

    def check_tenant(self, tenant: object) -> None:
        if self.config.tenant and tenant != self.config.tenant:
            raise CallbackRefused("the person belongs to another company", "access_denied")

    async def logout_url(self, id_token: str, redirect_uri: str, state: str) -> str | None:  # noqa: ARG002
        return None

    async def read_logout_token(self, token: str) -> LogoutToken:  # noqa: ARG002
        raise CallbackRefused("this provider sends no logout tokens")

    async def test(self) -> AsyncIterator[TestStep]:
        """A code that nobody has issued: a provider that knows our client and its secret refuses only the code."""
        try:
            request = await self.begin("https://localhost/")
            async with self._http.within(TOKEN):
                await self.exchange(request.state, request, "https://localhost/")
            works, seen = False, "a code that was never issued is accepted"
        except CallbackRefused as refused:
            works, seen = refused.code == "invalid_grant", str(refused)
        except SourceUnavailable as problem:
            works, seen = False, str(problem)
        yield TestStep(TOKEN, works, seen)

    async def close(self) -> None:
        await self._http.close()
