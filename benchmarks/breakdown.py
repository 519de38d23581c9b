"""Where the microseconds of a users/me request go: each part alone, and the whole application without the server.

    python -m benchmarks.breakdown

CPU time of this process, so that what else the machine does counts little. The server's own share (parsing, sockets)
is what remains of a request in `benchmarks.speed`.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from gatehouse.api.http.request import Request
from gatehouse.common import logs
from gatehouse.stores.state.sqlite.engine import SQLiteState
from tests.support.inprocess import Clock, InProcess, request_scope

ROUNDS = 30_000


class Discarded:
    """A protocol that throws the answer away."""

    def response_bytes(self, *_: object) -> None: ...


async def each(work: Callable[[], Awaitable[object]]) -> float:
    started = time.process_time()
    for _ in range(ROUNDS):
        await work()
    return (time.process_time() - started) / ROUNDS * 1e6


def main() -> None:
    logs.configure("error", "json")
    with tempfile.TemporaryDirectory() as folder, InProcess(Path(folder), Clock(time.time())) as gatehouse:
        token = gatehouse.login().data["accessToken"]
        scope: Any = request_scope("GET", "/api/v1/users/me", {"authorization": f"Bearer {token}", "accept": "*/*"})
        service, app = gatehouse.service, gatehouse.app
        nowhere: Any = Discarded()
        session = gatehouse.run(service.authenticator.authenticate(token)).claims.session
        tally, state = app.metrics.operation_metrics("me"), service.stores.state
        assert isinstance(state, SQLiteState)

        async def read_request() -> Any:
            request = Request(scope, nowhere, "id", ())
            return request.bearer(), request.language

        async def read_anew() -> Any:
            state._status_cache.clear()  # noqa: SLF001 - as a commit does
            return await state.session_status(session)

        async def metrics() -> None:
            tally.record_response("00000", 0.0001)

        parts: list[tuple[str, Callable[[], Awaitable[object]]]] = [
            ("read the request: path, bearer token, language", read_request),
            ("token: cached as verified", lambda: service.tokens.access.verify(token, service.clock())),
            ("session and epoch: cached since the last commit", lambda: state.session_status(session)),
            ("or read from SQLite, as after every commit", read_anew),
            (
                "authenticate: token, session, and the profile cached under its epoch",
                lambda: service.authenticator.authenticate(token),
            ),
            ("metrics", metrics),
            ("the whole application, without the server", lambda: app.__rsgi__(scope, nowhere)),
        ]
        for label, work in parts:
            print(f"{gatehouse.run(each(work)):6.1f} us  {label}")


if __name__ == "__main__":
    main()
