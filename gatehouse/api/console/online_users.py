"""A stream of server-sent events that the console keeps open: how many users are online."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from gatehouse.api.http.response import EVENT_STREAM, Response, Stream
from gatehouse.api.operation_declaration import Operation
from gatehouse.auth import refusals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatehouse.api.http.request import Request
    from gatehouse.api.http.rsgi import HTTPProtocol, Transport
    from gatehouse.auth.principal import Principal
    from gatehouse.composition import Service

POLL_SECONDS = 5.0
# A comment now and then keeps proxies from closing a connection on which nothing happens.
HEARTBEAT = b": still here\n\n"


class OnlineUsersEndpoint:
    def __init__(self, service: Service) -> None:
        self._presence = service.feeds.presence
        self._sessions = service.sessions
        self._clock = service.clock

    @Operation(
        "GET",
        "/api/v1/sse/connect",
        "A stream of events that stays open: `online-count`, how many users have one",
        produces="text/event-stream",
        refusals=(refusals.TooManyRequests, refusals.TooBusy),
    )
    async def online_events(self, _request: Request, principal: Principal) -> Response:
        connected = self._presence.connected(principal.claims.user)
        connected.__enter__()  # may raise, so before the response has begun

        async def send(transport: Transport, protocol: HTTPProtocol) -> None:
            gone, stopping = protocol.client_disconnect(), self._presence.stopping.wait()
            ends = [asyncio.ensure_future(each) for each in (gone, stopping)]
            try:
                await self._send(transport, ends, principal)
            finally:
                for end in ends:
                    end.cancel()
                connected.__exit__(None, None, None)

        return Stream(EVENT_STREAM, send)

    async def _send(self, transport: Transport, ends: Sequence[asyncio.Future[Any]], principal: Principal) -> None:
        """Until the client goes, the session ends or the worker stops.

        Lines end in LF alone: the console parses nothing else.
        """
        claims, sent = principal.claims, -1
        while await self._sessions.live_epoch(claims.session, claims.user, self._clock()) is not None:
            online = await self._presence.count()
            await transport.send_bytes(HEARTBEAT if online == sent else b"event: online-count\ndata: %d\n\n" % online)
            sent = online
            done, _ = await asyncio.wait(ends, timeout=POLL_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if done:
                return
