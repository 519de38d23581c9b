"""A directory that is asked over LDAP: the `Directory` of `clients.py`."""

from __future__ import annotations

import asyncio
import secrets
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import ldap

from gatehouse.common.logs import log
from gatehouse.identity_sources.clients import PasswordResult
from gatehouse.identity_sources.directory.bind_refusals import REFUSALS, policy_tag, refusal
from gatehouse.identity_sources.directory.call_queue import CallQueue, CircuitBreaker
from gatehouse.identity_sources.directory.entries import is_encodable, person_of
from gatehouse.identity_sources.directory.failures import ConnectionBroken, failure
from gatehouse.identity_sources.directory.groups import GroupSearch
from gatehouse.identity_sources.directory.person_search import PersonSearch
from gatehouse.identity_sources.directory.pool import Pool
from gatehouse.identity_sources.directory.self_test import self_test
from gatehouse.identity_sources.directory.vendor_defaults import layout
from gatehouse.identity_sources.errors import SourceUnavailable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from gatehouse.identity_sources.clients import TestStep
    from gatehouse.identity_sources.definitions import DirectoryConfig
    from gatehouse.identity_sources.directory.connection import Connection, Entry
    from gatehouse.identity_sources.person import Person

PAGE = 200  # entries
# Steps whose failure concerns everybody: the next call would fail in the same way, after the same time.
_STEPS_OF_ALL = {"resolve", "connect", "tls", "bind"}


class LdapDirectory:
    """Of a wrong password the result has the person without groups: they are asked for after a right one."""

    def __init__(self, config: DirectoryConfig, bind_password: str) -> None:
        self._timeout = config.timeout
        self._search = PersonSearch(layout(config))
        self._pool = Pool(config, bind_password)
        self._queue = CallQueue(config.connections)
        self._breaker = CircuitBreaker()

    async def check_password(self, name: str, password: str) -> PasswordResult:
        # An empty password is an anonymous bind, which succeeds; libldap would end the password at a NUL.
        if not password or "\0" in password or not is_encodable(password):
            return PasswordResult(None, correct=False)
        async with self._call() as deadline:
            entries = await self._pool.ask(lambda connection: self._search.named(connection, name), deadline)
            if len(entries) != 1:
                await self._bind_as_nobody(deadline)
                return PasswordResult(None, correct=False, refused=_ambiguous(name, entries))
            person = person_of(entries[0], self._search.layout)
            correct, refused = await self._bind(entries[0].dn, password, deadline)
            if correct and not refused:
                # Only now: a wrong password takes as many questions as an unknown name.
                person = await self._pool.ask(
                    lambda connection: self._search.with_groups(connection, entries[0]), deadline
                )
            return PasswordResult(person, correct, refused)

    async def find(self, name: str) -> Person | None:
        async def work(connection: Connection) -> Person | None:
            entries = await self._search.named(connection, name)
            if len(entries) != 1:
                _ambiguous(name, entries)
                return None
            return await self._search.with_groups(connection, entries[0])

        async with self._call() as deadline:
            return await self._pool.ask(work, deadline)

    async def by_subject(self, subject: str) -> Person | None:
        async def work(connection: Connection) -> Person | None:
            entry = await self._search.by_subject(connection, subject)
            return await self._search.with_groups(connection, entry) if entry else None

        async with self._call() as deadline:
            return await self._pool.ask(work, deadline)

    async def people(self) -> AsyncIterator[Person]:
        """On a connection of its own: its pages belong to it. The timeout holds for each page and each person."""
        connection = await self._pool.open_bound(asyncio.get_running_loop().time() + self._timeout)
        groups = GroupSearch(self._search.layout)
        try:
            async for entries in self._search.pages(connection, PAGE, self._timeout):
                for entry in entries:
                    async with asyncio.timeout(self._timeout):
                        person = await self._search.with_groups(connection, entry, groups)
                    yield person
        except TimeoutError:
            raise SourceUnavailable(f"no answer within {self._timeout:g} s", "groups") from None
        finally:
            connection.close()

    def test(self, name: str = "") -> AsyncIterator[TestStep]:
        return self_test(self._pool, self._search, name, self._timeout)

    async def close(self) -> None:
        self._pool.close()

    @asynccontextmanager
    async def _call(self) -> AsyncIterator[float]:
        """Everything that one call does, its waiting included, takes `timeout` at most. Gives the deadline."""
        admitted = False
        try:
            async with asyncio.timeout(self._timeout) as time, self._queue.turn(), self._breaker.guard():
                admitted = True
                yield time.when() or 0.0
        except TimeoutError:
            problem = f"no answer within {self._timeout:g} s"
            if admitted:
                self._breaker.open(problem)
            raise SourceUnavailable(problem, "connect") from None
        except SourceUnavailable as error:
            if admitted and (isinstance(error, ConnectionBroken) or error.step in _STEPS_OF_ALL):
                self._breaker.open(str(error))
            raise

    async def _bind(self, dn: str, password: str, deadline: float) -> tuple[bool, str]:
        """Whether the password is right, and why it is refused all the same. Never on a pooled connection, which would
        be somebody else afterwards."""

        async def work(connection: Connection) -> tuple[bool, str]:
            try:
                problem = await connection.bind(dn, password)
            except REFUSALS as error:
                return refusal(error)
            except ldap.LDAPError as error:
                raise failure(error, connection.server.url) from None
            return True, policy_tag(problem)

        return await self._pool.on_new(work, deadline)

    async def _bind_as_nobody(self, deadline: float) -> None:
        """So that a name that is not there takes the time of one that is."""
        await self._bind(f"cn={secrets.token_hex(16)},{self._search.layout.base}", secrets.token_hex(16), deadline)


def _ambiguous(name: str, entries: list[Entry]) -> str:
    if not entries:
        return ""
    log.warning("a login name has several entries in the directory", name=name, dns=[each.dn for each in entries])
    return "ambiguous"
