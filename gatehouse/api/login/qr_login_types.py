"""Login by QR code: what the console's login page calls, and what our own page on the phone does."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from gatehouse.api.login.schemas import TokenData
from gatehouse.api.operation import PREFIX, STORE_REFUSALS, Group, Limit, Operation
from gatehouse.auth import refusals

QrTicket = Annotated[
    str, Meta(min_length=1, max_length=1024, description="The URL that the QR code shows, or its ticket alone.")
]


class QrTicketBody(Struct):
    ticket: QrTicket


class QrTicketQuery(Struct):
    ticket: QrTicket


class NewQrTicketData(Struct):
    ticket: Annotated[str, Meta(description="A URL of this service, to be drawn as it is.")]
    expireSeconds: int


class QrStatusData(Struct):
    """`status` is WAITING, SCANNED, CONFIRMED, LOGGED_IN, CANCELED or EXPIRED; the user who scanned it if known."""

    ticket: str
    status: str
    expireSeconds: int
    nickname: str | None = None
    avatar: str | None = None


class QrRequestData(Struct):
    """The browser that asks to be logged in."""

    browser: str
    address: str
    askedAt: str


_REFUSALS = (refusals.TicketGone, *STORE_REFUSALS)

AUTH = (
    Operation(
        "qr_generate",
        "POST",
        f"{PREFIX}/auth/qr-code/generate",
        "A ticket to show as a QR code",
        Group.AUTH,
        data=NewQrTicketData,
        limits=(Limit.CAPTCHA_ADDRESS,),
    ),
    Operation(
        "qr_status",
        "GET",
        f"{PREFIX}/auth/qr-code/status",
        "What has become of the ticket, for the browser that made it",
        Group.AUTH,
        query=QrTicketQuery,
        data=QrStatusData,
        refusals=(refusals.FieldMissing, *STORE_REFUSALS),
    ),
    Operation(
        "qr_login",
        "POST",
        f"{PREFIX}/auth/qr-code/login",
        "Exchange a confirmed ticket for tokens, once, by the browser that made it",
        Group.AUTH,
        body=QrTicketBody,
        body_required=True,
        data=TokenData,
        limits=(Limit.LOGIN_ADDRESS,),
        refusals=(refusals.TicketGone, refusals.CredentialsWrong, *STORE_REFUSALS),
    ),
    Operation(
        "qr_scan",
        "POST",
        f"{PREFIX}/auth/qr-code/scan",
        "On the phone: which browser asks to be logged in",
        Group.AUTH,
        data=QrRequestData,
        body=QrTicketBody,
        body_required=True,
        requires_token=True,
        limits=(Limit.LOGIN_ADDRESS,),
        refusals=_REFUSALS,
    ),
    Operation(
        "qr_confirm",
        "POST",
        f"{PREFIX}/auth/qr-code/confirm",
        "On the phone: log that browser in as the caller",
        Group.AUTH,
        body=QrTicketBody,
        body_required=True,
        requires_token=True,
        limits=(Limit.LOGIN_ADDRESS,),
        refusals=_REFUSALS,
    ),
    Operation(
        "qr_refuse",
        "POST",
        f"{PREFIX}/auth/qr-code/refuse",
        "On the phone: refuse it",
        Group.AUTH,
        body=QrTicketBody,
        body_required=True,
        requires_token=True,
        limits=(Limit.LOGIN_ADDRESS,),
        refusals=_REFUSALS,
    ),
)
