"""For services with a service key: which sessions have ended. A stream of events, and poll delivery (RFC 8936).

The stream has three events, each with its position as `id`:

    event: ended      data: {"sid": ..., "sub": ..., "at": ..., "reason": ...}
    event: position   data: {"at": ..., "keep": ...}   everything before it was sent; comes every second
    event: gap        data: {"missing_before": ...}    sessions that ended before this time may be missing
"""

from __future__ import annotations

import re
from time import monotonic
from typing import TYPE_CHECKING

import msgspec

from gatehouse.api.error_catalogue import BodyTooLarge, BodyUnreadable
from gatehouse.api.http.response import EVENT_STREAM, Response, Stream, raw_response
from gatehouse.api.other_services.introspection import bad_request, service_key, unknown_service
from gatehouse.api.resource_declaration import Resource
from gatehouse.auth.sessions.ended_sessions_feed import PAGE_SIZE, wait_for
from gatehouse.common.clock_skew import CLOCK_SKEW_SECONDS

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from gatehouse.api.http.request import Request
    from gatehouse.api.http.rsgi import HTTPProtocol, Transport
    from gatehouse.auth.sessions.ended_sessions_feed import FeedPage
    from gatehouse.composition import Service

HEARTBEAT_SECONDS = 1.0
# A listener whose service key is revoked is cut off after this long at the latest.
KEY_CHECK_SECONDS = 15.0
# Less than the time that requests in flight have when the service stops.
MAX_POLL_SECONDS = 8.0
MAX_EVENTS = 500
OLDEST = "oldest"

_POSITION = re.compile(r"[0-9a-f:-]{0,64}")
_encode = msgspec.json.Encoder().encode


class PollRequest(msgspec.Struct, rename="camel"):
    max_events: int = MAX_EVENTS
    return_immediately: bool = False
    ack: list[str] = []
    set_errs: dict[str, msgspec.Raw] = {}


class EndedSessionsEndpoints:
    def __init__(self, service: Service) -> None:
        self._feed = service.feeds.ended_sessions
        self._delivery = service.feeds.event_delivery
        self._service_keys = service.service_keys
        self._clock = service.clock
        self._longest_token_life = service.feeds.longest_token_life

    @Resource("/events/ended-sessions/stream", ("GET",))
    async def ended_sessions(self, request: Request) -> Response:
        key = service_key(request)
        if await self._service_keys.owner(key) is None:
            return unknown_service("events")
        after = request.header("last-event-id") or next(iter(request.query("after")), "")
        if after != OLDEST and not _POSITION.fullmatch(after):
            return bad_request()
        position = None if after == OLDEST else after or await self._feed.newest_position()
        self._feed.require_listener_slot()  # refused here, with a status, and not when the stream has begun

        async def send(transport: Transport, _protocol: HTTPProtocol) -> None:
            with self._feed.listening():
                async for chunk in self._follow(position, key):
                    await transport.send_bytes(chunk)

        return Stream(EVENT_STREAM, send)

    async def _follow(self, position: str | None, key: str | None) -> AsyncGenerator[bytes, None]:
        """Until the worker stops, or the state cannot be read: a listener without events knows its feed is stale."""
        checked = monotonic()
        yield b"retry: 500\n\n"
        while not self._feed.stopping.is_set():
            change = self._feed.change
            at = self._clock()
            page = await self._feed.read(position)
            if position is None and page.missing_before is None:
                page = page._replace(missing_before=self._longest_token_life.unknown_before())
            more = len(page.entries) == PAGE_SIZE
            position = page.position
            yield _events(page, None if more else {"at": at, "keep": self._kept_seconds()})
            if monotonic() > checked + KEY_CHECK_SECONDS:
                checked = monotonic()
                if await self._service_keys.owner(key) is None:
                    return
            if not more:
                await wait_for(change, HEARTBEAT_SECONDS)

    def _kept_seconds(self) -> int:
        """For this long after its end a session may still have tokens that have not expired."""
        return self._longest_token_life.seconds + CLOCK_SKEW_SECONDS

    @Resource("/events/poll", ("POST",))
    async def poll_events(self, request: Request) -> Response:
        owner = await self._service_keys.owner(service_key(request))
        if owner is None:
            return unknown_service("events")
        try:
            asked = msgspec.json.decode(await request.body() or b"{}", type=PollRequest)
        except (BodyUnreadable, BodyTooLarge, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return bad_request()
        if asked.max_events < 0:
            return bad_request()
        delivery = await self._delivery.poll(
            owner.id,
            {*asked.ack, *asked.set_errs},
            min(asked.max_events, MAX_EVENTS),
            0.0 if asked.return_immediately else MAX_POLL_SECONDS,
        )
        return raw_response(
            _encode({"sets": delivery.tokens, "moreAvailable": delivery.more_available}), "application/json"
        )


def _events(page: FeedPage, caught_up: dict[str, float] | None) -> bytes:
    feed_id = page.position.partition(":")[0]
    events = []
    if page.missing_before is not None:
        events.append(_event("gap", f"{feed_id}:", {"missing_before": page.missing_before}))
    for entry in page.entries:
        user, _, random_part = entry.session.partition("-")
        if random_part:  # else the entry is about the user, which `poll_events` alone tells
            data = {"sid": entry.session, "sub": user, "at": entry.at, "reason": entry.reason}
            events.append(_event("ended", f"{feed_id}:{entry.position}", data))
    if caught_up is not None:
        events.append(_event("position", page.position, caught_up))
    return b"".join(events)


def _event(name: str, position: str, data: object) -> bytes:
    return f"event: {name}\nid: {position}\ndata: ".encode() + _encode(data) + b"\n\n"
