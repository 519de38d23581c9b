"""The walk of one successful login: functions of gatehouse/ that it calls, their files, and its state calls in order.

    python -m benchmarks.login_walk

On the embedded default, limits on, a name that has logged in from this address before. What the request and its tasks
call in the event loop counts; threads and background tasks do not. Each state call takes 50 milliseconds here, so that
calls which wait together show: they stand on one line.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from pathlib import Path
from types import FrameType

import gatehouse.version
from gatehouse.common import logs
from gatehouse.stores.state.protocol import State
from gatehouse.stores.state.sqlite.engine import SQLiteState
from tests.support.inprocess import Answer, Clock, InProcess
from tests.support.running import ANSWER, PASSWORD

IN_REQUEST = ContextVar("in_request", default=False)  # inherited by the tasks that the request starts
ROOT = str(Path(gatehouse.version.__file__).parent)
STATE_SECONDS = 0.05


class StateCalls:
    """Records every call through the State protocol, and which of them wait together."""

    def __init__(self) -> None:
        self.rounds: list[list[str]] = []
        self._began = 0.0

    def record(self, method: Callable[..., Awaitable[object]]) -> Callable[..., Awaitable[object]]:
        @functools.wraps(method)
        async def call(*args: object, **kwargs: object) -> object:
            now = asyncio.get_running_loop().time()
            if now > self._began + STATE_SECONDS / 2:
                self._began = now
                self.rounds.append([])
            self.rounds[-1].append(method.__name__)
            await asyncio.sleep(STATE_SECONDS)
            return await method(*args, **kwargs)

        return call


async def log_in(running: InProcess, body: dict[str, str]) -> Answer:
    IN_REQUEST.set(True)
    try:
        return await running.send("POST", "/api/v1/auth/login", body=body)
    finally:
        IN_REQUEST.set(False)


def main() -> None:
    logs.configure("error", "json")
    called: set[tuple[str, str]] = set()

    def profile(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if (
            event == "call"
            and IN_REQUEST.get()
            and code.co_filename.startswith(ROOT)
            and not code.co_name.startswith("<")
        ):
            called.add((code.co_filename, code.co_qualname))

    state_calls = StateCalls()
    for name, method in inspect.getmembers(State, inspect.iscoroutinefunction):
        setattr(SQLiteState, name, state_calls.record(getattr(SQLiteState, method.__name__)))
    with (
        tempfile.TemporaryDirectory() as folder,
        InProcess(Path(folder), Clock(time.time()), limits="on") as running,
    ):
        assert running.login().status == 200
        captcha = running.service.login.captcha_challenges.issue(running.clock())
        body = {"username": "admin", "password": PASSWORD, "captchaId": captcha.id, "captchaCode": ANSWER}
        state_calls.rounds.clear()
        sys.setprofile(profile)
        assert running.run(log_in(running, body)).status == 200
        sys.setprofile(None)
        walk, rounds = set(called), list(state_calls.rounds)
    print(f"{len(walk)} functions in {len({file for file, _ in walk})} files")
    print(f"{sum(map(len, rounds))} state calls, {len(rounds)} one after the other:")
    for number, calls in enumerate(rounds, 1):
        print(f"{number:3}. {', '.join(calls)}")
    if "--functions" in sys.argv:
        for file, function in sorted(walk):
            print(f"     {Path(file).relative_to(ROOT)}: {function}")


if __name__ == "__main__":
    main()
