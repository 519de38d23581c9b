"""A pipelined connection to one Redis server, with a timeout on every command and automatic reconnection.

Commands of one iteration of the event loop are sent in one write and answered in order, so a hundred requests at once
cost one system call each way. redis-py spends more CPU on one command than the whole request costs; this file hands
bytes to hiredis and does little else.

A server that does not answer within a second is dropped: every pending call fails with `StoreUnavailable`, and the
connection is reopened with backoff. Meanwhile calls wait for an attempt that is under way, and fail at once between
two attempts. A command is never sent twice: after a lost answer its outcome is unknown, so the caller gets the error.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import hiredis

from gatehouse.stores.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from ssl import SSLContext

Argument = str | bytes | int | float

# A server is dropped if commands of four ticks ago are still without an answer.
TICK_SECONDS = 0.2
TIMEOUT_TICKS = 4
CONNECT_SECONDS = 1.0
RECONNECT_BACKOFF_SECONDS = (0.05, 0.1, 0.2, 0.4)
# Beyond this many commands under way the server is not keeping up: refuse, rather than answer late.
PENDING_LIMIT = 20_000

# Errors of a server that is no longer the primary.
NO_PRIMARY = {"READONLY", "MASTERDOWN"}

_INCOMPLETE = object()


class Address(NamedTuple):
    host: str
    port: int


class ServerError(StoreUnavailable):
    """An error reply of the server; `kind` is its first word (MOVED, READONLY)."""

    def __init__(self, text: str) -> None:
        super().__init__(f"state server: {text}")
        self.kind, _, self.rest = text.partition(" ")


class Connection(asyncio.Protocol):
    """One open connection. When it is lost, every pending call fails and it is not used again."""

    def __init__(self, lost: Callable[[Connection], None]) -> None:
        self._lost = lost
        self._reader = hiredis.Reader(notEnoughData=_INCOMPLETE)
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._outgoing: list[bytes] = []
        self._pending: deque[asyncio.Future[Any]] = deque()
        self._sent = 0
        # How many commands had been sent at each of the last ticks.
        self._sent_at_ticks: deque[int] = deque(maxlen=TIMEOUT_TICKS)
        self._timer: asyncio.TimerHandle | None = None

    def call(self, arguments: Sequence[Argument]) -> asyncio.Future[Any]:
        future: asyncio.Future[Any] = self._loop.create_future()
        if self._transport is None or len(self._pending) >= PENDING_LIMIT:
            future.set_exception(StoreUnavailable("state server: the connection is lost or overloaded"))
            return future
        if not self._outgoing:
            self._loop.call_soon(self._flush)
        self._outgoing.append(hiredis.pack_command(tuple(arguments)))  # type: ignore[arg-type]  # its stub takes one
        self._pending.append(future)
        self._sent += 1
        return future

    def _flush(self) -> None:
        if self._transport is None:
            return
        self._transport.write(b"".join(self._outgoing))
        self._outgoing.clear()
        if self._timer is None:
            self._timer = self._loop.call_later(TICK_SECONDS, self._tick)

    def _tick(self) -> None:
        """Compare the answers with what had been sent some ticks ago: no clock to read for each command."""
        self._timer = None
        answered = self._sent - len(self._pending)
        if len(self._sent_at_ticks) == TIMEOUT_TICKS and answered < self._sent_at_ticks[0]:
            self.abort()
            return
        if not self._pending:
            self._sent_at_ticks.clear()
            return
        self._sent_at_ticks.append(self._sent)
        self._timer = self._loop.call_later(TICK_SECONDS, self._tick)

    @property
    def lost(self) -> bool:
        return self._transport is None

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()
        self.connection_lost(None)

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        try:
            self._reader.feed(data)
            while (reply := self._reader.gets()) is not _INCOMPLETE:
                future = self._pending.popleft()
                if future.done():
                    continue  # the caller went away
                if isinstance(reply, hiredis.ReplyError):
                    self._fail(future, ServerError(str(reply)))
                else:
                    future.set_result(reply)
        except (hiredis.HiredisError, IndexError):
            self.abort()  # not the Redis protocol

    def _fail(self, future: asyncio.Future[Any], error: ServerError) -> None:
        future.set_exception(error)
        if error.kind in NO_PRIMARY:
            self._loop.call_soon(self.abort)  # no longer the primary: find the new one

    def connection_lost(self, exc: Exception | None) -> None:
        if self._transport is None:
            return
        self._transport = None
        if self._timer is not None:
            self._timer.cancel()
        reason = f"state server: {type(exc).__name__ if exc else 'no answer'}"
        while self._pending:
            future = self._pending.popleft()
            if not future.done():
                future.set_exception(StoreUnavailable(reason))
        self._lost(self)


class ReconnectingConnection:
    """Keeps a `Connection` open to the server that `find` returns; `handshake` is sent first (AUTH, SELECT, ROLE)."""

    def __init__(
        self,
        find: Callable[[], Awaitable[Address]],
        handshake: Sequence[Sequence[Argument]] = (),
        tls: SSLContext | None = None,
    ) -> None:
        self._find = find
        self._handshake = handshake
        self._tls = tls
        self._current: Connection | None = None
        self._attempt: asyncio.Future[Connection] | None = None
        self._reconnecting: asyncio.Task[None] | None = None
        self._closed = False

    def call(self, *arguments: Argument) -> asyncio.Future[Any]:
        if self._current is not None:
            return self._current.call(arguments)
        return asyncio.ensure_future(self._call_when_open(arguments))

    async def close(self) -> None:
        self._closed = True
        if self._reconnecting is not None:
            self._reconnecting.cancel()
            await asyncio.gather(self._reconnecting, return_exceptions=True)
        if self._current is not None:
            self._current.abort()

    async def _call_when_open(self, arguments: Sequence[Argument]) -> Any:
        if self._attempt is None:
            self._reconnect()
        if self._attempt is None:
            raise StoreUnavailable("state server: closed")
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                connection = await asyncio.shield(self._attempt)
        except TimeoutError:
            raise StoreUnavailable("state server: no connection") from None
        return await connection.call(arguments)

    def _reconnect(self) -> None:
        if not self._closed:
            self._attempt = asyncio.get_running_loop().create_future()
            self._reconnecting = asyncio.create_task(self._reconnect_forever())

    async def _reconnect_forever(self) -> None:
        tries = 0
        while True:
            attempt = self._attempt or asyncio.get_running_loop().create_future()
            try:
                connection = await self._open()
            except (OSError, StoreUnavailable, TimeoutError) as problem:
                # Until the next try the failed attempt stays in place, so calls fail at once.
                attempt.set_exception(StoreUnavailable(f"state server: {problem or type(problem).__name__}"))
                attempt.exception()  # marks it as retrieved, in case no caller waits
                await asyncio.sleep(RECONNECT_BACKOFF_SECONDS[min(tries, len(RECONNECT_BACKOFF_SECONDS) - 1)])
                self._attempt = asyncio.get_running_loop().create_future()
                tries += 1
            else:
                self._current = connection
                attempt.set_result(connection)
                return

    async def _open(self) -> Connection:
        async with asyncio.timeout(CONNECT_SECONDS):
            address = await self._find()
            _, connection = await asyncio.get_running_loop().create_connection(
                lambda: Connection(self._on_lost), address.host, address.port, ssl=self._tls
            )
            try:
                answers = await asyncio.gather(*(connection.call(arguments) for arguments in self._handshake))
                if any(isinstance(answer, list) and answer[0] == b"slave" for answer in answers):
                    raise StoreUnavailable("this server is a replica")
                if connection.lost:  # as early as that by a server with too many clients
                    raise StoreUnavailable("the server closed the connection")
            except BaseException:
                connection.abort()
                raise
        return connection

    def _on_lost(self, connection: Connection) -> None:
        if connection is self._current:
            self._current = None
            self._attempt = None
            self._reconnect()
