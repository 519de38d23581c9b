"""A relying party of OpenID Connect: code flow with PKCE, discovery, logout in both directions."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING, Any
from urllib.parse import quote_plus

from gatehouse.identity_sources.clients import AuthorizationRequest, CallbackRefused, ProviderLogin, TestStep
from gatehouse.identity_sources.errors import SourceUnavailable
from gatehouse.identity_sources.provider.authorization import authorization_request, check_state, code_in
from gatehouse.identity_sources.provider.claims import to_person
from gatehouse.identity_sources.provider.discovery import Metadata, discover
from gatehouse.identity_sources.provider.fetched import Fetched
from gatehouse.identity_sources.provider.http_client import Answer, HttpClient, shown, with_query
from gatehouse.identity_sources.provider.id_token import check_id_token
from gatehouse.identity_sources.provider.keys import KeySet
from gatehouse.identity_sources.provider.logout_token import read_logout_claims
from gatehouse.identity_sources.provider.signed_tokens import MAX_NAME, Recipient, name_in, time_of, verify

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from gatehouse.identity_sources.clients import LogoutToken
    from gatehouse.identity_sources.definitions import ProviderConfig
    from gatehouse.identity_sources.provider.signed_tokens import Claims

TOKEN, USERINFO = "token", "userinfo"
MAX_METHODS = 20  # of `amr`
# What the person's own login can cause; any other error is a matter of the configuration.
ERRORS_OF_A_LOGIN = {"invalid_grant", "access_denied"}
ERRORS_OF_OUR_CLIENT = {"invalid_client", "unauthorized_client"}


class OpenIdProvider:
    """One for each worker. Implements `clients.Provider`."""

    def __init__(self, config: ProviderConfig, client_secret: str, clock: Callable[[], float]) -> None:
        self._config = config
        self.issuer = config.issuer
        self._secret = client_secret
        self._clock = clock
        self._http = HttpClient(config, config.issuer)
        self._recipient = Recipient(config.issuer, config.client_id)
        self._metadata = Fetched(self._discover, clock)
        self._keys = KeySet(self._http, self._jwks_uri, clock)

    async def begin(self, redirect_uri: str, *, prompt: str = "", max_age: int | None = None) -> AuthorizationRequest:
        async with self._http.within("discovery"):
            metadata = await self._metadata.get()
        parameters = {
            "client_id": self._config.client_id,
            "redirect_uri": redirect_uri,
            "scope": " ".join(dict.fromkeys(("openid", *self._config.scopes))),
            "prompt": prompt or self._config.prompt,
            "max_age": "" if max_age is None else str(max_age),
        }
        return authorization_request(metadata.authorization_endpoint, parameters, with_nonce=True)

    async def complete(self, query: dict[str, str], request: AuthorizationRequest, redirect_uri: str) -> ProviderLogin:
        check_state(query, request)
        async with self._http.within(TOKEN):
            metadata = await self._metadata.get()
            self._check_issuer(query, metadata)
            tokens = await self._exchange(metadata, code_in(query, "code"), request.verifier, redirect_uri)
            id_token, access_token = tokens.get("id_token"), str(tokens.get("access_token", ""))
            signed = await verify(id_token, self._keys, "jwt")
            claims = signed.claims
            check_id_token(signed, self._recipient, nonce=request.nonce, access_token=access_token, now=self._clock())
            if self._config.userinfo:
                claims = {**await self._ask_userinfo(metadata, access_token, claims["sub"]), **claims}
        return self._login(claims, signed.claims, str(id_token))

    def _check_issuer(self, query: dict[str, str], metadata: Metadata) -> None:
        """RFC 9207: an answer of another provider must not be taken for one of this."""
        required = metadata.authorization_response_iss_parameter_supported
        if ("iss" in query or required) and query.get("iss") != self._config.issuer:
            raise CallbackRefused(f"the callback comes from {shown(query.get('iss'))} (iss)")

    async def _exchange(self, metadata: Metadata, code: str, verifier: str, redirect_uri: str) -> dict[str, Any]:
        answer = await self._ask_token(metadata, code, verifier, redirect_uri)
        if answer.status == 200:
            return answer.body
        error, problem = answer.body.get("error"), _token_problem(metadata, answer)
        if error in ERRORS_OF_A_LOGIN:
            raise CallbackRefused(problem, str(error))
        raise SourceUnavailable(problem, TOKEN)

    async def _ask_token(self, metadata: Metadata, code: str, verifier: str, redirect_uri: str) -> Answer:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "code_verifier": verifier,
        }
        headers = {}
        if self._config.client_auth == "client_secret_basic":
            # Each part is form-urlencoded before the colon joins them (RFC 6749, 2.3.1).
            pair = f"{quote_plus(self._config.client_id)}:{quote_plus(self._secret)}"
            headers["Authorization"] = f"Basic {b64encode(pair.encode()).decode()}"
        else:
            form["client_id"] = self._config.client_id
        if self._config.client_auth == "client_secret_post":
            form["client_secret"] = self._secret
        return await self._http.post_form(metadata.token_endpoint, form, TOKEN, headers)

    async def _ask_userinfo(self, metadata: Metadata, access_token: str, subject: str) -> Claims:
        if metadata.userinfo_endpoint is None:
            raise SourceUnavailable(f"{self._config.issuer} has no userinfo endpoint: switch userinfo off", USERINFO)
        answer = await self._http.get(metadata.userinfo_endpoint, USERINFO, {"Authorization": f"Bearer {access_token}"})
        if answer.status != 200:
            raise SourceUnavailable(f"{metadata.userinfo_endpoint} answers {answer.status}", USERINFO)
        if answer.body.get("sub") != subject:
            raise CallbackRefused("userinfo speaks of somebody else than the ID token")
        return answer.body

    def _login(self, claims: Claims, signed: Claims, id_token: str) -> ProviderLogin:
        """How somebody was authenticated is taken from what was signed alone."""
        amr, acr = signed.get("amr"), signed.get("acr")
        methods = amr if isinstance(amr, list) else []
        return ProviderLogin(
            to_person(claims, self._config.mapping, issuer=self._config.issuer, subject=signed["sub"]),
            amr=tuple(method for method in methods[:MAX_METHODS] if _is_short(method)),
            acr=acr if isinstance(acr, str) and _is_short(acr) else "",
            authenticated=time_of(signed, "auth_time") if "auth_time" in signed else None,
            sid=name_in(signed, "sid"),
            id_token=id_token,
        )

    async def logout_url(self, id_token: str, redirect_uri: str, state: str) -> str | None:
        async with self._http.within("discovery"):
            metadata = await self._metadata.get()
        if not self._config.logout or metadata.end_session_endpoint is None:
            return None
        parameters = {
            "id_token_hint": id_token,
            "client_id": self._config.client_id,
            "post_logout_redirect_uri": redirect_uri,
            "state": state,
        }
        return with_query(metadata.end_session_endpoint, {name: value for name, value in parameters.items() if value})

    async def read_logout_token(self, token: str) -> LogoutToken:
        async with self._http.within("keys"):
            signed = await verify(token, self._keys, "jwt", "logout+jwt")
        return read_logout_claims(signed.claims, self._recipient, self._clock())

    async def test(self) -> AsyncIterator[TestStep]:
        for step, look in (("discovery", self._see_discovery), ("keys", self._see_keys), (TOKEN, self._see_token)):
            try:
                async with self._http.within(step):
                    works, seen = await look()
            except SourceUnavailable as problem:
                works, seen = False, str(problem)
            yield TestStep(step, works, seen)
            if not works:
                return

    async def _see_discovery(self) -> tuple[bool, str]:
        metadata = await self._metadata.get_again()
        return True, f"people log in at {metadata.authorization_endpoint}"

    async def _see_keys(self) -> tuple[bool, str]:
        keys = await self._keys.get()
        algorithms = sorted({name for key in keys for name in key.algorithms})
        return True, f"{len(keys)} usable, for {', '.join(algorithms)}"

    async def _see_token(self) -> tuple[bool, str]:
        """A code that nobody has issued: a provider that knows our client and its secret refuses only the code."""
        metadata = await self._metadata.get()
        request = authorization_request(metadata.authorization_endpoint, {}, with_nonce=False)
        answer = await self._ask_token(metadata, request.state, request.verifier, "https://localhost/")
        error = answer.body.get("error")
        if error == "invalid_grant":
            return True, "the provider knows our client, and refuses a code that it has not issued"
        problem = _token_problem(metadata, answer)
        return (
            False,
            problem if error in ERRORS_OF_OUR_CLIENT else f"cannot tell whether our client is known: {problem}",
        )

    async def close(self) -> None:
        await self._http.close()

    async def _discover(self) -> Metadata:
        return await discover(self._http, self._config.issuer)

    async def _jwks_uri(self) -> str:
        return (await self._metadata.get()).jwks_uri


def _is_short(value: object) -> bool:
    return isinstance(value, str) and len(value) <= MAX_NAME


def _token_problem(metadata: Metadata, answer: Answer) -> str:
    error, why = answer.body.get("error"), answer.body.get("error_description", "")
    hint = ": look at client_id, the secret and client_auth" if error in ERRORS_OF_OUR_CLIENT else ""
    return f"{metadata.token_endpoint} answers {answer.status} {shown(error)} {shown(why)}{hint}"
