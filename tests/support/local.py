"""A service in this process, on an event loop of its own in a thread, with an HTTP client that needs no socket.

For everything that a client can notice but connections, workers and signals: those need `Running`.
"""

from __future__ import annotations

import asyncio
import itertools
import shutil
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import httpx

from gatehouse.api.app import App
from gatehouse.composition import Service, open_service
from gatehouse.settings import Settings, load
from tests.support.renderer import renderer
from tests.support.rsgi import Head, Headers, Protocol, Scope
from tests.support.running import Installation
from tests.support.shared import shared
from tests.support.waiting import PATIENCE, wait_until

T = TypeVar("T")

_ports = itertools.count(40_000)


class Local(Installation):
    """Settings by keyword, as in `Local(tmp, limits="on")`; the clock is the real one."""

    def __init__(self, data: Path, **settings: object) -> None:
        super().__init__(data, **settings)
        self._loop = asyncio.new_event_loop()
        self._thread = ThreadPoolExecutor(1)
        self._serving = threading.Event()

    def __enter__(self) -> Local:
        if not self.data.exists():  # as a first start leaves it; a database of its own must be so, too
            shutil.copytree(shared().get("data_folder"), self.data)
        serving = self._thread.submit(self._serve, load(environ=self.env))
        wait_until(lambda: self._serving.is_set() or serving.done(), "the service has started")
        if serving.done():
            serving.result()  # raises what went wrong
        self._ended = serving
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._ended.result(PATIENCE)
        self._thread.shutdown()

    def _serve(self, settings: Settings) -> None:
        """As a worker does: all of it in one thread, because connections belong to the thread that opened them."""
        loop = self._loop
        asyncio.set_event_loop(loop)
        self.service = loop.run_until_complete(_opened(settings))
        self.app = App(self.service, renderer(settings.captcha_difficulty))
        self.app.__rsgi_init__(loop)
        self._serving.set()
        loop.run_forever()
        self.app.__rsgi_del__(loop)
        loop.close()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run something in the service's own event loop, and wait for it."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE)

    def client(self, **options: Any) -> httpx.Client:
        return httpx.Client(transport=self.transport(), base_url=self.url, **options)

    def transport(self) -> httpx.BaseTransport:
        return _Transport(self.app, self._loop)


async def _opened(settings: Settings) -> Service:
    return open_service(settings)


class _Transport(httpx.BaseTransport):
    def __init__(self, app: App, loop: asyncio.AbstractEventLoop) -> None:
        self._app = app
        self._loop = loop
        self._client = f"127.0.0.1:{next(_ports)}"

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        pairs = [(name.decode().lower(), value.decode("latin-1")) for name, value in request.headers.raw]
        query = request.url.query.decode("ascii")
        scope = Scope(request.method, request.url.path, query, self._client, Headers(pairs))
        protocol = Protocol(request.read())
        asyncio.run_coroutine_threadsafe(self._answer(scope, protocol), self._loop)
        head = _next(protocol)
        assert isinstance(head, Head), "an answer begins with its head"
        return httpx.Response(head.status, headers=head.headers, stream=_Body(protocol, self._loop), request=request)

    async def _answer(self, scope: Scope, protocol: Protocol) -> None:
        try:
            await self._app.__rsgi__(scope, protocol)  # type: ignore[arg-type]
        except Exception as problem:  # noqa: BLE001 - raised again where the client reads
            protocol.sent.put(problem)
        protocol.sent.put(None)


class _Body(httpx.SyncByteStream):
    def __init__(self, protocol: Protocol, loop: asyncio.AbstractEventLoop) -> None:
        self._protocol = protocol
        self._loop = loop

    def __iter__(self) -> Iterator[bytes]:
        while (piece := _next(self._protocol)) is not None:
            assert isinstance(piece, bytes)
            yield piece

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._protocol.disconnect)


def _next(protocol: Protocol) -> Head | bytes | None:
    piece = protocol.sent.get(timeout=PATIENCE)
    if isinstance(piece, Exception):
        raise piece
    return piece
