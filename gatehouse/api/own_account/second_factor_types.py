"""One's own second factor: bodies, data and the rows of the table."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from gatehouse.api.login.schemas import OtpCode, Password  # noqa: TC001 - msgspec reads the types
from gatehouse.api.operation import PREFIX, STORE_REFUSALS, Group, Limit, Operation
from gatehouse.api.own_account.passkey_types import PROOF_REFUSALS, PasskeyData, ProofBody
from gatehouse.auth import refusals


class FactorCodeBody(Struct):
    code: OtpCode


class FactorProofBody(Struct):
    currentPassword: Password
    code: OtpCode


Ticket = Annotated[str, Meta(min_length=1, max_length=1024, description="From the header `Enrolment-Ticket`.")]


class EnrolmentTicketBody(Struct):
    ticket: Ticket


class EnrolmentCodeBody(Struct):
    ticket: Ticket
    code: OtpCode


class SecondFactorData(Struct):
    totp: bool
    passkeys: list[PasskeyData]
    recoveryCodesLeft: int
    passwordLogin: bool  # off: only a passkey logs in


class NewTotpData(Struct):
    """Shown once. Nothing is on until `PUT` has presented a code."""

    secret: Annotated[str, Meta(description="Base32, to type into an app that cannot read the QR code.")]
    uri: Annotated[str, Meta(description="otpauth://, what the QR code holds.")]
    qrCode: Annotated[str, Meta(description="The QR code as a data URI: an SVG picture.")]


class RecoveryCodesData(Struct):
    recoveryCodes: Annotated[list[str], Meta(description="Shown once, each good once.")]


class LoginData(Struct):
    """`factor` is what was shown beside the password, or instead of it; `session` ends it, while it is `active`."""

    at: str
    address: str
    browser: str
    factor: str
    session: str
    active: bool
    newPlace: bool


class LoginsData(Struct):
    logins: list[LoginData]


_CODE_REFUSALS = (
    refusals.CredentialsWrong,
    refusals.SecondFactorCodeWrong,
    refusals.NoSuchFactor,
    refusals.TooBusy,
    *STORE_REFUSALS,
)

# For those who must have a second factor before they can log in.
AUTH = (
    Operation(
        "begin_enrolment",
        "POST",
        f"{PREFIX}/auth/enrolment",
        "Begin to enrol an authenticator app with the ticket of a refused login",
        Group.AUTH,
        body=EnrolmentTicketBody,
        body_required=True,
        data=NewTotpData,
        limits=(Limit.LOGIN_ADDRESS,),
        refusals=(refusals.TicketGone, refusals.AlreadyEnrolled, *STORE_REFUSALS),
    ),
    Operation(
        "confirm_enrolment",
        "PUT",
        f"{PREFIX}/auth/enrolment",
        "Switch the authenticator app on; the next login takes its code",
        Group.AUTH,
        body=EnrolmentCodeBody,
        body_required=True,
        data=RecoveryCodesData,
        limits=(Limit.LOGIN_ADDRESS,),
        refusals=(
            refusals.TicketGone,
            refusals.SecondFactorCodeWrong,
            refusals.EnrolmentVoid,
            refusals.NoSuchFactor,
            *STORE_REFUSALS,
        ),
    ),
)

OWN_ACCOUNT = (
    Operation(
        "second_factor",
        "GET",
        f"{PREFIX}/users/me/second-factor",
        "The caller's second factors",
        Group.OWN_ACCOUNT,
        data=SecondFactorData,
        requires_token=True,
        refusals=STORE_REFUSALS,
    ),
    Operation(
        "logins",
        "GET",
        f"{PREFIX}/users/me/logins",
        "The caller's last 50 logins, newest first; those from a place never seen before are marked",
        Group.OWN_ACCOUNT,
        data=LoginsData,
        requires_token=True,
        refusals=STORE_REFUSALS,
    ),
    Operation(
        "begin_totp",
        "POST",
        f"{PREFIX}/users/me/totp",
        "Begin to enrol an authenticator app",
        Group.OWN_ACCOUNT,
        body=ProofBody,
        data=NewTotpData,
        requires_token=True,
        limits=(Limit.LOGIN_NAME,),
        refusals=(refusals.AlreadyEnrolled, *PROOF_REFUSALS),
    ),
    Operation(
        "confirm_totp",
        "PUT",
        f"{PREFIX}/users/me/totp",
        "Switch the authenticator app on with its first code",
        Group.OWN_ACCOUNT,
        body=FactorCodeBody,
        body_required=True,
        data=RecoveryCodesData,
        requires_token=True,
        refusals=(refusals.SecondFactorCodeWrong, refusals.EnrolmentVoid, refusals.NoSuchFactor, *STORE_REFUSALS),
    ),
    Operation(
        "end_totp",
        "DELETE",
        f"{PREFIX}/users/me/totp",
        "Remove the authenticator app and the recovery codes",
        Group.OWN_ACCOUNT,
        body=FactorProofBody,
        body_required=True,
        requires_token=True,
        limits=(Limit.LOGIN_NAME,),
        refusals=_CODE_REFUSALS,
    ),
    Operation(
        "renew_recovery_codes",
        "POST",
        f"{PREFIX}/users/me/recovery-codes",
        "Ten new recovery codes in place of all old ones",
        Group.OWN_ACCOUNT,
        body=FactorProofBody,
        body_required=True,
        data=RecoveryCodesData,
        requires_token=True,
        limits=(Limit.LOGIN_NAME,),
        refusals=_CODE_REFUSALS,
    ),
)
