"""A million users with a million live sessions, beside a thousand of each: does the service notice?

python -m benchmarks.million_users [--engine embedded|engines] [--large 1000000] [--small 1000] [--rounds 5]
    [--json FILE]

Fills two services, then asks them by turns for users/me and refresh. In each round a hundred people are active, drawn
at random from the whole population, so that what differs is how much there is to look through.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import asyncpg
from sqlalchemy import insert

from benchmarks.load import Load, require_wrk, wrk
from benchmarks.running_service import HERE, Subject
from gatehouse.composition import Service
from gatehouse.server.preparation import prepare
from gatehouse.settings import load
from gatehouse.stores.database.schema import user_roles, users
from gatehouse.stores.database.users import Profile, User
from gatehouse.stores.state.protocol import Session
from gatehouse.stores.state.sqlite.state_file import INSERT_SESSION, connect, session_row
from tests.support.conversation import ME, REFRESH, bearer
from tests.support.engines import PostgresServer, RedisServer

# Active in one round.
PEOPLE = 100
BATCH = 5_000
COLUMNS = (
    "id", "username", "name_key", "nickname", "avatar", "department", "password_hash", "enabled", "captcha_exempt",
    "created",
)  # fmt: skip


class Active(NamedTuple):
    """Tokens of those who call."""

    access: list[str]
    refresh: list[str]


def people(size: int) -> Iterator[tuple[Any, ...]]:
    # The administrator is number 1.
    for number in range(2, size + 2):
        yield number, f"user{number}", f"user{number}", f"User {number}", "", 1, "-", True, False, 0.0


def session_of(number: int, now: float) -> Session:
    name, ends = f"{number}-{number:022d}", now + 604_800
    return Session(
        name, number, 1, now, now, ends, now + 2_592_000, "192.0.2.1", "Mozilla/5.0 (X11; Linux)", proof="pwd"
    )


def sessions(size: int, now: float) -> Iterator[Session]:
    return (session_of(number, now) for number in range(2, size + 2))


def batches(rows: Iterator[Any], size: int = BATCH) -> Iterator[list[Any]]:
    while batch := list(islice(rows, size)):
        yield batch


async def fill(service: Service, size: int) -> None:
    now = time.time()
    if service.stores.database.path:
        async with service.stores.database.writing() as db:
            for batch in batches(people(size)):
                await db.execute(insert(users), [dict(zip(COLUMNS, row, strict=True)) for row in batch])
                await db.execute(insert(user_roles), [{"user": row[0], "role": 1} for row in batch])
    else:
        await copy_people(service.settings.database_url, size)
    if service.settings.embedded_state:
        with connect(service.settings.state_path) as state:
            for batch in batches(sessions(size, now)):
                state.executemany(INSERT_SESSION, [session_row(one) for one in batch])
    else:
        await service.stores.state.ping()
        for batch in batches(sessions(size, now), 1_000):
            await asyncio.gather(*(service.stores.state.open_session(one, 50) for one in batch))


async def copy_people(url: str, size: int) -> None:
    connection = await asyncpg.connect(url)
    try:
        for batch in batches(people(size)):
            await connection.copy_records_to_table(
                "users", records=batch, columns=[users.c[name].name for name in COLUMNS]
            )
            await connection.copy_records_to_table(
                "user_roles", records=[(row[0], 1) for row in batch], columns=("user", "role")
            )
        await connection.execute("ANALYZE")
    finally:
        await connection.close()


async def populate(subject: Subject, size: int) -> Active:
    settings = load(environ=subject.running.env)
    await prepare(settings)
    service = Service(settings)
    try:
        began = time.perf_counter()
        await fill(service, size)
        print(f"  {size:,} users and sessions made in {time.perf_counter() - began:.0f} s", flush=True)
        await service.key_ring.load()
        now = time.time()
        drawn = random.sample(range(2, size + 2), min(size, 20 * PEOPLE))
        opened = [session_of(number, now) for number in drawn]
        return Active(
            [service.tokens.access.make(profile(each.user), each, now, now + 7200) for each in opened],
            [service.tokens.refresh.make(each.id, 1) for each in opened],
        )
    finally:
        await service.stop()


def profile(number: int) -> Profile:
    user = User(
        id=number,
        username=f"user{number}",
        nickname=f"User {number}",
        avatar="",
        department=1,
        password_hash="-",
        enabled=True,
        captcha_exempt=False,
        created=0.0,
    )
    return Profile(user, ("ADMIN",), ())


class Contender:
    """One service with its population, under load. Each round has people of its own."""

    def __init__(self, subject: Subject, active: Active, folder: Path) -> None:
        folder.mkdir()
        self._subject = subject
        self._active = active
        self._folder = folder
        self._rounds = 0

    def round(self, path: str, name: str, seconds: float) -> Load:
        start = self._rounds * PEOPLE
        self._rounds += 1
        access, refresh = (tokens[start : start + PEOPLE] for tokens in self._active)
        self._warm(access)
        tokens = access if path == ME else refresh
        return wrk(self._subject.url(path), seconds=seconds, script=script(self._folder, name, tokens))

    def _warm(self, tokens: list[str]) -> None:
        """Everybody calls once, so that profiles and verified tokens are remembered, as they are in daily life."""
        with self._subject.running.client() as client:
            for token in tokens:
                assert client.get(ME, headers=bearer(token)).status_code == 200


def script(folder: Path, name: str, tokens: list[str]) -> Path:
    target = folder / name
    target.write_text((HERE / name).read_text().replace("TOKENS", ",".join(f'"{token}"' for token in tokens)))
    return target


def engine_settings(engine: str, stack: ExitStack, name: str) -> dict[str, Any]:
    if engine == "embedded":
        return {}
    postgres, redis = PostgresServer(), RedisServer()
    for server in (postgres, redis):
        stack.callback(server.remove)
        server.start()
    return {"database_url": postgres.create(name), "state_url": redis.url()}


def measure(small: Contender, large: Contender, rounds: int, seconds: float) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for operation, path, name in (
        ("users/me", ME, "me_many_users.lua"),
        ("refresh", REFRESH, "refresh_many_users.lua"),
    ):
        pairs = []
        for number in range(rounds):
            order = (small, large) if number % 2 == 0 else (large, small)
            results = {contender: contender.round(path, name, seconds) for contender in order}
            assert not any(result.bad or result.errors for result in results.values()), results
            pairs.append((results[small].rate, results[large].rate))
        found[operation] = {
            "small": statistics.median(pair[0] for pair in pairs),
            "large": statistics.median(pair[1] for pair in pairs),
            "kept": statistics.median(large_rate / small_rate for small_rate, large_rate in pairs),
        }
        print("  {:9} small {:9,.0f}/s   large {:9,.0f}/s   keeps {:.0%}".format(operation, *found[operation].values()))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", choices=["embedded", "engines"], default="embedded")
    parser.add_argument("--small", type=int, default=1_000)
    parser.add_argument("--large", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5, help="of each operation, at most 5 with 1,000 people")
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    require_wrk()
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        contenders = []
        for size in (options.small, options.large):
            settings = engine_settings(options.engine, stack, "population")
            subject = Subject(folder / f"data{size}", **settings)
            active = asyncio.run(populate(subject, size))
            stack.enter_context(subject)
            contenders.append(Contender(subject, active, folder / f"scripts{size}"))
        print(f"{options.engine}: {options.small:,} against {options.large:,}")
        small, large = contenders
        found = measure(small, large, options.rounds, options.seconds)
    if options.json:
        options.json.write_text(json.dumps({"engine": options.engine, "large": options.large, **found}, indent=1))


if __name__ == "__main__":
    main()
