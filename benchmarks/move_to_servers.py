"""Moves 100,000 users from SQLite to PostgreSQL, killed once in the middle, and says how long it took.

python -m benchmarks.move_to_servers [--users 100000]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import asyncpg

from benchmarks.million_users import fill
from gatehouse.composition import Service
from gatehouse.server.preparation import prepare
from gatehouse.settings import load
from tests.support.engines import PostgresServer, RedisServer
from tests.support.running import Running


async def arrived(url: str) -> int:
    connection = await asyncpg.connect(url)
    try:
        return int(await connection.fetchval("SELECT count(*) FROM users"))
    finally:
        await connection.close()


async def populated(running: Running, size: int) -> None:
    settings = load(environ=running.env)
    await prepare(settings)
    service = Service(settings)
    try:
        await fill(service, size)
    finally:
        await service.stop()


def killed_in_the_middle(running: Running, url: str, size: int) -> float:
    began = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "gatehouse", "move"], env=running.env, stderr=subprocess.DEVNULL)
    while asyncio.run(arrived(url)) < size // 2:
        assert process.poll() is None, "it was done before it could be killed"
        time.sleep(0.05)
    process.kill()
    process.wait()
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=100_000)
    size: int = parser.parse_args().users
    postgres, redis = PostgresServer(), RedisServer()
    try:
        postgres.start()
        redis.start()
        with tempfile.TemporaryDirectory() as name:
            data, url = Path(name) / "data", postgres.create("moved")
            asyncio.run(populated(Running(data), size))
            after = Running(data, database_url=url, state_url=redis.url())
            first = killed_in_the_middle(after, url, size)
            there = asyncio.run(arrived(url))
            began = time.perf_counter()
            done = after.cli("move", "--json", seconds=3600)
            assert done.returncode == 0, done.stderr
            second = time.perf_counter() - began
    finally:
        postgres.remove()
        redis.remove()
    told = json.loads(done.stdout)
    print(f"killed after {first:.1f} s with {there:,} users there; the rest, verified, in {second:.1f} s")
    print(*(f"{each['table']} {each['rows']:,}" for each in told["tables"]), f"sessions {told['sessions']:,}", sep=", ")


if __name__ == "__main__":
    main()
