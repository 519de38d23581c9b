"""What a web framework would cost: users/me by our dispatch, by plain ASGI, by Starlette and by FastAPI, by turns.

    python -m benchmarks.web_frameworks [--rounds 9] [--seconds 2]

All authenticate the same token against the same data folder, on the same server with the same options, and send the
same bytes; they differ in what lies between the server and that. The frameworks have all paths of the contract in their
routers, and no middleware beyond what they bring. Ours also counts metrics and numbers its requests.

CPU time is that of the server's processes for one request, so what else the machine does counts little there.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import psutil
from fastapi import FastAPI
from rich.console import Console
from rich.table import Table
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from benchmarks.baselines import GranianServer
from benchmarks.load import Load, require_wrk, wrk
from gatehouse.api.app import App
from gatehouse.api.http.response import language_of
from gatehouse.api.operation_table import OPERATIONS
from gatehouse.auth.login.captcha.image import CaptchaRenderer
from gatehouse.composition import Service
from gatehouse.server.preparation import prepare
from gatehouse.settings import load
from tests.support.conversation import ME, bearer, login
from tests.support.running import ANSWER, PASSWORD

BODY_VARIABLE = "FRAMEWORK_BODY"
HEADERS = {"cache-control": "no-store", "x-content-type-options": "nosniff", "x-request-id": "0123456789ab-1f"}
ASGI_HEADERS = [(b"content-type", b"application/json"), *((n.encode(), v.encode()) for n, v in HEADERS.items())]

APPLICATIONS = {
    "ours": ("rsgi", "ours (RSGI)"),
    "plain_asgi": ("asginl", "plain ASGI"),
    "starlette_one_path": ("asginl", "Starlette, users/me alone"),
    "starlette": ("asginl", "Starlette, all paths"),
    "fastapi": ("asginl", "FastAPI, all paths"),
}


def ours() -> App:
    settings = load()
    return App(Service(settings), CaptchaRenderer(settings.captcha_difficulty))


class Authenticated:
    """Our authentication and the encoded answer, for whatever reads the request in another way."""

    def __init__(self) -> None:
        self._service: Service | None = None
        self._body = os.environ[BODY_VARIABLE].encode()

    async def answer(self, authorization: str, languages: str | None) -> bytes:
        if self._service is None:
            self._service = Service(load())
            await self._service.start()
        await self._service.authenticator.authenticate(authorization.partition(" ")[2])
        language_of(languages)
        return self._body


def plain_asgi() -> Callable[..., Awaitable[None]]:
    authenticated = Authenticated()

    async def application(scope: Any, _receive: Any, send: Any) -> None:
        headers = dict(scope["headers"])
        body = await authenticated.answer(headers[b"authorization"].decode(), None)
        await send({"type": "http.response.start", "status": 200, "headers": ASGI_HEADERS})
        await send({"type": "http.response.body", "body": body})

    return application


def _endpoint() -> Callable[[Request], Awaitable[Response]]:
    authenticated = Authenticated()

    async def me(request: Request) -> Response:
        body = await authenticated.answer(request.headers["authorization"], request.headers.get("accept-language"))
        return Response(body, headers=HEADERS, media_type="application/json")

    return me


def starlette() -> Starlette:
    endpoint = _endpoint()
    return Starlette(routes=[Route(each.path, endpoint, methods=[each.method]) for each in OPERATIONS])


def starlette_one_path() -> Starlette:
    return Starlette(routes=[Route(ME, _endpoint())])


def fastapi() -> FastAPI:
    application, endpoint = FastAPI(), _endpoint()
    for each in OPERATIONS:
        application.add_api_route(each.path, endpoint, methods=[each.method], include_in_schema=False)
    return application


class Round(NamedTuple):
    load: Load
    microseconds: float  # of CPU time for a request


def measure(server: GranianServer, headers: dict[str, str], seconds: float) -> Round:
    before = _cpu_seconds(server.pid)
    load = wrk(server.url, seconds=seconds, headers=headers)
    assert not load.bad
    return Round(load, (_cpu_seconds(server.pid) - before) / (load.rate * max(1, round(seconds))) * 1e6)


def _cpu_seconds(pid: int) -> float:
    server = psutil.Process(pid)
    return sum(sum(each.cpu_times()[:2]) for each in (server, *server.children(recursive=True)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=2.0)
    options = parser.parse_args()
    require_wrk()
    with tempfile.TemporaryDirectory() as folder:
        env = {
            "GATEHOUSE_DATA_DIR": str(Path(folder) / "data"),
            "GATEHOUSE_CAPTCHA_TEST_ANSWER": ANSWER,
            "GATEHOUSE_ADMIN_PASSWORD": PASSWORD,
        }
        asyncio.run(prepare(load(environ=env)))
        rounds = _rounds(env, options.rounds, options.seconds)
    _print(rounds)


def _rounds(env: dict[str, str], count: int, seconds: float) -> dict[str, list[Round]]:
    with _server("ours", env) as own, httpx.Client(base_url=own.url.removesuffix(ME)) as client:
        headers = bearer(login(client))
        env = env | {BODY_VARIABLE: client.get(ME, headers=headers).text}
        with ExitStack() as stack:
            others = {name: stack.enter_context(_server(name, env)) for name in APPLICATIONS if name != "ours"}
            servers = {"ours": own, **others}
            for server in servers.values():  # the first request opens the stores
                assert httpx.get(server.url, headers=headers).text == env[BODY_VARIABLE]
            rounds: dict[str, list[Round]] = {name: [] for name in servers}
            for number in range(count + 1):
                for name, server in servers.items():
                    measured = measure(server, headers, seconds)
                    if number:  # the first warms up
                        rounds[name].append(measured)
            return rounds


def _server(name: str, env: dict[str, str]) -> GranianServer:
    return GranianServer(f"benchmarks.web_frameworks:{name}", APPLICATIONS[name][0], env, factory=True)


def _print(rounds: dict[str, list[Round]]) -> None:
    table = Table(title=f"users/me, medians of {len(rounds['ours'])} rounds by turns")
    for heading in ("", "a second", "ours is so many times as fast", "CPU us a request", "so many times ours"):
        table.add_column(heading)
    for name, measured in rounds.items():
        pairs = list(zip(rounds["ours"], measured, strict=True))
        table.add_row(
            APPLICATIONS[name][1],
            f"{statistics.median(each.load.rate for each in measured):,.0f}",
            f"{statistics.median(own.load.rate / each.load.rate for own, each in pairs):.2f}",
            f"{statistics.median(each.microseconds for each in measured):.0f}",
            f"{statistics.median(each.microseconds / own.microseconds for own, each in pairs):.2f}",
        )
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
