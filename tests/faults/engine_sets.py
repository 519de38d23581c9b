"""The three sets of engines that a run can be made on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.support.engines import DURABLE, PostgresServer, RedisServer

NAMES = ("embedded", "redis", "postgres")


class EngineSet(NamedTuple):
    """Servers that can be broken, by the name of their faults; the data folder and settings of every node."""

    servers: dict[str, PostgresServer | RedisServer]
    folders: list[Path]
    settings: dict[str, object]


@contextmanager
def started(name: str, folder: Path, nodes: int, redis_options: Sequence[str]) -> Iterator[EngineSet]:
    """`embedded`: one node with two workers on one data folder; else several nodes with a worker each."""
    if name == "embedded":
        yield EngineSet({}, [folder / "data"], {"workers": 2})
        return
    servers: dict[str, PostgresServer | RedisServer] = {}
    try:
        servers["postgresql"] = postgres = PostgresServer()
        postgres.start()
        database = state = postgres.create("faults")
        if name == "redis":
            servers["redis"] = redis = RedisServer(*DURABLE, *redis_options)
            redis.start()
            state = redis.url()
        folders = [folder / f"node{number}" for number in range(nodes)]
        yield EngineSet(servers, folders, {"workers": 1, "database_url": database, "state_url": state})
    finally:
        for server in servers.values():
            server.remove()
