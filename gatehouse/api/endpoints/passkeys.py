"""Passkeys: login, and one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from gatehouse.api.contract.passkeys import (
    CeremonyData,
    NewPasskeyBody,
    PasskeyData,
    PasskeyLoginBody,
    PasswordLoginBody,
    ProofBody,
)
from gatehouse.api.endpoints.times import iso_time
from gatehouse.api.endpoints.tokens import tokens_response
from gatehouse.api.http.response import Response, success
from gatehouse.auth.factors.owner_proof import Proof

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from gatehouse.api.http.request import Request
    from gatehouse.auth.principal import Principal
    from gatehouse.composition import Service
    from gatehouse.stores.database.passkeys import Passkey


class PasskeyEndpoints:
    def __init__(self, service: Service) -> None:
        self._ceremonies = service.factors.ceremonies
        self._login = service.factors.passkey_login
        self._own = service.factors.own_passkeys
        self._authenticator = service.authenticator

    def endpoints(self) -> dict[str, Callable[..., Awaitable[Response]]]:
        return {
            "passkey_options": self.login_options,
            "passkey_login": self.login,
            "new_passkey_options": self.new_options,
            "add_passkey": self.add,
            "remove_passkey": self.remove,
            "set_password_login": self.set_password_login,
        }

    async def login_options(self, request: Request) -> Response:
        return success(CeremonyData(self._ceremonies.login_options()), request.language)

    async def login(self, request: Request) -> Response:
        body = await request.fields(PasskeyLoginBody)
        session = await self._login.log_in(msgspec.to_builtins(body.credential), request.client)
        tokens = await self._authenticator.issue(session, request.client, "passkey")
        return tokens_response(tokens, request.language)

    async def new_options(self, request: Request, principal: Principal) -> Response:
        proof = proof_of(await request.fields(ProofBody))
        options = await self._own.options(principal, proof, request.client)
        return success(CeremonyData(options), request.language)

    async def add(self, request: Request, principal: Principal) -> Response:
        body = await request.fields(NewPasskeyBody)
        credential: dict[str, Any] = msgspec.to_builtins(body.credential)
        transports = credential["response"].pop("transports") or []
        passkey = await self._own.register(principal, credential, body.name or "", transports, request.client)
        return success(passkey_data(passkey), request.language)

    async def remove(self, request: Request, principal: Principal) -> Response:
        passkey = request.path_id()
        proof = proof_of(await request.fields(ProofBody))
        await self._own.remove(principal, passkey, proof, request.client)
        return success(language=request.language)

    async def set_password_login(self, request: Request, principal: Principal) -> Response:
        body = await request.fields(PasswordLoginBody)
        await self._own.set_password_login(principal, proof_of(body), request.client, on=body.enabled)
        return success(language=request.language)


def passkey_data(passkey: Passkey) -> PasskeyData:
    used = iso_time(passkey.last_used) if passkey.last_used is not None else None
    return PasskeyData(passkey.id, passkey.name, iso_time(passkey.created), used)


def proof_of(body: ProofBody) -> Proof:
    credential = msgspec.to_builtins(body.credential) if body.credential else None
    return Proof(body.currentPassword, body.code, credential)
