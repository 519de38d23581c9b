"""Gatehouse as the subject of a benchmark: started with the documented test switches, and spoken to in bulk."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from typing import Any

import psutil

from benchmarks.load import SERVER_CORE
from gatehouse.auth.keys.sealing import derive
from gatehouse.auth.login.captcha import Challenges
from gatehouse.auth.sessions.tokens import RefreshTokens, new_session_id
from gatehouse.stores.state.protocol import Session
from gatehouse.stores.state.redis.engine import RedisState
from gatehouse.stores.state.sqlite.engine import SQLiteState
from tests.support.conversation import bearer, login
from tests.support.running import ANSWER, PASSWORD, Running

HERE = Path(__file__).parent

# Limits as deployed, so high that none refuses anything.
HIGH_LIMITS: dict[str, Any] = {
    "limits": "on",
    "limit_login_address": "10000000/minute",
    "limit_login_total": "10000000/minute",
    "limit_captcha_address": "10000000/minute",
    "limit_refresh_address": "10000000/minute",
}


class Subject:
    def __init__(
        self, data: Path, *, workers: int = 1, pinned: bool = True, python: Path | None = None, **settings: object
    ) -> None:
        """`python` is that of another release; without it, the working tree serves."""
        self.running = Running(data, workers=workers, sessions_per_user=10_000, **settings)
        if python is not None:
            self.running.command[0] = str(python)
            self.running.folder = python.parents[2]
        self._pinned = pinned
        self.started_in = 0.0

    def __enter__(self) -> Subject:
        began = time.perf_counter()
        self.running.start()
        self.started_in = time.perf_counter() - began
        if self._pinned:
            self.stay_on(SERVER_CORE)
        return self

    def __exit__(self, *_: object) -> None:
        self.running.stop()

    def stay_on(self, *cores: int) -> None:
        """Workers and all their threads; those started later inherit it."""
        for process in self.running.workers():
            for thread in process.threads():
                os.sched_setaffinity(thread.id, set(cores))

    def url(self, path: str) -> str:
        return self.running.url + path

    def bearer(self) -> dict[str, str]:
        with self.running.client() as client:
            return bearer(login(client))

    def refresh_script(self, folder: Path, tokens: int) -> Path:
        """Each token begins a session of its own, written straight into the state: logins would take longer."""
        return _filled(folder, "refresh.lua", TOKENS=_quoted(self.refresh_tokens(tokens)))

    def refresh_script_of_logins(self, folder: Path, tokens: int) -> Path:
        """The same with sessions of the service's own, for a release whose state has other columns than ours."""
        with self.running.client() as client:
            opened = [login(client)["refreshToken"] for _ in range(tokens)]
        return _filled(folder, "refresh.lua", TOKENS=_quoted(opened))

    def refresh_tokens(self, count: int) -> list[str]:
        return asyncio.run(self._open_sessions(count))

    async def _open_sessions(self, count: int) -> list[str]:
        secret = (self.running.data / "secret").read_bytes().strip()
        tokens, now = RefreshTokens(derive(secret, "refresh tokens")), time.time()
        url = self.running.env.get("GATEHOUSE_STATE_URL")
        state = RedisState(url) if url else SQLiteState(self.running.data / "state.db")
        sessions = [
            Session(new_session_id(1), 1, 1, now, now, now + 604_800, now + 2_592_000, "127.0.0.1", "wrk")
            for _ in range(count)
        ]
        for session in sessions:  # one by one: Redis looks through all sessions of the user for each
            await state.open_session(session, 1_000_000)
        await state.close()
        return [tokens.make(session.id, 1) for session in sessions]

    def login_script(self, folder: Path, logins: int) -> Path:
        captchas = _quoted(self.captcha_ids(logins))
        return _filled(folder, "login.lua", CAPTCHAS=captchas, PASSWORD=PASSWORD, ANSWER=ANSWER)

    def flood_script(self, folder: Path, clients: int, logins: int) -> Path:
        captchas = _quoted(self.captcha_ids(logins))
        return _filled(folder, "flood.lua", CAPTCHAS=captchas, CLIENTS=str(clients), ANSWER=ANSWER)

    def captcha_ids(self, count: int) -> list[str]:
        secret = (self.running.data / "secret").read_bytes().strip()
        challenges = Challenges(derive(secret, "captcha"), 120, fixed_answer=ANSWER)
        return [challenges.issue(time.time()).id for _ in range(count)]

    def memory(self) -> float:
        """Resident megabytes of the largest worker."""
        return max(psutil.Process(worker.pid).memory_info().rss for worker in self.running.workers()) / 1e6


def _quoted(texts: list[str]) -> str:
    return ",".join(f'"{text}"' for text in texts)


def _filled(folder: Path, name: str, **values: str) -> Path:
    text = (HERE / name).read_text()
    for mark, value in values.items():
        text = text.replace(mark, value)
    target = folder / name
    target.write_text(text)
    return target
