"""Servers that misbehave, and one in between that counts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Listener:
    """Counts who comes. `handle` answers; without it, nobody ever does."""

    def __init__(self, handle: Handler | None = None, ssl: Any = None) -> None:
        self.connections = 0
        self.most_open = 0
        self._handle = handle
        self._ssl = ssl
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def port(self) -> int:
        assert self._server is not None
        return int(self._server.sockets[0].getsockname()[1])

    async def __aenter__(self) -> Any:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._ssl)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        await self.drop()

    async def is_waiting(self) -> bool:
        """Somebody is connected."""
        return bool(self._tasks)

    async def drop(self) -> None:
        """Close what is open."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.most_open = max(self.most_open, self._open_now())
        try:
            await (self._handle(reader, writer) if self._handle else asyncio.Event().wait())
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()
            self._tasks.discard(task)

    def _open_now(self) -> int:
        """Connections to it that their owner has not closed."""
        rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
        return sum(row[2].endswith(f":{self.port:04X}") and row[3] == "01" for row in rows)


@asynccontextmanager
async def listener(handle: Handler | None = None, ssl: Any = None) -> AsyncIterator[Listener]:
    async with Listener(handle, ssl) as server:
        yield server


def saying(answer: bytes) -> Handler:
    """Answers whatever comes with the same bytes, and closes."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1024)
        writer.write(answer)
        await writer.drain()

    return handle


class Relay(Listener):
    """In front of a server. While `open` is not set, nothing goes through; `cut` closes what is connected."""

    def __init__(self, port: int) -> None:
        super().__init__(self._relay)
        self._port = port
        self.upward = 0  # bytes to the server
        self.open = asyncio.Event()
        self.open.set()
        self._held = 0
        self._writers: list[asyncio.StreamWriter] = []

    async def holds(self) -> bool:
        return self._held > 0

    def cut(self) -> None:
        while self._writers:
            self._writers.pop().transport.abort()

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", self._port)
        self._writers += [writer, inner_writer]
        try:
            await asyncio.gather(self._pipe(reader, inner_writer, up=True), self._pipe(inner_reader, writer, up=False))
        finally:
            inner_writer.close()

    async def _pipe(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, *, up: bool) -> None:
        while data := await source.read(65536):
            self._held += 1
            await self.open.wait()
            self._held -= 1
            self.upward += len(data) if up else 0
            sink.write(data)
        sink.close()
