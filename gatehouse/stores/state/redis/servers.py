"""Finds the server that holds a key: a fixed one, the primary that Sentinels name, or a node of a Cluster.

    redis://[user:password@]host[:port][/db]          rediss:// for TLS, everywhere below too
    redis+sentinel://[user:password@]host:port,host:port/service[/db][?sentinel_password=…]
    redis+cluster://[user:password@]host:port,host:port

With TLS `?ca=/path/to/bundle.pem` names the authority; without it, those of the machine are trusted.
"""

from __future__ import annotations

import asyncio
import binascii
import ssl
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from urllib.parse import parse_qs, unquote, urlsplit

from gatehouse.stores.errors import StoreUnavailable
from gatehouse.stores.state.redis.connection import (
    CONNECT_SECONDS,
    NO_PRIMARY,
    Address,
    Argument,
    ReconnectingConnection,
    ServerError,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence

SLOTS = 16_384
REDIRECTS = 4
REFRESH_SECONDS = 0.2


class Servers(Protocol):
    def call(self, key: bytes, *arguments: Argument) -> Awaitable[Any]:
        """Run one command on the server that holds `key`."""
        ...

    async def call_all(self, *arguments: Argument) -> Sequence[Any]:
        """Run one command on every server that holds keys."""
        ...

    async def close(self) -> None: ...


class RedisUrl(NamedTuple):
    """A parsed state URL."""

    kind: str
    addresses: tuple[Address, ...]
    service: str
    handshake: tuple[tuple[Argument, ...], ...]
    sentinel_handshake: tuple[tuple[Argument, ...], ...]
    tls: ssl.SSLContext | None


def parse_url(url: str) -> RedisUrl:
    """Raises `ValueError` with a sentence that does not repeat the URL: it may hold a password."""
    parts = urlsplit(url)
    scheme, _, kind = parts.scheme.partition("+")
    if scheme not in {"redis", "rediss"} or kind not in {"", "sentinel", "cluster"}:
        raise ValueError("expected redis://, rediss://, redis+sentinel://, redis+cluster:// or postgresql://")
    who, _, where = parts.netloc.rpartition("@")
    path = [unquote(part) for part in parts.path.split("/") if part]
    service = path.pop(0) if kind == "sentinel" and path else ""
    if kind == "sentinel" and not service:
        raise ValueError("expected the name of the service after the Sentinels, as in redis+sentinel://host:26379/main")
    if len(path) > 1 or not all(part.isdecimal() for part in path) or (kind == "cluster" and path):
        raise ValueError("expected at most the number of a database as path, and none for a cluster")
    options = {name: values[0] for name, values in parse_qs(parts.query).items()}
    unknown = set(options) - {"ca", "sentinel_password"}
    if unknown:
        raise ValueError(f"there is no option {min(unknown)!r}")
    select = (("SELECT", path[0]),) if path and path[0] != "0" else ()
    sentinel_password = options.get("sentinel_password")
    return RedisUrl(
        kind,
        tuple(_address(one, 26379 if kind == "sentinel" else 6379) for one in where.split(",")),
        service,
        (*_login(who), *select),
        (("AUTH", sentinel_password),) if sentinel_password else (),
        ssl.create_default_context(cafile=options.get("ca")) if scheme == "rediss" else None,
    )


def connect(url: RedisUrl) -> Servers:
    return Cluster(url) if url.kind == "cluster" else SingleServer(url)


class SingleServer:
    """One server, at a fixed address or where the Sentinels say that the primary is."""

    def __init__(self, url: RedisUrl) -> None:
        self._url = url
        handshake = [*url.handshake, ("ROLE",)] if url.kind == "sentinel" else url.handshake
        self._connection = ReconnectingConnection(
            self._ask_sentinels if url.kind == "sentinel" else self._fixed, handshake, url.tls
        )

    def call(self, key: bytes, *arguments: Argument) -> Awaitable[Any]:  # noqa: ARG002 - every key lives here
        return self._connection.call(*arguments)

    async def call_all(self, *arguments: Argument) -> Sequence[Any]:
        return [await self._connection.call(*arguments)]

    async def close(self) -> None:
        await self._connection.close()

    async def _fixed(self) -> Address:
        return self._url.addresses[0]

    async def _ask_sentinels(self) -> Address:
        for sentinel in self._url.addresses:
            connection = ReconnectingConnection(_fixed_address(sentinel), self._url.sentinel_handshake, self._url.tls)
            try:
                async with asyncio.timeout(CONNECT_SECONDS / len(self._url.addresses)):
                    found = await connection.call("SENTINEL", "GET-MASTER-ADDR-BY-NAME", self._url.service)
            except (StoreUnavailable, TimeoutError):
                continue
            finally:
                await connection.close()
            if found:
                return Address(found[0].decode(), int(found[1]))
        raise StoreUnavailable("no Sentinel names a primary")


class Cluster:
    """Many servers, each with a share of the slots. The slot table is cached and refreshed after MOVED and failures."""

    def __init__(self, url: RedisUrl) -> None:
        self._url = url
        self._connections: dict[Address, ReconnectingConnection] = {}
        self._slots: list[Address | None] = [None] * SLOTS
        self._refreshing: asyncio.Task[None] | None = None
        self._refreshed_at = 0.0

    async def call(self, key: bytes, *arguments: Argument) -> Any:
        slot = slot_of(key)
        if self._slots[slot] is None:
            await self._load_slots()
        address = self._slots[slot]
        if address is None:
            raise StoreUnavailable("no server of the cluster holds this slot")
        asking = False
        for _ in range(REDIRECTS):
            connection = self._connection(address)
            try:
                if asking:
                    connection.call("ASKING").add_done_callback(_ignore_result)
                return await connection.call(*arguments)
            except ServerError as error:
                if error.kind not in {"MOVED", "ASK"}:
                    self._invalidate_slot(slot, error)
                    raise
                address, asking = _redirect_address(error, address), error.kind == "ASK"
                if not asking:
                    self._slots[slot] = address
            except StoreUnavailable:
                self._slots[slot] = None  # the next call asks the other servers who holds it now
                raise
        raise StoreUnavailable("too many redirects in the cluster")

    async def call_all(self, *arguments: Argument) -> Sequence[Any]:
        await self._load_slots()
        holders = dict.fromkeys(address for address in self._slots if address is not None)
        return await asyncio.gather(*(self._connection(address).call(*arguments) for address in holders))

    async def close(self) -> None:
        await asyncio.gather(*(connection.close() for connection in self._connections.values()))

    def _invalidate_slot(self, slot: int, error: ServerError) -> None:
        if error.kind in NO_PRIMARY | {"CLUSTERDOWN"}:
            self._slots[slot] = None

    def _connection(self, address: Address) -> ReconnectingConnection:
        connection = self._connections.get(address)
        if connection is None:
            connection = self._connections[address] = ReconnectingConnection(
                _fixed_address(address), self._url.handshake, self._url.tls
            )
        return connection

    async def _load_slots(self) -> None:
        """Refresh the slot table; concurrent callers share one refresh, at most one every `REFRESH_SECONDS`."""
        if self._refreshing is None or self._refreshing.done():
            if asyncio.get_running_loop().time() < self._refreshed_at + REFRESH_SECONDS:
                return
            self._refreshing = asyncio.create_task(self._refresh_slots())
        await asyncio.shield(self._refreshing)

    async def _refresh_slots(self) -> None:
        for address in dict.fromkeys([*self._connections, *self._url.addresses]):
            try:
                shares = await self._connection(address).call("CLUSTER", "SLOTS")
            except StoreUnavailable:
                continue
            for first, last, (host, port, *_), *_replicas in shares:
                holder = Address(host.decode() or address.host, int(port))
                self._slots[first : last + 1] = [holder] * (last + 1 - first)
            self._refreshed_at = asyncio.get_running_loop().time()
            await self._close_removed()
            return
        raise StoreUnavailable("no server of the cluster answers")

    async def _close_removed(self) -> None:
        known = {*self._slots, *self._url.addresses}
        for address in [address for address in self._connections if address not in known]:
            await self._connections.pop(address).close()


def slot_of(key: bytes) -> int:
    """The slot of a key: of the part between its first braces, so that keys with the same tag live together."""
    start = key.find(b"{")
    end = key.find(b"}", start + 1) if start >= 0 else -1
    return binascii.crc_hqx(key[start + 1 : end] if end > start + 1 else key, 0) % SLOTS


def _redirect_address(error: ServerError, asked: Address) -> Address:
    host, _, port = error.rest.split(" ")[-1].rpartition(":")
    return Address(host or asked.host, int(port))


def _fixed_address(address: Address) -> Any:
    async def find() -> Address:
        return address

    return find


def _ignore_result(future: asyncio.Future[Any]) -> None:
    if not future.cancelled():
        future.exception()


def _login(who: str) -> tuple[tuple[Argument, ...], ...]:
    user, _, password = who.partition(":")
    if not password:
        return ()
    return (("AUTH", unquote(user), unquote(password)) if user else ("AUTH", unquote(password)),)


def _address(text: str, default_port: int) -> Address:
    host, colon, port = text.rpartition(":")
    if not colon or text.endswith("]"):
        host, port = text, str(default_port)
    if not host or not port.isdecimal():
        raise ValueError("expected servers as host or host:port, separated by commas")
    return Address(host.strip("[]"), int(port))
