"""Runs statements on a few connections: the same statement many times over is one round trip and one commit.

What is asked in one iteration of the event loop goes out together, and what is asked while every connection waits for
its commit is collected until one is free. So under load many callers share a commit, and a single one does not wait.

A connection that does not answer in time is dropped: its callers fail with `StoreUnavailable`, and it is reopened
with backoff. While there is none, calls fail at once. No statement is sent twice unless the server has said
that nothing was done: after a lost answer its outcome is unknown, so the caller gets the error.
"""

from __future__ import annotations

import asyncio
from secrets import token_hex
from typing import TYPE_CHECKING, Any, NamedTuple

import asyncpg

from gatehouse.stores.errors import StoreUnavailable
from gatehouse.stores.state.postgres.connection import DRIVER_ERRORS, Connection, driver_url, unavailable

if TYPE_CHECKING:
    from gatehouse.stores.state.postgres.statements import Statement

# Connections of one worker, beside those of the accounts.
CONNECTIONS = 4
BATCH_LIMIT = 256
# Beyond this many waiting calls the server is not keeping up: refuse, rather than answer late.
WAITING_LIMIT = 20_000
# A statement may take ten ticks, and a call may wait for its turn as long.
TICK_SECONDS = 0.2
TIMEOUT_TICKS = 10
RECONNECT_BACKOFF_SECONDS = (0.05, 0.1, 0.2, 0.4)
# The server has rolled the transaction back because of another one: it is safe to retry.
_RETRY = (asyncpg.DeadlockDetectedError, asyncpg.SerializationError)
_RETRIES = 3
# The server is no longer the primary, or the tables were dropped: a new connection finds it and creates them.
_REOPEN = (
    asyncpg.ReadOnlySQLTransactionError,
    asyncpg.UndefinedFunctionError,
    asyncpg.UndefinedTableError,
    asyncpg.InvalidSchemaNameError,
)


class _Call(NamedTuple):
    values: tuple[Any, ...]
    future: asyncio.Future[list[Any]]
    tick: int


class Pool:
    def __init__(self, url: str) -> None:
        """Raises `ValueError` if the URL cannot be read. Connects when it is first asked."""
        self._url = driver_url(url)
        self._name = f"gatehouse-state-{token_hex(4)}"
        self._idle: list[Connection] = []
        self._busy: set[Connection] = set()
        self._abandoned: list[int] = []
        self._waiting: dict[Statement, list[_Call]] = {}
        self._waiting_count = 0
        self._down: StoreUnavailable | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._opening: asyncio.Task[None] | None = None
        self._dispatching = False
        self._timer: asyncio.TimerHandle | None = None
        self._tick = 0
        self._closed = False
        self.calls = 0
        self.round_trips = 0

    def run(self, statement: Statement, *values: Any) -> asyncio.Future[list[Any]]:
        """The rows that the statement returns, after its commit."""
        future: asyncio.Future[list[Any]] = asyncio.get_running_loop().create_future()
        if self._closed or self._down or self._waiting_count >= WAITING_LIMIT:
            future.set_exception(self._down or StoreUnavailable("state database: closed or overloaded"))
            return future
        self.calls += 1
        self._waiting_count += 1
        self._waiting.setdefault(statement, []).append(_Call(values, future, self._tick))
        self._dispatch_soon()
        return future

    async def close(self) -> None:
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        if self._opening is not None:
            self._opening.cancel()
        self._fail_waiting(StoreUnavailable("state database: closed"))
        # Finish what has been sent, within a bound: the timeouts are off already.
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=TIMEOUT_TICKS * TICK_SECONDS)
        for connection in (*self._idle, *self._busy):
            connection.abort()

    def _dispatch_soon(self) -> None:
        if not self._dispatching:
            self._dispatching = True
            asyncio.get_running_loop().call_soon(self._dispatch)

    def _dispatch(self) -> None:
        self._dispatching = False
        while self._waiting and (connection := self._take_idle()) is not None:
            statement = next(iter(self._waiting))
            calls = self._take(statement)
            self._busy.add(connection)
            task = asyncio.create_task(self._serve(connection, statement, calls))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        if self._waiting and len(self._busy) < CONNECTIONS and self._opening is None and not self._closed:
            self._opening = asyncio.create_task(self._open())
        if (self._waiting or self._busy) and self._timer is None and not self._closed:
            self._timer = asyncio.get_running_loop().call_later(TICK_SECONDS, self._check_timeouts)

    def _take_idle(self) -> Connection | None:
        while self._idle:
            connection = self._idle.pop()
            if not connection.closed:
                return connection
        return None

    def _take(self, statement: Statement) -> list[_Call]:
        """The next calls of a statement; what is left of it goes behind the others."""
        waiting = self._waiting.pop(statement)
        number = BATCH_LIMIT if statement.batched else 1
        if len(waiting) > number:
            self._waiting[statement] = waiting[number:]
        self._waiting_count -= min(number, len(waiting))
        return waiting[:number]

    async def _serve(self, connection: Connection, statement: Statement, calls: list[_Call]) -> None:
        connection.ticks = 0
        try:
            if statement.batched:
                calls.sort(key=_lock_order)
            results = await self._run(connection, statement, [call.values for call in calls])
        except DRIVER_ERRORS as problem:
            if isinstance(problem, _REOPEN):
                connection.abort()
            _fail(calls, unavailable(problem))
        except Exception as problem:  # noqa: BLE001 - such as a value that the driver cannot encode: the caller's fault
            _fail(calls, problem)
        else:
            for call, rows in zip(calls, results, strict=True):
                if not call.future.done():
                    call.future.set_result(rows)
        finally:
            self._busy.discard(connection)
            if not connection.closed:
                self._idle.append(connection)
            if self._waiting:
                self._dispatch()

    async def _run(self, connection: Connection, statement: Statement, each: list[tuple[Any, ...]]) -> list[list[Any]]:
        values = tuple(map(list, zip(*each, strict=True))) if statement.batched else each[0]
        for left in reversed(range(_RETRIES)):
            self.round_trips += 1
            try:
                rows = await connection.run(statement, values)
            except _RETRY:
                if not left:
                    raise
            else:
                break
        if not statement.batched:
            return [rows]
        results: list[list[Any]] = [[] for _ in each]
        for row in rows:
            results[row[0] - 1].append(row)
        return results

    async def _open(self) -> None:
        """Open one more connection; retry while there is none."""
        tries = 0
        while True:
            abandoned = tuple(self._abandoned)
            try:
                self._idle.append(await Connection.open(self._url, self._name, abandoned))
                del self._abandoned[: len(abandoned)]
                break
            except StoreUnavailable as problem:
                if not self._busy:
                    self._down = problem
                    self._fail_waiting(problem)
            await asyncio.sleep(RECONNECT_BACKOFF_SECONDS[min(tries, len(RECONNECT_BACKOFF_SECONDS) - 1)])
            self._down = None  # calls wait for the next try
            tries += 1
            if self._idle:
                break  # one of the others is free again
        self._opening = None
        self._dispatch()

    def _check_timeouts(self) -> None:
        """Time out connections and calls. Counting ticks costs less than reading the clock for each call."""
        self._timer = None
        self._tick += 1
        for connection in list(self._busy):
            connection.ticks += 1
            if connection.ticks > TIMEOUT_TICKS:
                self._abandoned.append(connection.pid)
                connection.abort()
        late = self._tick - TIMEOUT_TICKS
        for statement, calls in list(self._waiting.items()):
            if calls[0].tick < late:
                del self._waiting[statement]
                self._waiting_count -= len(calls)
                _fail(calls, StoreUnavailable("state database: too slow"))
        self._dispatch()

    def _fail_waiting(self, problem: StoreUnavailable) -> None:
        for calls in self._waiting.values():
            _fail(calls, problem)
        self._waiting.clear()
        self._waiting_count = 0


def _lock_order(call: _Call) -> Any:
    """By the first value: what a batch locks, it locks in this order."""
    return call.values[0]


def _fail(calls: list[_Call], problem: Exception) -> None:
    for call in calls:
        if not call.future.done():
            call.future.set_exception(problem)
