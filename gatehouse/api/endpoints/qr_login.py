"""Login by QR code: the browser that shows it, and the phone that confirms it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.api.contract.qr_login import NewQrTicketData, QrRequestData, QrStatusData, QrTicketBody, QrTicketQuery
from gatehouse.api.endpoints.times import iso_time
from gatehouse.api.endpoints.tokens import tokens_response
from gatehouse.api.http.response import Response, success
from gatehouse.auth.login.qr_login import TICKET_SECONDS
from gatehouse.common.user_agent import browser

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from gatehouse.api.http.request import Request
    from gatehouse.auth.principal import Principal
    from gatehouse.composition import Service


class QrEndpoints:
    def __init__(self, service: Service) -> None:
        self._qr = service.factors.qr_login
        self._authenticator = service.authenticator
        self._default_avatar = service.settings.avatar_url

    def endpoints(self) -> dict[str, Callable[..., Awaitable[Response]]]:
        return {
            "qr_generate": self.generate,
            "qr_status": self.status,
            "qr_login": self.login,
            "qr_scan": self.scan,
            "qr_confirm": self.confirm,
            "qr_refuse": self.refuse,
        }

    async def generate(self, request: Request) -> Response:
        client = request.client
        ticket = self._qr.generate(client, browser(client.user_agent))
        return success(NewQrTicketData(ticket, TICKET_SECONDS), request.language)

    async def status(self, request: Request) -> Response:
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

    async def login(self, request: Request) -> Response:
        body = await request.fields(QrTicketBody)
        session = await self._qr.exchange(body.ticket, request.client)
        tokens = await self._authenticator.issue(session, request.client, "qr")
        return tokens_response(tokens, request.language)

    async def scan(self, request: Request, principal: Principal) -> Response:
        body = await request.fields(QrTicketBody)
        asked = await self._qr.scan(body.ticket, principal, request.client)
        return success(QrRequestData(asked.browser, asked.address, iso_time(asked.asked)), request.language)

    async def confirm(self, request: Request, principal: Principal) -> Response:
        body = await request.fields(QrTicketBody)
        await self._qr.confirm(body.ticket, principal, request.client)
        return success(language=request.language)

    async def refuse(self, request: Request, principal: Principal) -> Response:
        body = await request.fields(QrTicketBody)
        await self._qr.refuse(body.ticket, principal, request.client)
        return success(language=request.language)
