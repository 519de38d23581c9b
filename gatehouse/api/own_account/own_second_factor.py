"""The caller's second factor: the authenticator app and the recovery codes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from gatehouse.api.http.response import Response, success
from gatehouse.api.login.credential_types import OtpCode, Password
from gatehouse.api.login.forced_enrolment import NewTotpData, RecoveryCodesData, qr_picture
from gatehouse.api.operation_declaration import Limit, Operation
from gatehouse.api.own_account.factor_change_proof import PROOF_REFUSALS, ProofBody, proof_of
from gatehouse.api.own_account.own_passkeys import PasskeyData, passkey_data
from gatehouse.auth import refusals

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.auth.principal import Principal
    from gatehouse.composition import Service
    from gatehouse.stores.database.users import User

_CODE_REFUSALS = (
    refusals.CredentialsWrong,
    refusals.SecondFactorCodeWrong,
    refusals.RecentLoginRequired,
    refusals.NoSuchFactor,
    refusals.TooBusy,
)


class FactorCodeBody(Struct):
    code: OtpCode


class FactorProofBody(Struct):
    code: OtpCode
    currentPassword: Password | None = None  # left out by those who have none


class SecondFactorData(Struct):
    totp: bool
    passkeys: list[PasskeyData]
    recoveryCodesLeft: int
    passwordLogin: bool  # off: only a passkey logs in
    password: Annotated[str, Meta(description="Where it is kept: `here`, in a `directory`, or nowhere: `none`.")]


async def second_factor_data(service: Service, user: User) -> SecondFactorData:
    status = await service.factors.enrolment.status(user.id)
    return SecondFactorData(
        totp=status.totp,
        passkeys=[passkey_data(each) for each in await service.factors.own_passkeys.all(user.id)],
        recoveryCodesLeft=status.recovery_codes_left,
        passwordLogin=await service.management.user_factors.password_login(user.username),
        password=await _password_place(service, user.id),
    )


async def _password_place(service: Service, user: int) -> str:
    if await service.stores.sources.password_identity(user):
        return "directory"
    found = await service.stores.users.credentials_by_id(user)
    return "here" if found and found.user.password_hash else "none"


class SecondFactorEndpoints:
    def __init__(self, service: Service) -> None:
        self._service = service
        self._enrolment = service.factors.enrolment

    @Operation("GET", "/api/v1/users/me/second-factor", "The caller's second factors", data=SecondFactorData)
    async def second_factor(self, request: Request, principal: Principal) -> Response:
        data = await second_factor_data(self._service, principal.profile.user)
        return success(data, request.language)

    @Operation(
        "POST",
        "/api/v1/users/me/totp",
        "Begin to enrol an authenticator app",
        body=ProofBody,
        data=NewTotpData,
        limits=(Limit.LOGIN_NAME,),
        refusals=(refusals.AlreadyEnrolled, *PROOF_REFUSALS),
    )
    async def begin_totp(self, request: Request, principal: Principal) -> Response:
        proof = proof_of(await request.fields(ProofBody))
        new = await self._enrolment.begin(principal, proof, request.client)
        return success(NewTotpData(new.secret, new.uri, qr_picture(new.uri)), request.language)

    @Operation(
        "PUT",
        "/api/v1/users/me/totp",
        "Switch the authenticator app on with its first code",
        body=FactorCodeBody,
        data=RecoveryCodesData,
        refusals=(refusals.SecondFactorCodeWrong, refusals.EnrolmentVoid, refusals.NoSuchFactor),
    )
    async def confirm_totp(self, request: Request, principal: Principal) -> Response:
        body = await request.fields(FactorCodeBody)
        user, session = principal.claims.user, principal.claims.session
        codes = await self._enrolment.confirm(user, body.code, request.client, session)
        return success(RecoveryCodesData(codes), request.language)

    @Operation(
        "DELETE",
        "/api/v1/users/me/totp",
        "Remove the authenticator app and the recovery codes",
        body=FactorProofBody,
        limits=(Limit.LOGIN_NAME,),
        refusals=_CODE_REFUSALS,
    )
    async def end_totp(self, request: Request, principal: Principal) -> Response:
        body = await request.fields(FactorProofBody)
        await self._enrolment.end(principal, body.currentPassword, body.code, request.client)
        return success(language=request.language)

    @Operation(
        "POST",
        "/api/v1/users/me/recovery-codes",
        "Ten new recovery codes in place of all old ones",
        body=FactorProofBody,
        data=RecoveryCodesData,
        limits=(Limit.LOGIN_NAME,),
        refusals=_CODE_REFUSALS,
    )
    async def renew_recovery_codes(self, request: Request, principal: Principal) -> Response:
        body = await request.fields(FactorProofBody)
        codes = await self._enrolment.renew_recovery_codes(principal, body.currentPassword, body.code, request.client)
        return success(RecoveryCodesData(codes), request.language)
