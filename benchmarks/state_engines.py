"""The state engines beside each other: operations a second through the State protocol, by turns.

python -m benchmarks.state_engines [--callers 32] [--seconds 1.5] [--rounds 3] [--sessions 20000]

One process calls, as one worker would, with so many callers at once. PostgreSQL commits to the disk (fsync on, and
synchronous_commit on), SQLite does (synchronous FULL), Redis appends to its file and syncs every second, as deployed.
Beside the rate stands the CPU time of the calling process for each operation: what is left of a worker for the rest.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import count
from pathlib import Path

from gatehouse.common.parsing import Rate
from gatehouse.stores.state.postgres.engine import PostgresState
from gatehouse.stores.state.protocol import EndRecord, ReuseDetection, Session, State
from gatehouse.stores.state.redis.engine import RedisState
from gatehouse.stores.state.sqlite.engine import SQLiteState
from tests.support.engines import PostgresServer, RedisServer

PLENTY = Rate(1_000_000, 1)
DAY = 86_400.0

Operation = Callable[[State, int], Awaitable[object]]


class DurablePostgres(PostgresServer):
    """As deployed: the tests switch the syncs off."""

    def command(self) -> list[str]:
        return [*super().command(), "-c", "fsync=on"]


class Sessions:
    """Sessions that are there, and what is done to them."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.generations = [1] * number
        self.now = time.time()
        self._new = count()

    def session(self, n: int) -> Session:
        now = self.now
        agent = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0 Safari/537.36"
        return Session(f"{n + 1}-{n:022}", n + 1, 1, now, now, now + 7 * DAY, now + 30 * DAY, "192.0.2.1", agent)

    async def fill(self, state: State) -> None:
        for start in range(0, self.number, 500):
            await asyncio.gather(*(state.open_session(self.session(n), 50) for n in range(start, start + 500)))

    async def status(self, state: State, n: int) -> None:
        assert await state.session_status(self.session(n % self.number).id)

    async def refresh(self, state: State, n: int) -> None:
        n %= self.number
        reuse = ReuseDetection(10, EndRecord(self.now, "reuse", 7200))
        rotation = await state.rotate_session(self.session(n).id, self.generations[n], self.now, self.now + DAY, reuse)
        assert rotation is not None
        self.generations[n] = rotation.session.generation

    async def rate_limit(self, state: State, n: int) -> None:
        await state.rate_limit(f"captcha|192.0.2.{n % 250}", PLENTY, self.now)

    async def login_and_logout(self, state: State, n: int) -> None:
        """A captcha used, a session opened, and ended with an entry in the log: three operations."""
        n = self.number + next(self._new)
        end_record = EndRecord(self.now, "logout", 7200)
        await state.use_captcha(n.to_bytes(16), int(self.now + 60), self.now)
        await state.open_session(self.session(n), 50, end_record)
        await state.end_session(self.session(n).id, end_record)


async def rate(state: State, operation: Operation, callers: int, seconds: float) -> tuple[float, float]:
    """Calls a second, and the CPU microseconds of this process for each."""
    done, numbers = 0, count()
    until = time.perf_counter() + seconds

    async def call() -> None:
        nonlocal done
        while time.perf_counter() < until:
            await operation(state, next(numbers))
            done += 1

    began, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(call() for _ in range(callers)))
    return done / (time.perf_counter() - began), (time.process_time() - cpu) / done * 1e6


@asynccontextmanager
async def engines(postgres: PostgresServer, redis: RedisServer, folder: Path) -> AsyncIterator[dict[str, State]]:
    async with AsyncExitStack() as stack:
        states: dict[str, State] = {
            "SQLite": SQLiteState(folder / "state.db"),
            "Redis": RedisState(redis.url()),
            "PostgreSQL": PostgresState(postgres.url("bench")),
        }
        for state in states.values():
            stack.push_async_callback(state.close)
        yield states


async def measure(states: dict[str, State], options: argparse.Namespace) -> None:
    sessions = {name: Sessions(options.sessions) for name in states}
    for name, state in states.items():
        await sessions[name].fill(state)
    print(f"{'':18}" + "".join(f"{name:>28}" for name in states))
    for operation in ("status", "refresh", "rate_limit", "login_and_logout"):
        for callers in (1, options.callers):
            found: dict[str, list[tuple[float, float]]] = {name: [] for name in states}
            for _ in range(options.rounds):
                for name, state in states.items():
                    work = getattr(sessions[name], operation)
                    found[name].append(await rate(state, work, callers, options.seconds))
            cells = [
                f"{statistics.median(one[0] for one in found[name]):14,.0f}/s"
                f"{statistics.median(one[1] for one in found[name]):8.0f} us "
                for name in states
            ]
            print(f"{operation:<16}{callers:>3}" + "".join(cells), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.state_engines", description=__doc__.splitlines()[0])
    parser.add_argument("--callers", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=1.5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sessions", type=int, default=20_000)
    options = parser.parse_args()
    postgres, redis = DurablePostgres(), RedisServer()
    try:
        postgres.start()
        redis.start()
        postgres.create("bench", migrated=False)

        async def run(folder: Path) -> None:
            async with engines(postgres, redis, folder) as states:
                await measure(states, options)

        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(run(Path(folder)))
    finally:
        postgres.remove()
        redis.remove()


if __name__ == "__main__":
    main()
