"""users/me in the application as it is, and behind Starlette and FastAPI: CPU time of a request, by turns.

    python -m benchmarks.framework [--rounds 7]

Without the server. The frameworks get their best case: one route, no middleware, the same check of the token and a
response that is encoded already; no metrics, no request id, no limits.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Header
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from benchmarks.breakdown import Discarded
from gatehouse.auth.authenticator import Authenticator
from gatehouse.common import logs
from tests.support.inprocess import Clock, InProcess, request_scope

PATH = "/api/v1/users/me"
REQUESTS = 5_000


async def discard(message: dict[str, Any]) -> None:
    assert message.get("status", 200) == 200


async def receive() -> dict[str, object]:
    return {"type": "http.request", "body": b"", "more_body": False}


def starlette(authenticator: Authenticator, body: bytes) -> Any:
    async def me(request: Request) -> Response:
        await authenticator.authenticate(request.headers["authorization"].removeprefix("Bearer "))
        return Response(body, media_type="application/json")

    return Starlette(routes=[Route(PATH, me)])


def fastapi(authenticator: Authenticator, body: bytes) -> Any:
    application = FastAPI()

    async def me(authorization: Annotated[str, Header()]) -> Response:
        await authenticator.authenticate(authorization.removeprefix("Bearer "))
        return Response(body, media_type="application/json")

    application.add_api_route(PATH, me, response_model=None)
    return application


async def cpu_of(work: Callable[[], Awaitable[object]]) -> float:
    started = time.process_time()
    for _ in range(REQUESTS):
        await work()
    return (time.process_time() - started) / REQUESTS * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.framework")
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    logs.configure("error", "json")
    with tempfile.TemporaryDirectory() as folder, InProcess(Path(folder), Clock(time.time())) as gatehouse:
        token = gatehouse.login().data["accessToken"]
        headers = {"authorization": f"Bearer {token}", "accept": "*/*"}
        rsgi_scope, nowhere = request_scope("GET", PATH, headers), Discarded()
        asgi_headers = [(name.encode(), value.encode()) for name, value in headers.items()]
        common = {"type": "http", "method": "GET", "path": PATH, "query_string": b"", "root_path": ""}
        body, authenticator = gatehouse.me(token).content, gatehouse.service.authenticator

        def behind(application: Any) -> Callable[[], Awaitable[object]]:
            return lambda: application({**common, "headers": asgi_headers}, receive, discard)

        ways: dict[str, Callable[[], Awaitable[object]]] = {
            "Gatehouse": lambda: gatehouse.app.__rsgi__(rsgi_scope, nowhere),  # type: ignore[arg-type]
            "Starlette": behind(starlette(authenticator, body)),
            "FastAPI": behind(fastapi(authenticator, body)),
        }
        taken: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(rounds):
            for name, work in ways.items():
                taken[name].append(gatehouse.run(cpu_of(work)))
    for name, each in taken.items():
        ratio = statistics.median(one / own for one, own in zip(each, taken["Gatehouse"], strict=True))
        print(f"{statistics.median(each):7.1f} us  {ratio:5.1f} times  {name}")


if __name__ == "__main__":
    main()
