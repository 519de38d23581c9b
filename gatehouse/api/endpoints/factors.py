"""One's own second factor: the authenticator app and the recovery codes; and one's recent logins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.api.contract.factors import (
    EnrolmentCodeBody,
    EnrolmentTicketBody,
    FactorCodeBody,
    FactorProofBody,
    LoginData,
    LoginsData,
    NewTotpData,
    RecoveryCodesData,
    SecondFactorData,
)
from gatehouse.api.contract.passkeys import ProofBody
from gatehouse.api.endpoints.passkeys import passkey_data, proof_of
from gatehouse.api.endpoints.times import iso_time
from gatehouse.api.http.response import Response, success

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from gatehouse.api.http.request import Request
    from gatehouse.auth.principal import Principal
    from gatehouse.composition import Service
    from gatehouse.stores.database.users import User


async def second_factor_data(service: Service, user: User) -> SecondFactorData:
    status = await service.factors.enrolment.status(user.id)
    return SecondFactorData(
        totp=status.totp,
        passkeys=[passkey_data(each) for each in await service.factors.own_passkeys.all(user.id)],
        recoveryCodesLeft=status.recovery_codes_left,
        passwordLogin=await service.factor_administration.password_login(user.username),
    )


class FactorEndpoints:
    def __init__(self, service: Service) -> None:
        self._service = service
        self._enrolment = service.factors.enrolment
        self._login_history = service.login_history
        self._forced = service.factors.forced_enrolment

    def endpoints(self) -> dict[str, Callable[..., Awaitable[Response]]]:
        return {
            "begin_enrolment": self.begin_enrolment,
            "confirm_enrolment": self.confirm_enrolment,
            "logins": self.logins,
            "second_factor": self.second_factor,
            "begin_totp": self.begin_totp,
            "confirm_totp": self.confirm_totp,
            "end_totp": self.end_totp,
            "renew_recovery_codes": self.renew_recovery_codes,
        }

    async def second_factor(self, request: Request, principal: Principal) -> Response:
        data = await second_factor_data(self._service, principal.profile.user)
        return success(data, request.language)

    async def logins(self, request: Request, principal: Principal) -> Response:
        recent = await self._login_history.recent(principal.claims.user)
        listed = [
            LoginData(
                iso_time(each.at), each.address, each.browser, each.factor, each.session, each.active, each.new_place
            )
            for each in recent
        ]
        return success(LoginsData(listed), request.language)

    async def begin_totp(self, request: Request, principal: Principal) -> Response:
        proof = proof_of(await request.fields(ProofBody))
        new = await self._enrolment.begin(principal, proof, request.client)
        return success(NewTotpData(new.secret, new.uri, qr_picture(new.uri)), request.language)

    async def confirm_totp(self, request: Request, principal: Principal) -> Response:
        body = await request.fields(FactorCodeBody)
        user, session = principal.claims.user, principal.claims.session
        codes = await self._enrolment.confirm(user, body.code, request.client, session)
        return success(RecoveryCodesData(codes), request.language)

    async def end_totp(self, request: Request, principal: Principal) -> Response:
        body = await request.fields(FactorProofBody)
        await self._enrolment.end(principal, body.currentPassword, body.code, request.client)
        return success(language=request.language)

    async def renew_recovery_codes(self, request: Request, principal: Principal) -> Response:
        body = await request.fields(FactorProofBody)
        codes = await self._enrolment.renew_recovery_codes(principal, body.currentPassword, body.code, request.client)
        return success(RecoveryCodesData(codes), request.language)

    async def begin_enrolment(self, request: Request) -> Response:
        body = await request.fields(EnrolmentTicketBody)
        new = await self._forced.begin(body.ticket, request.client)
        return success(NewTotpData(new.secret, new.uri, qr_picture(new.uri)), request.language)

    async def confirm_enrolment(self, request: Request) -> Response:
        body = await request.fields(EnrolmentCodeBody)
        codes = await self._forced.confirm(body.ticket, body.code, request.client)
        return success(RecoveryCodesData(codes), request.language)


def qr_picture(text: str) -> str:
    """A QR code as a data URI, black on white in every theme: phones read nothing else reliably."""
    import segno  # noqa: PLC0415 - only an enrolment needs it

    return str(segno.make(text, error="m", micro=False).svg_data_uri(scale=4, border=4, dark="#000", light="#fff"))
