"""The checks of sources of identity: whether each works, as `test` on the command line shows, and what it maps to."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from gatehouse.auth.identity.sources import read_config
from gatehouse.composition.defined_sources import defined_sources
from gatehouse.doctor.findings import fail, ok, warn
from gatehouse.identity_sources.definitions import DirectoryConfig, SourceKind
from gatehouse.identity_sources.errors import SourceUnavailable
from gatehouse.management.identity_sources import roles_given
from gatehouse.messages import message
from gatehouse.settings import SettingsError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from gatehouse.composition.service import Service
    from gatehouse.doctor.findings import Finding
    from gatehouse.messages import Message
    from gatehouse.settings import Settings
    from gatehouse.stores.database.identity_sources import StoredSource

MAX_SECONDS = 15.0  # for each, all at once


def check_source_variables(settings: Settings) -> Iterator[Finding]:
    try:
        defined_sources(settings)
    except SettingsError as problem:
        yield from (fail("settings", each, message("advice.setting_invalid")) for each in problem.problems)


async def check_sources(service: Service) -> AsyncIterator[Finding]:
    """The enabled ones."""
    known = {role.code for role in await service.stores.roles.all()}
    rows = [row for row in await service.stores.sources.all() if row.enabled]
    tested = await asyncio.gather(*(_test(service, row) for row in rows))
    for row, (step, problem) in zip(rows, tested, strict=True):
        if problem:
            yield fail(
                "sources", message("findings.source_fails", source=row.name, problem=problem), _advice(step, row)
            )
        else:
            yield await _works(service, row)
        if step != "config":
            for each in _check_config(row, known):
                yield each


async def _test(service: Service, row: StoredSource) -> tuple[str, str]:
    """The step that fails, and why; empty if all work."""
    step = "connect"
    try:
        source = service.identity.sources.open(row)
        try:
            async with asyncio.timeout(MAX_SECONDS):
                async for step, works, seen in source.client.test():
                    if not works:
                        return step, seen
        finally:
            await source.client.close()
    except SourceUnavailable as problem:
        return problem.step or step, str(problem)
    except TimeoutError:
        return step, f"no answer within {MAX_SECONDS:g} s"
    return "", ""


async def _works(service: Service, row: StoredSource) -> Finding:
    linked = await service.stores.sources.at_source(row.id)
    gone = sum(each.gone is not None for each in linked)
    return ok("sources", message("findings.source_works", source=row.name, kind=row.kind, users=len(linked), gone=gone))


def _check_config(row: StoredSource, known: set[str]) -> Iterator[Finding]:
    config = read_config(row)
    if missing := sorted(set(roles_given(config)) - known):
        found = message("findings.source_roles", source=row.name, roles=", ".join(missing))
        yield fail("sources", found, message("advice.source_roles"))
    if isinstance(config, DirectoryConfig) and config.allow_plain:
        plain = [url for url in config.urls if url.startswith("ldap://")]
        if plain:
            found = message("findings.source_plain", source=row.name, url=plain[0])
            yield warn("sources", found, message("advice.source_plain"))


def _advice(step: str, row: StoredSource) -> Message:
    command = f"gatehouse {'directory' if row.kind == SourceKind.DIRECTORY else 'provider'} test {row.name}"
    match step:
        case "tls":
            return message("advice.source_certificate")
        case "bind" | "token":
            return message("advice.source_refused", command=command)
        case "extra":
            return message("advice.source_extra")
        case "secret":
            return message("advice.source_secret")
    return message("advice.source", command=command)
