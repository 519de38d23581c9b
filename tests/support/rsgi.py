"""The server's side of RSGI: what granian hands to the application for each request, made by hand.

The application runs in the test's own process, and what it answers is kept in order: the head, pieces of the body,
the end.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from queue import SimpleQueue
from typing import NamedTuple

from gatehouse.api.http.rsgi import ProtocolClosed

PIECE = 64 * 1024


class Headers:
    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        self._pairs = pairs

    def get(self, name: str) -> str | None:
        return next((value for key, value in self._pairs if key == name), None)

    def get_all(self, name: str) -> list[str]:
        return [value for key, value in self._pairs if key == name]


class Scope(NamedTuple):
    method: str
    path: str
    query_string: str
    client: str
    headers: Headers


class Head(NamedTuple):
    status: int
    headers: list[tuple[str, str]]


class Protocol:
    """The body as it comes in, and the answer as it goes out. `None` in `sent` is the end."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self._gone = asyncio.Event()
        self.sent: SimpleQueue[Head | bytes | Exception | None] = SimpleQueue()

    async def __call__(self) -> bytes:
        return self._body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for start in range(0, len(self._body), PIECE):
            yield self._body[start : start + PIECE]

    def response_bytes(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        self.sent.put(Head(status, headers))
        self.sent.put(body)

    def response_stream(self, status: int, headers: list[tuple[str, str]]) -> Protocol:
        self.sent.put(Head(status, headers))
        return self

    async def send_bytes(self, piece: bytes) -> None:
        if self._gone.is_set():
            raise ProtocolClosed
        self.sent.put(piece)

    async def send_str(self, piece: str) -> None:
        await self.send_bytes(piece.encode())

    async def client_disconnect(self) -> None:
        await self._gone.wait()

    def disconnect(self) -> None:
        """The client is gone. To be called in the application's loop."""
        self._gone.set()
