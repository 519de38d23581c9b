"""Injects faults: kills, pauses and restarts nodes and servers, one after the other."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from random import Random

import psutil

from tests.support.engines import PostgresServer, RedisServer
from tests.support.running import Running
from tests.support.waiting import wait_until


class FaultInjector:
    def __init__(self, random: Random, nodes: list[Running], servers: dict[str, PostgresServer | RedisServer]) -> None:
        self.random = random
        self.nodes = nodes
        self.done: Counter[str] = Counter()
        self.faults: dict[str, Callable[[], None]] = {
            "node killed": self.kill_node,
            "worker killed": self.kill_worker,
            "node paused": self.pause_node,
        }
        for name, server in servers.items():
            self.faults |= {
                f"{name} killed": partial(self._away, server, "kill"),
                f"{name} stopped": partial(self._away, server, "stop"),
                f"{name} paused": partial(self._pause, server),
            }

    def record_failure(self) -> str:
        """One fault, from the blow to the return."""
        name = self.random.choice(list(self.faults))
        self.faults[name]()
        self.done[name] += 1
        return name

    def rest(self) -> None:
        time.sleep(self.random.uniform(0.3, 1.2))

    def kill_node(self) -> None:
        node = self.random.choice(self.nodes)
        node.kill()
        self._sleep(0.1, 0.5)
        start_again(node)

    def kill_worker(self) -> None:
        with suppress(psutil.Error):  # it was just being replaced
            self.random.choice(self.nodes).kill_workers()

    def pause_node(self) -> None:
        with suppress(psutil.Error):
            workers = self.random.choice(self.nodes).workers()
            for worker in workers:
                worker.suspend()
            self._sleep(0.2, 3.0)
            for worker in workers:
                worker.resume()

    def _away(self, server: PostgresServer | RedisServer, how: str) -> None:
        getattr(server, how)()
        self._sleep(0.0, 1.5)
        server.start()

    def _pause(self, server: PostgresServer | RedisServer) -> None:
        server.pause()
        self._sleep(0.2, 3.0)
        server.resume()

    def _sleep(self, low: float, high: float) -> None:
        time.sleep(self.random.uniform(low, high))


def start_again(node: Running) -> None:
    """As an orchestrator would: until it runs."""

    def has_started() -> bool:
        try:
            node.start()
        except RuntimeError:
            with suppress(ProcessLookupError, AssertionError):
                node.kill()
            return False
        return True

    wait_until(has_started, node.output)
