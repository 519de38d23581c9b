"""Login by passkey. Names and forms are those of WebAuthn in browsers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta, Struct

from gatehouse.api.http.response import Response, success
from gatehouse.api.login.token_data import TokenData, tokens_response
from gatehouse.api.operation_declaration import Limit, Operation
from gatehouse.auth import refusals

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.composition import Service

Base64Url = Annotated[str, Meta(description="base64url without padding, as `toJSON()` has it.")]

CEREMONY_REFUSALS = (refusals.TicketGone, refusals.PasskeyRefused)


class AssertionResponse(Struct):
    clientDataJSON: Base64Url
    authenticatorData: Base64Url
    signature: Base64Url
    userHandle: Base64Url | None = None


class Assertion(Struct):
    """What `navigator.credentials.get()` returns, by `toJSON()`."""

    id: Base64Url
    rawId: Base64Url
    type: str
    response: AssertionResponse


class PasskeyLoginBody(Struct):
    credential: Assertion


class CeremonyData(Struct):
    """What the browser is asked: for `PublicKeyCredential.parse…OptionsFromJSON()`."""

    publicKey: dict[str, Any]


class PasskeyLoginEndpoints:
    def __init__(self, service: Service) -> None:
        self._ceremonies = service.factors.ceremonies
        self._login = service.login.passkey
        self._authenticator = service.authenticator

    @Operation(
        "POST",
        "/api/v1/auth/passkey/options",
        "A challenge for a login by passkey, or for a fresh proof",
        public=True,
        data=CeremonyData,
        without_stores=True,
    )
    async def passkey_options(self, request: Request) -> Response:
        return success(CeremonyData(self._ceremonies.login_options()), request.language)

    @Operation(
        "POST",
        "/api/v1/auth/passkey",
        "Log in by passkey",
        public=True,
        body=PasskeyLoginBody,
        data=TokenData,
        limits=(Limit.LOGIN_ADDRESS,),
        refusals=(*CEREMONY_REFUSALS, refusals.CredentialsWrong),
    )
    async def passkey_login(self, request: Request) -> Response:
        body = await request.fields(PasskeyLoginBody)
        session = await self._login.log_in(msgspec.to_builtins(body.credential), request.client)
        tokens = await self._authenticator.issue(session, request.client, "passkey")
        return tokens_response(tokens, request.language)
