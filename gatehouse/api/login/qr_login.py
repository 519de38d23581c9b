"""Login by QR code: the browser that shows it, and the phone that confirms it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from gatehouse.api.http.response import Response, success
from gatehouse.api.login.token_data import TokenData, tokens_response
from gatehouse.api.operation_declaration import Limit, Operation
from gatehouse.api.time_format import iso_time
from gatehouse.auth import refusals
from gatehouse.auth.login.qr_login import TICKET_SECONDS
from gatehouse.common.user_agent import browser

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.auth.principal import Principal
    from gatehouse.composition import Service

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


class QrLoginEndpoints:
    def __init__(self, service: Service) -> None:
        self._qr = service.login.qr
        self._company = service.login.company
        self._entry = service.sign_in.console_entry
        self._authenticator = service.authenticator
        self._default_avatar = service.settings.avatar_url

    @Operation(
        "POST",
        "/api/v1/auth/qr-code/generate",
        "A ticket to show as a QR code",
        public=True,
        data=NewQrTicketData,
        limits=(Limit.CAPTCHA_ADDRESS,),
        without_stores=True,
    )
    async def qr_generate(self, request: Request) -> Response:
        client = request.client
        ticket = self._qr.generate(client, browser(client.user_agent))
        return success(NewQrTicketData(ticket, TICKET_SECONDS), request.language)

    @Operation(
        "GET",
        "/api/v1/auth/qr-code/status",
        "What has become of the ticket, for the browser that made it",
        public=True,
        query=QrTicketQuery,
        data=QrStatusData,
        refusals=(refusals.FieldMissing,),
    )
    async def qr_status(self, request: Request) -> Response:
        ticket = request.query_as(QrTicketQuery).ticket
        found = await self._qr.status(ticket, request.client)
        user = found.user.user if found.user else None
        data = QrStatusData(
            ticket=ticket,
            status=found.status,
            expireSeconds=found.seconds,
            nickname=user.nickname if user else None,
            avatar=(user.avatar or self._default_avatar) if user else None,
        )
        return success(data, request.language)

    @Operation(
        "POST",
        "/api/v1/auth/qr-code/login",
        "Exchange a confirmed ticket for tokens, once, by the browser that made it",
        description="Also the ticket that a browser brings from a login with a provider (`/login/{name}`), or from "
        "our own page (`/oauth2/enter`).",
        public=True,
        body=QrTicketBody,
        data=TokenData,
        limits=(Limit.LOGIN_ADDRESS,),
        refusals=(refusals.TicketGone, refusals.CredentialsWrong),
    )
    async def qr_login(self, request: Request) -> Response:
        body = await request.fields(QrTicketBody)
        factor: str | None = "qr"
        if self._company.knows(body.ticket):
            session, factor = await self._company.exchange(body.ticket, request.client)
        elif self._entry.knows(body.ticket):
            session, factor = await self._entry.exchange(body.ticket, request.client), "sso"
        else:
            session = await self._qr.exchange(body.ticket, request.client)
        tokens = await self._authenticator.issue(session, request.client, factor)
        return tokens_response(tokens, request.language)

    @Operation(
        "POST",
        "/api/v1/auth/qr-code/scan",
        "On the phone: which browser asks to be logged in",
        body=QrTicketBody,
        data=QrRequestData,
        limits=(Limit.LOGIN_ADDRESS,),
        refusals=(refusals.TicketGone,),
    )
    async def qr_scan(self, request: Request, principal: Principal) -> Response:
        body = await request.fields(QrTicketBody)
        asked = await self._qr.scan(body.ticket, principal, request.client)
        return success(QrRequestData(asked.browser, asked.address, iso_time(asked.asked)), request.language)

    @Operation(
        "POST",
        "/api/v1/auth/qr-code/confirm",
        "On the phone: log that browser in as the caller",
        body=QrTicketBody,
        limits=(Limit.LOGIN_ADDRESS,),
        refusals=(refusals.TicketGone,),
    )
    async def qr_confirm(self, request: Request, principal: Principal) -> Response:
        body = await request.fields(QrTicketBody)
        await self._qr.confirm(body.ticket, principal, request.client)
        return success(language=request.language)

    @Operation(
        "POST",
        "/api/v1/auth/qr-code/refuse",
        "On the phone: refuse it",
        body=QrTicketBody,
        limits=(Limit.LOGIN_ADDRESS,),
        refusals=(refusals.TicketGone,),
    )
    async def qr_refuse(self, request: Request, principal: Principal) -> Response:
        body = await request.fields(QrTicketBody)
        await self._qr.refuse(body.ticket, principal, request.client)
        return success(language=request.language)
