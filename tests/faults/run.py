"""Puts a run together: servers, nodes, clients and injector in, a history with its verdict out."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from gatehouse.auth.passwords.hashing import hash_password
from gatehouse.common import logs
from gatehouse.composition import open_service
from gatehouse.settings import load
from gatehouse.stores.database.users import NewUser
from tests.faults.checker import Violation, check
from tests.faults.clients import Client, change_accounts
from tests.faults.engine_sets import started
from tests.faults.fault_injection import FaultInjector
from tests.faults.history import History, Operation
from tests.support.running import PASSWORD, Running, environment

USERS = [f"user{number}" for number in range(6)]
CLIENTS = 6
# Time at the end in which nothing more is broken: what was promised must be seen to hold.
QUIET_SECONDS = 3.0


# Limits count and never refuse: what they count is broken off and begun again with everything else.
PLENTY = "100000/minute"
SETTINGS: dict[str, object] = {
    "secret": "R7q0m2Xv9LdKtB4yHs6ZfW1cJp8NgE3aUoTi5QbV",
    "sessions_per_user": 10_000,
    "issuer": "http://faults.localhost",
    "limits": "on",
    "limit_login_address": PLENTY,
    "limit_login_name": PLENTY,
    "limit_login_total": PLENTY,
    "limit_captcha_address": PLENTY,
    "limit_refresh_address": PLENTY,
}


class Report(NamedTuple):
    engines: str
    seed: int
    seconds: float
    faults: Counter[str]
    history: list[Operation]
    violations: list[Violation]

    def summary(self) -> str:
        outcomes: dict[str, Counter[str]] = {}
        for operation in self.history:
            outcomes.setdefault(operation.what, Counter())[operation.outcome] += 1
        size = f"{self.faults.total()} faults, {len(self.history)} operations, {len(self.violations)} violations"
        lines = [
            f"{self.engines}, seed {self.seed}, {self.seconds:.0f} s, {size}",
            "",
            *(f"  {count:6}  {name}" for name, count in sorted(self.faults.items())),
            "",
            f"  {'':10}{'ok':>8}{'refused':>9}{'unknown':>9}",
        ]
        lines += [
            f"  {what:10}{counts['ok']:8}{counts['refused']:9}{counts['unknown']:9}"
            for what, counts in sorted(outcomes.items())
            if what != "leave"
        ]
        for violation in self.violations[:20]:
            lines += ["", f"VIOLATED: {violation.promise}", f"  {violation.operation}", f"  {violation.because}"]
        return "\n".join(lines)


def run(
    folder: Path,
    seed: int,
    *,
    seconds: float = 0,
    faults: int = 0,
    nodes: int = 2,
    engines: str = "redis",
    redis_options: Sequence[str] = (),
    progress: Callable[[str], None] = lambda line: None,
) -> Report:
    """Run until so many seconds have passed and so many faults are done. `engines`: see `engine_sets`."""
    logs.configure("error", "json", cached=False)  # the operator's own: the nodes write to files
    with started(engines, folder, nodes, redis_options) as engine_set:
        settings = SETTINGS | engine_set.settings
        running = [Running(data, **settings) for data in engine_set.folders]
        try:
            for node in running:
                node.start()
            began = time.monotonic()
            injector = FaultInjector(Random(seed), running, engine_set.servers)
            environ = environment(engine_set.folders[0], 1, **settings)
            urls = [node.url for node in running]
            history = asyncio.run(_live(environ, seed, injector, urls, seconds, faults, progress))
            return Report(engines, seed, time.monotonic() - began, injector.done, history, check(history))
        finally:
            for node in running:
                if node.process is not None and node.process.poll() is None:
                    node.kill()


async def _live(
    environ: dict[str, str],
    seed: int,
    injector: FaultInjector,
    urls: list[str],
    seconds: float,
    faults: int,
    progress: Callable[[str], None],
) -> list[Operation]:
    history, stop = History(), asyncio.Event()
    operator = open_service(load(environ=environ))
    hashed = hash_password(PASSWORD)
    for user in USERS:
        await operator.accounts.add_user(NewUser(user, "v0", hashed, 1, 0.0))
    clients = [Client(number, Random(seed * 1000 + number), history, urls, USERS) for number in range(CLIENTS)]
    try:
        async with asyncio.TaskGroup() as group:
            for client in clients:
                group.create_task(client.live(stop))
            group.create_task(change_accounts(operator.accounts, Random(seed), history, USERS, stop))
            until = time.monotonic() + seconds
            while time.monotonic() < until or injector.done.total() < faults:
                name = await asyncio.to_thread(injector.record_failure)
                progress(f"{history.now():6.0f} s  fault {injector.done.total()}: {name}")
                await asyncio.to_thread(injector.rest)
            await asyncio.sleep(QUIET_SECONDS)
            stop.set()
    finally:
        await operator.stop()
    return history.operations
