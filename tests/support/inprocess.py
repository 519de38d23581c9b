"""A service inside the test's own process, whose clock the test moves. Requests go through the whole application."""

from __future__ import annotations

import asyncio
import itertools
import json
import shutil
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeVar
from urllib.parse import urlencode

from sqlalchemy.pool import QueuePool

from gatehouse.api.app import App
from gatehouse.composition import Service
from gatehouse.server.preparation import prepare
from gatehouse.settings import load
from tests.support.accounts import Accounts
from tests.support.renderer import renderer
from tests.support.rsgi import Head, Headers, Protocol, Scope
from tests.support.running import ANSWER, PASSWORD
from tests.support.shared import shared

T = TypeVar("T")


class Clock:
    """Time stands still until it is told to move."""

    def __init__(self, now: float = 1_900_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def move(self, seconds: float) -> None:
        self.now += seconds


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    content: bytes
    cookies: tuple[str, ...] = ()  # that it sets

    @property
    def json(self) -> dict[str, Any]:
        return dict(json.loads(self.content))

    @property
    def code(self) -> str:
        return str(self.json["code"])

    @property
    def data(self) -> dict[str, Any]:
        assert self.status == 200, self.content
        return dict(self.json["data"])


def request_scope(method: str, path: str, headers: dict[str, str], query: str = "") -> Scope:
    return Scope(method, path, query, "127.0.0.1:40000", Headers(list(headers.items())))


class InProcess:
    """Settings by keyword, as in `InProcess(tmp, captcha_ttl=60)`. Close it when done."""

    # Where it remembers: fresh stores for each instance, empty or as a first start leaves them. The fixture `engines`
    # sets it.
    engines: ClassVar[Callable[[bool], dict[str, str]]] = lambda _started: {}

    def __init__(self, data: Path, clock: Clock | None = None, **settings: object) -> None:
        started = not data.exists() and "secret" not in settings
        given = {
            "data_dir": data,
            "captcha_test_answer": ANSWER,
            "admin_password": PASSWORD,
            "limits": "off",
            "hash_threads": 2,
            **({} if "database_url" in settings else type(self).engines(started)),
            **settings,
        }
        self.settings = load({name: str(value) for name, value in given.items()}, environ={})
        self.clock = clock or Clock()
        self.loop = asyncio.new_event_loop()
        if started:
            shutil.copytree(shared().get("data_folder"), data)
        if not started or "database_url" in settings:
            self.loop.run_until_complete(prepare(self.settings))
        self.service: Service = self.loop.run_until_complete(self._open())
        self.accounts = Accounts(self.service)
        self.app = App(self.service, renderer(self.settings.captcha_difficulty))
        self._ports = itertools.count(40_000)

    async def _open(self) -> Service:
        service = Service(self.settings, self.clock)
        await service.start()
        return service

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(self._to_a_halt(work))

    async def _to_a_halt(self, work: Coroutine[Any, Any, T]) -> T:
        """Let what is being written beside it end too: a loop that stands still would keep the database locked."""
        try:
            return await work
        finally:
            pool = self.service.stores.database.engine.pool
            assert isinstance(pool, QueuePool)
            async with asyncio.timeout(60):
                while pool.checkedout():
                    await asyncio.sleep(0.001)

    def close(self) -> None:
        self.run(self.service.stop())
        self.loop.close()

    def __enter__(self) -> InProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def request(self, method: str, path: str, **options: Any) -> Answer:
        return self.run(self.send(method, path, **options))

    async def send(
        self,
        method: str,
        path: str,
        *,
        body: object = None,
        content: bytes = b"",
        query: dict[str, str] | None = None,
        raw_query: str = "",
        token: str | None = None,
        address: str = "127.0.0.1",
        headers: dict[str, str] | None = None,
    ) -> Answer:
        pairs = [(name.lower(), value) for name, value in (headers or {}).items()]
        if body is not None:
            content = json.dumps(body).encode()
        if content and not any(name == "content-type" for name, _ in pairs):
            pairs.append(("content-type", "application/json"))
        if token is not None:
            pairs.append(("authorization", f"Bearer {token}"))
        host = f"[{address}]" if ":" in address else address
        client = f"{host}:{next(self._ports)}" if address else ""
        scope = Scope(method, path, raw_query or urlencode(query or {}), client, Headers(pairs))
        protocol = Protocol(content)
        await self.app.__rsgi__(scope, protocol)  # type: ignore[arg-type]
        head, body = protocol.sent.get_nowait(), protocol.sent.get_nowait()
        assert isinstance(head, Head)
        assert isinstance(body, bytes)
        cookies = tuple(value for name, value in head.headers if name == "set-cookie")
        return Answer(head.status, dict(head.headers), body, cookies)

    # The contract in short

    async def attempt(self, username: str = "admin", password: str = PASSWORD, **options: Any) -> Answer:
        captcha = self.service.login.captcha_challenges.issue(self.clock())
        body = {"username": username, "password": password, "captchaId": captcha.id, "captchaCode": ANSWER}
        body |= options.pop("changes", {})
        return await self.send("POST", "/api/v1/auth/login", body=body, **options)

    def login(self, username: str = "admin", password: str = PASSWORD, **options: Any) -> Answer:
        return self.run(self.attempt(username, password, **options))

    def refresh(self, token: str) -> Answer:
        return self.request("POST", "/api/v1/auth/refresh-token", body={"refreshToken": token})

    def me(self, token: str) -> Answer:
        return self.request("GET", "/api/v1/users/me", token=token)

    def logout(self, token: str) -> Answer:
        return self.request("POST", "/api/v1/auth/logout", token=token)
