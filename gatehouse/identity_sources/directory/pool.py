"""The servers of a directory in the order to try them, and the connections of its service account."""

from __future__ import annotations

import asyncio
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import ldap

from gatehouse.identity_sources.directory.connection import Connection
from gatehouse.identity_sources.directory.failures import ConnectionBroken, described, failure
from gatehouse.identity_sources.directory.link import server_address, tls_context
from gatehouse.identity_sources.errors import SourceUnavailable

if TYPE_CHECKING:
    import ssl
    from collections.abc import Awaitable, Callable

    from gatehouse.identity_sources.definitions import DirectoryConfig
    from gatehouse.identity_sources.directory.link import ServerAddress

T = TypeVar("T")
IDLE_SECONDS = 120.0  # a firewall in between may have forgotten one that is older, without a word


class Pool:
    """`ask` works on a pooled connection, bound as the service account; `on_new` on one of its own that is closed
    afterwards. Both try one server after the other until `deadline`, a time of the event loop."""

    def __init__(self, config: DirectoryConfig, bind_password: str) -> None:
        self._config = config
        self._bind_password = bind_password
        self._idle: list[Connection] = []
        self._open: set[Connection] = set()
        self._opening = 0
        self._tls: ssl.SSLContext | None = None
        self._loading_tls = asyncio.Lock()
        self._is_closed = False
        self.bind_dn = config.bind_dn
        self.authorities = config.ca_file or "an authority of the system"

    @cached_property
    def servers(self) -> list[ServerAddress]:
        """In the order to try them."""
        return [server_address(url, allow_plain=self._config.allow_plain) for url in self._config.urls]

    async def ask(self, work: Callable[[Connection], Awaitable[T]], deadline: float) -> T:
        """One that turns out to be broken is replaced, once; the caller does not notice."""
        if connection := self._take():
            try:
                async with asyncio.timeout_at(_share(deadline, 2)):
                    return await self._work_and_keep(connection, work)
            except (ConnectionBroken, TimeoutError):
                self._avoid(connection.server)

        async def bound(connection: Connection) -> T:
            await self.bind_service(connection)
            return await self._work_and_keep(connection, work)

        return await self._on_each(bound, deadline)

    async def on_new(self, work: Callable[[Connection], Awaitable[T]], deadline: float) -> T:
        async def alone(connection: Connection) -> T:
            try:
                return await work(connection)
            finally:
                self._close(connection)

        return await self._on_each(alone, deadline)

    async def open_bound(self, deadline: float) -> Connection:
        """For the caller alone, who closes it: it is not one of `connections`."""

        async def bound(connection: Connection) -> Connection:
            await self.bind_service(connection)
            self._open.discard(connection)
            return connection

        return await self._on_each(bound, deadline)

    async def bind_service(self, connection: Connection) -> None:
        dn = self.bind_dn
        if dn and not self._bind_password:
            raise SourceUnavailable(f"there is no password for the bind DN {dn}", "bind")
        try:
            await connection.bind(dn, self._bind_password)
        except (ldap.INVALID_CREDENTIALS, ldap.NO_SUCH_OBJECT, ldap.INVALID_DN_SYNTAX) as error:
            problem = f"the bind DN {dn} or its password is wrong: {described(error)}"
            raise SourceUnavailable(problem, "bind") from None
        except ldap.LDAPError as error:
            raise failure(error, connection.server.url, "bind") from None

    async def tls(self, server: ServerAddress) -> ssl.SSLContext | None:
        """None for a server that is spoken to in plain text."""
        if not server.tls:
            return None
        async with self._loading_tls:
            if self._tls is None:
                # Reading the authorities of a system takes 50 ms.
                self._tls = await asyncio.to_thread(tls_context, self._config.ca_file)
        return self._tls

    def close(self) -> None:
        self._is_closed = True
        while self._idle:
            self._close(self._idle.pop())

    def _take(self) -> Connection | None:
        while self._idle:
            connection = self._idle.pop()
            if connection.is_open and connection.idle_seconds() < IDLE_SECONDS:
                return connection
            self._close(connection)
        return None

    async def _work_and_keep(self, connection: Connection, work: Callable[[Connection], Awaitable[T]]) -> T:
        try:
            result = await work(connection)
        except BaseException:
            # Also for what is no fault of the connection: an answer may still be on its way.
            self._close(connection)
            raise
        if self._is_closed:
            self._close(connection)
        else:
            self._idle.append(connection)
        return result

    async def _on_each(self, work: Callable[[Connection], Awaitable[T]], deadline: float) -> T:
        """The first server that serves is the first one next time. `work` closes the connection or keeps it."""
        problems = []
        servers = list(self.servers)
        for number, server in enumerate(servers):
            try:
                async with asyncio.timeout_at(_share(deadline, len(servers) - number)):
                    result = await self._on_one(server, work)
            except ConnectionBroken as error:
                problems.append((str(error), error.step))
            except TimeoutError:
                problems.append((f"{server.url} does not answer in time", "connect"))
            else:
                self._prefer(server)
                return result
        texts = "; ".join(problem for problem, _ in problems) or "no server is configured"
        raise ConnectionBroken(texts, problems[-1][1] if problems else "resolve")

    async def _on_one(self, server: ServerAddress, work: Callable[[Connection], Awaitable[T]]) -> T:
        self._make_room()
        self._opening += 1
        try:
            connection = await Connection.open(server, await self.tls(server))
        finally:
            self._opening -= 1
        self._open.add(connection)
        try:
            return await work(connection)
        except BaseException:
            self._close(connection)
            raise

    def _make_room(self) -> None:
        """For one more. Each call uses one at a time, so closing idle ones is enough to stay within `connections`."""
        while len(self._open) + self._opening >= self._config.connections and self._idle:
            self._close(self._idle.pop(0))

    def _close(self, connection: Connection) -> None:
        connection.close()
        self._open.discard(connection)

    def _prefer(self, server: ServerAddress) -> None:
        self.servers.remove(server)
        self.servers.insert(0, server)

    def _avoid(self, server: ServerAddress) -> None:
        """Its other connections are likely broken as well."""
        self.servers.remove(server)
        self.servers.append(server)
        for connection in [each for each in self._idle if each.server == server]:
            self._idle.remove(connection)
            self._close(connection)


def _share(deadline: float, shares: int) -> float:
    """The time at which the first of so many shares of what is left ends."""
    now = asyncio.get_running_loop().time()
    return now + max(0.0, deadline - now) / shares
