"""`test` of a directory: what works, step by step, in words that an operator can act on."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import ldap

from gatehouse.identity_sources.clients import TestStep
from gatehouse.identity_sources.directory.connection import Connection
from gatehouse.identity_sources.directory.link import Link, connect, resolve
from gatehouse.identity_sources.errors import SourceUnavailable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from gatehouse.identity_sources.directory.connection import Entry
    from gatehouse.identity_sources.directory.link import ServerAddress
    from gatehouse.identity_sources.directory.person_search import PersonSearch
    from gatehouse.identity_sources.directory.pool import Pool

_SAMPLE = 5  # people


async def self_test(pool: Pool, search: PersonSearch, name: str, seconds: float) -> AsyncIterator[TestStep]:
    """Each server is opened, then the first is searched. Ends with the first step that fails."""
    connections: list[Connection] = []
    step = "resolve"
    try:
        if not pool.servers:
            raise SourceUnavailable("no server is configured: urls is empty", "resolve")
        for server in tuple(pool.servers):
            async for step, seen in _opened(pool, server, connections, seconds):
                if seen:
                    yield TestStep(step, works=True, seen=seen)
        async for step, seen in _searched(connections[0], search, name, seconds):
            if seen:
                yield TestStep(step, works=True, seen=seen)
    except TimeoutError:
        yield TestStep(step, works=False, seen=f"no answer within {seconds:g} s")
    except SourceUnavailable as error:
        yield TestStep(error.step or step, works=False, seen=str(error))
    finally:
        for connection in connections:
            connection.close()


async def _opened(
    pool: Pool, server: ServerAddress, connections: list[Connection], seconds: float
) -> AsyncIterator[tuple[str, str]]:
    """Each step twice: before it is tried with "", then with what was seen."""
    yield "resolve", ""
    async with asyncio.timeout(seconds):
        addresses = await resolve(server)
    yield "resolve", f"{server.host} is {', '.join(dict.fromkeys(address[0] for _, address in addresses))}"
    yield "connect", ""
    async with asyncio.timeout(seconds):
        sock = await connect(server, addresses)
    try:
        yield "connect", f"{server.host}:{server.port} takes connections"
        yield "tls", ""
        async with asyncio.timeout(seconds):
            link = await Link.open(server, sock, await pool.tls(server))
    except BaseException:
        sock.close()
        raise
    connection = Connection(server, link)
    connections.append(connection)
    yield "tls", _tls_seen(server, link, pool.authorities)
    yield "bind", ""
    async with asyncio.timeout(seconds):
        await pool.bind_service(connection)
    yield "bind", f"{server.url} accepts {pool.bind_dn or 'an anonymous bind'}"


def _tls_seen(server: ServerAddress, link: Link, authorities: str) -> str:
    if not server.tls:
        return "no TLS, as allow_plain says: passwords can be read on the way"
    return f"{link.tls_version}, a certificate for {server.host}, signed by {authorities}"


async def _searched(
    connection: Connection, search: PersonSearch, name: str, seconds: float
) -> AsyncIterator[tuple[str, str]]:
    layout = search.layout
    yield "search", ""
    async with asyncio.timeout(seconds):
        await _require_base(connection, layout.base, "search", "base")
        people = await _first_people(connection, search, seconds)
    if not people:
        raise SourceUnavailable(f"nobody below {layout.base} matches {layout.user_filter}", "search")
    more = " or more" if len(people) == _SAMPLE else ""
    yield "search", f"{len(people)}{more} below {layout.base} match {layout.user_filter}"
    yield "groups", ""
    async with asyncio.timeout(seconds):
        await _require_base(connection, layout.group_base, "groups", "group_base")
        person = await search.with_groups(connection, people[0])
    yield "groups", f"{person.name} has {len(person.groups)} names of groups, searched below {layout.group_base}"
    if name:
        yield "person", ""
        async with asyncio.timeout(seconds):
            seen = await _person_seen(connection, search, name)
        yield "person", seen


async def _first_people(connection: Connection, search: PersonSearch, seconds: float) -> list[Entry]:
    async for page in search.pages(connection, _SAMPLE, seconds):
        return page
    return []


async def _require_base(connection: Connection, base: str, step: str, setting: str) -> None:
    try:
        found = await connection.search(base, "(objectClass=*)", ["1.1"], scope=ldap.SCOPE_BASE)
    except SourceUnavailable as error:
        raise SourceUnavailable(f"{setting} {base!r} cannot be searched: {error}", step) from None
    if not found:
        raise SourceUnavailable(f"{setting} {base!r} is not visible to the service account", step)


async def _person_seen(connection: Connection, search: PersonSearch, name: str) -> str:
    entries = await search.named(connection, name)
    if not entries:
        attributes = ", ".join(search.layout.name_attributes)
        raise SourceUnavailable(f"nobody who matches the user filter has {name!r} as {attributes}", "person")
    if len(entries) > 1:
        raise SourceUnavailable(f"{name!r} is ambiguous: {'; '.join(entry.dn for entry in entries)}", "person")
    person = await search.with_groups(connection, entries[0])
    groups = ", ".join(person.groups) or "none"
    return f"{entries[0].dn}, {search.layout.subject_attribute} {person.subject}, groups: {groups}"
