"""Nodes on one database must agree about issuer, master secret and state store; one that does not is not started.

Nodes with different issuers refuse each other's tokens; with different state stores a logout on one is unknown to the
other. Neither fails visibly, so it is checked at the start, against the nodes that have renewed their row within
`LIVE_SECONDS`.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from gatehouse.auth.keys.sealing import derive
from gatehouse.common import logs
from gatehouse.composition import open_database, open_state
from gatehouse.settings import SettingsError
from gatehouse.settings.master_secret import read_secrets
from gatehouse.stores.database import migrate
from gatehouse.stores.database.nodes import Node, Nodes
from gatehouse.stores.database.sql_engine import PATIENCE
from gatehouse.stores.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatehouse.composition import Service
    from gatehouse.settings import Settings
    from gatehouse.stores.database.sql_engine import Database
    from gatehouse.stores.state.protocol import State

RENEW_SECONDS = 20.0
LIVE_SECONDS = 60.0
FORGET_SECONDS = 3600.0
# What the table holds of an issuer.
ISSUER_LENGTH = 255

log = logs.named("gatehouse")


def new_node_id() -> str:
    """Host and process, for people and for `is_live`; and a random part."""
    return f"{_host()}:{os.getpid()}:{secrets.token_hex(4)}"


async def register(settings: Settings, node: str) -> None:
    """Write this node's row. Raises `SettingsError` if a live node disagrees with it."""
    now = time.time()
    known = read_secrets(settings)
    database, state = open_database(settings, patience=PATIENCE), open_state(settings)
    try:
        own = Node(node, _issuer(settings), await _identity(state), fingerprint(known[0]), now, now)
        store = Nodes(database)
        async with migrate.exclusive(database):
            others = await live_nodes(database, now)
            problems = disagreements(own, known, others)
            if problems:
                killed = f"one that was killed is forgotten after {LIVE_SECONDS:.0f} s"
                raise SettingsError(
                    [*problems, f"nodes on one database must agree: this one does not start ({killed})"]
                )
            await store.prune(now - FORGET_SECONDS)
            await store.renew(own)
    finally:
        await state.close()
        await database.close()


async def renew_forever(service: Service, node: str) -> None:
    """Runs in each worker. Disagreements are reported at the start only."""
    store, started = Nodes(service.database), time.time()
    while True:
        await asyncio.sleep(RENEW_SECONDS)
        with suppress(StoreUnavailable):  # requests report it
            secret = fingerprint(service.key_ring.secrets[0])
            identity = await _identity(service.state)
            await store.renew(Node(node, _issuer(service.settings), identity, secret, started, time.time()))


async def unregister(settings: Settings, node: str) -> None:
    """A row that cannot be removed expires."""
    database = open_database(settings)
    try:
        with suppress(StoreUnavailable):
            await Nodes(database).remove(node)
    finally:
        await database.close()


async def live_nodes(database: Database, now: float) -> list[Node]:
    same_machine = database.path is not None
    return [node for node in await Nodes(database).all() if is_live(node, now, same_machine=same_machine)]


def is_live(node: Node, now: float, *, same_machine: bool) -> bool:
    """Seen lately; and on a file, which one machine uses, its process exists: a killed node may start at once."""
    if now >= node.seen + LIVE_SECONDS:
        return False
    host, pid, _ = node.id.rsplit(":", 2)
    return not same_machine or host != _host() or _exists(int(pid))


def disagreements(own: Node, known_secrets: Sequence[bytes], others: Sequence[Node]) -> list[str]:
    """What keeps this node from serving beside the others, a sentence each."""
    fingerprints = {fingerprint(secret) for secret in known_secrets}
    found = []
    for other in others:
        if other.issuer != own.issuer:
            found.append(
                f"node {other.id} serves as {other.issuer}, this one as {own.issuer}:"
                " set GATEHOUSE_ISSUER to the same URL on every node"
            )
        # While a secret is replaced, a node opens what the previous one made: that is agreement.
        if other.secret not in fingerprints:
            found.append(f"node {other.id} has another master secret: give every node the same GATEHOUSE_SECRET")
        if own.state and other.state and other.state != own.state:
            found.append(
                f"node {other.id} keeps its sessions in another state store:"
                " set GATEHOUSE_STATE_URL to the same server on every node"
            )
    return found


def fingerprint(secret: bytes) -> str:
    return derive(secret, "node fingerprint").hex()[:32]


async def _identity(state: State) -> str:
    try:
        return await state.identity()
    except StoreUnavailable:
        return ""  # not a reason to refuse the start: the service waits for its stores


def _issuer(settings: Settings) -> str:
    return settings.public_url[:ISSUER_LENGTH]


def _host() -> str:
    return socket.gethostname()[:40]


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
