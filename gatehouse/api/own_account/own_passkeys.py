"""The caller's passkeys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta, Struct

from gatehouse.api.http.response import Response, success
from gatehouse.api.login.passkey_login import CEREMONY_REFUSALS, Base64Url, CeremonyData
from gatehouse.api.operation_declaration import Limit, Operation
from gatehouse.api.own_account.factor_change_proof import PROOF_REFUSALS, ProofBody, proof_of
from gatehouse.api.time_format import iso_time
from gatehouse.stores.errors import Duplicate, InUse, Missing

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.auth.principal import Principal
    from gatehouse.composition import Service
    from gatehouse.stores.database.passkeys import Passkey


class AttestationResponse(Struct):
    clientDataJSON: Base64Url
    attestationObject: Base64Url
    transports: Annotated[list[Annotated[str, Meta(max_length=16)]], Meta(max_length=8)] | None = None


class Attestation(Struct):
    """What `navigator.credentials.create()` returns, by `toJSON()`."""

    id: Base64Url
    rawId: Base64Url
    type: str
    response: AttestationResponse


class NewPasskeyBody(Struct):
    credential: Attestation
    name: Annotated[str, Meta(max_length=64)] | None = None


class PasswordLoginBody(ProofBody, kw_only=True):
    enabled: bool


class PasskeyData(Struct):
    """Times are ISO 8601 in UTC; `lastUsed` is null until the passkey has logged its owner in."""

    id: int
    name: str
    created: str
    lastUsed: str | None


class PasskeyEndpoints:
    def __init__(self, service: Service) -> None:
        self._own = service.factors.own_passkeys

    @Operation(
        "POST",
        "/api/v1/users/me/passkeys/options",
        "A challenge for a new passkey, after a fresh proof",
        body=ProofBody,
        data=CeremonyData,
        limits=(Limit.LOGIN_NAME,),
        refusals=PROOF_REFUSALS,
    )
    async def new_passkey_options(self, request: Request, principal: Principal) -> Response:
        proof = proof_of(await request.fields(ProofBody))
        options = await self._own.options(principal, proof, request.client)
        return success(CeremonyData(options), request.language)

    @Operation(
        "POST",
        "/api/v1/users/me/passkeys",
        "Register a passkey that answers the challenge",
        body=NewPasskeyBody,
        data=PasskeyData,
        refusals=(*CEREMONY_REFUSALS, Duplicate),
    )
    async def add_passkey(self, request: Request, principal: Principal) -> Response:
        body = await request.fields(NewPasskeyBody)
        credential: dict[str, Any] = msgspec.to_builtins(body.credential)
        transports = credential["response"].pop("transports") or []
        passkey = await self._own.register(principal, credential, body.name or "", transports, request.client)
        return success(passkey_data(passkey), request.language)

    @Operation(
        "DELETE",
        "/api/v1/users/me/passkeys/{id}",
        "Remove a passkey, after a fresh proof",
        body=ProofBody,
        limits=(Limit.LOGIN_NAME,),
        refusals=(*PROOF_REFUSALS, Missing, InUse),
    )
    async def remove_passkey(self, request: Request, principal: Principal) -> Response:
        passkey = request.path_id()
        proof = proof_of(await request.fields(ProofBody))
        await self._own.remove(principal, passkey, proof, request.client)
        return success(language=request.language)

    @Operation(
        "PUT",
        "/api/v1/users/me/password-login",
        "Whether the password logs the caller in beside passkeys, after a fresh proof",
        body=PasswordLoginBody,
        limits=(Limit.LOGIN_NAME,),
        refusals=(*PROOF_REFUSALS, InUse),
    )
    async def set_password_login(self, request: Request, principal: Principal) -> Response:
        body = await request.fields(PasswordLoginBody)
        await self._own.set_password_login(principal, proof_of(body), request.client, on=body.enabled)
        return success(language=request.language)


def passkey_data(passkey: Passkey) -> PasskeyData:
    used = iso_time(passkey.last_used) if passkey.last_used is not None else None
    return PasskeyData(passkey.id, passkey.name, iso_time(passkey.created), used)
