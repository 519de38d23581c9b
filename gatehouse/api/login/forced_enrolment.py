"""Enrolling an authenticator app for those who must have a second factor before they can log in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from gatehouse.api.http.response import Response, success
from gatehouse.api.login.credential_types import OtpCode
from gatehouse.api.operation_declaration import Limit, Operation
from gatehouse.auth import refusals

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.composition import Service

Ticket = Annotated[str, Meta(min_length=1, max_length=1024, description="From the header `Enrolment-Ticket`.")]


class EnrolmentTicketBody(Struct):
    ticket: Ticket


class EnrolmentCodeBody(Struct):
    ticket: Ticket
    code: OtpCode


class NewTotpData(Struct):
    """Shown once. Nothing is on until `PUT` has presented a code."""

    secret: Annotated[str, Meta(description="Base32, to type into an app that cannot read the QR code.")]
    uri: Annotated[str, Meta(description="otpauth://, what the QR code holds.")]
    qrCode: Annotated[str, Meta(description="The QR code as a data URI: an SVG picture.")]


class RecoveryCodesData(Struct):
    recoveryCodes: Annotated[list[str], Meta(description="Shown once, each good once.")]


class ForcedEnrolmentEndpoints:
    def __init__(self, service: Service) -> None:
        self._forced = service.factors.forced_enrolment

    @Operation(
        "POST",
        "/api/v1/auth/enrolment",
        "Begin to enrol an authenticator app with the ticket of a refused login",
        public=True,
        body=EnrolmentTicketBody,
        data=NewTotpData,
        limits=(Limit.LOGIN_ADDRESS,),
        refusals=(refusals.TicketGone, refusals.AlreadyEnrolled),
    )
    async def begin_enrolment(self, request: Request) -> Response:
        body = await request.fields(EnrolmentTicketBody)
        new = await self._forced.begin(body.ticket, request.client)
        return success(NewTotpData(new.secret, new.uri, qr_picture(new.uri)), request.language)

    @Operation(
        "PUT",
        "/api/v1/auth/enrolment",
        "Switch the authenticator app on; the next login takes its code",
        public=True,
        body=EnrolmentCodeBody,
        data=RecoveryCodesData,
        limits=(Limit.LOGIN_ADDRESS,),
        refusals=(refusals.TicketGone, refusals.SecondFactorCodeWrong, refusals.EnrolmentVoid, refusals.NoSuchFactor),
    )
    async def confirm_enrolment(self, request: Request) -> Response:
        body = await request.fields(EnrolmentCodeBody)
        codes = await self._forced.confirm(body.ticket, body.code, request.client)
        return success(RecoveryCodesData(codes), request.language)


def qr_picture(text: str) -> str:
    """A QR code as a data URI, black on white in every theme: phones read nothing else reliably."""
    import segno  # noqa: PLC0415 - only an enrolment needs it

    return str(segno.make(text, error="m", micro=False).svg_data_uri(scale=4, border=4, dark="#000", light="#fff"))
