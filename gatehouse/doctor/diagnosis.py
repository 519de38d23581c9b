"""The checks of `gatehouse doctor` and the administration page. Each yields findings: ok, warn or fail, what to do."""

from __future__ import annotations

import os
import shutil
import stat
import time
from typing import TYPE_CHECKING

from gatehouse.auth.keys.sealing import WrongSecret
from gatehouse.doctor.client_checks import check_clients
from gatehouse.doctor.findings import fail, ok, warn
from gatehouse.doctor.source_checks import check_source_variables, check_sources
from gatehouse.messages import message
from gatehouse.messages.quantities import size
from gatehouse.settings import DEFAULT_CONFIG, Settings, SettingsError
from gatehouse.settings.master_secret import read_secrets, secret_path
from gatehouse.stores.database import migrate
from gatehouse.stores.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from gatehouse.composition.service import Service
    from gatehouse.doctor.findings import Finding

# A node whose clock is off by more refuses fresh tokens of the others.
CLOCK_WARNING_SECONDS = 5.0
LOW_SPACE_BYTES = 500 * 2**20
# By IP version: a network of proxies is not wider than this.
WIDEST_PREFIX = {4: 16, 6: 48}
# A clock before this time is wrong: nothing was signed before this program was written.
EARLIEST = 1_760_000_000


async def diagnose(service: Service) -> AsyncIterator[Finding]:
    """Everything that a running service can say of itself."""
    settings = service.settings
    for each in (
        *check_variables(settings),
        *check_source_variables(settings),
        *check_secret(settings),
        *check_files(settings, None),
    ):
        yield each
    async for each in check_accounts(service):
        yield each
    async for each in check_state(service):
        yield each
    async for each in check_sources(service):
        yield each
    async for each in check_clients(service):
        yield each
    for each in (*check_test_switches(settings), *check_workers(settings), *check_network(settings)):
        yield each


def check_variables(settings: Settings) -> Iterator[Finding]:
    """A misspelled variable leaves its setting at the default."""
    for name, meant in settings.unknown_variables.items():
        yield warn(
            "settings",
            message("findings.unknown_variable", variable=name),
            message("advice.setting_meant", setting=meant) if meant else message("advice.setting_unknown"),
        )


def check_secret(settings: Settings) -> Iterator[Finding]:
    try:
        known = read_secrets(settings)
    except SettingsError as problem:
        yield fail("secret", str(problem), message("advice.secret"))
        return
    source = "GATEHOUSE_SECRET" if settings.secret else str(secret_path(settings))
    if older := len(known) - 1:
        yield ok("secret", message("findings.secret_with_older", source=source, older=older))
    else:
        yield ok("secret", message("findings.secret", source=source))


def check_test_switches(settings: Settings) -> Iterator[Finding]:
    if settings.captcha_test_answer:
        yield warn("test switches", message("findings.captcha_test_answer"), message("advice.captcha_test_answer"))
    if not settings.limits:
        yield warn("test switches", message("findings.limits_off"), message("advice.limits"))
    if settings.limits and not settings.captcha_test_answer:
        yield ok("test switches", message("findings.test_switches_off"))


def check_workers(settings: Settings) -> Iterator[Finding]:
    cores = os.cpu_count() or 1
    found = message("findings.workers", workers=settings.workers, cores=cores)
    if settings.workers > cores:
        yield warn("workers", found, message("advice.workers_fewer"))
    elif settings.workers * 4 <= cores:
        yield warn("workers", found, message("advice.workers_more", cores=cores))
    else:
        yield ok("workers", found)


def check_network(settings: Settings) -> Iterator[Finding]:
    everybody = [each for each in settings.trusted_proxies if each.prefixlen == 0]
    if everybody:
        yield fail(
            "proxies",
            message("findings.proxies_everybody", network=everybody[0]),
            message("advice.proxies_fewer"),
        )
    elif wide := [each for each in settings.trusted_proxies if each.prefixlen < WIDEST_PREFIX[each.version]]:
        yield warn(
            "proxies",
            message("findings.proxies_wide", network=wide[0]),
            message("advice.proxies_fewer"),
        )
    elif settings.listens_on_loopback and not settings.trusted_proxies and not settings.known_on_loopback:
        yield warn("proxies", message("findings.proxies_missing"), message("advice.proxies"))
    else:
        yield ok("proxies", message("findings.proxies", networks=len(settings.trusted_proxies)))
    if not settings.issuer and not settings.listens_on_loopback:
        yield warn("issuer", message("findings.issuer_missing", url=settings.public_url), message("advice.issuer"))
    elif settings.issuer.startswith("http://") and not settings.listens_on_loopback:
        yield warn("issuer", message("findings.issuer_without_tls", url=settings.issuer), message("advice.issuer_tls"))
    else:
        yield ok("issuer", settings.public_url)
    if "*" in settings.cors_origins:
        yield warn("cors", message("findings.cors_everybody"), message("advice.cors"))
    else:
        yield ok("cors", message("findings.cors", origins=len(settings.cors_origins)))


def check_files(settings: Settings, config: Path | None) -> Iterator[Finding]:
    """Databases, secret and settings must be readable by their owner only."""
    exposed = [path for path in _private(settings, config) if _readable_by_others(path)]
    for path in exposed:
        mode = "700" if path.is_dir() else "600"
        yield fail("files", message("findings.file_exposed", path=path), f"chmod {mode} {path}")
    if not exposed:
        yield ok("files", message("findings.files"))
    if settings.data_dir.is_dir():
        free = shutil.disk_usage(settings.data_dir).free
        found = message("findings.space", free=size(free), folder=settings.data_dir)
        yield (ok("space", found) if free > LOW_SPACE_BYTES else warn("space", found, message("advice.space")))


def _private(settings: Settings, config: Path | None) -> Iterator[Path]:
    if settings.data_dir.is_dir():
        yield settings.data_dir
        yield from sorted(path for path in settings.data_dir.iterdir() if path.is_file())
    outside = [settings.secret_file, config or (DEFAULT_CONFIG if DEFAULT_CONFIG.exists() else None)]
    yield from (path for path in outside if path is not None and path.exists())


def _readable_by_others(path: Path) -> bool:
    return bool(path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO))


async def check_accounts(service: Service) -> AsyncIterator[Finding]:
    try:
        await service.stores.database.ping()
        await migrate.check(service.stores.database)
    except migrate.MigrationNeeded as problem:
        yield fail("accounts", str(problem), message("advice.migrate"))
        return
    except StoreError as problem:
        yield fail("accounts", str(problem), message("advice.accounts"))
        return
    engine = service.stores.database.engine.url.get_backend_name()
    yield ok("accounts", message("findings.accounts", engine=engine, version=migrate.HEAD))
    for each in await service.stores.database.configuration_warnings():
        yield warn("accounts", each, message("advice.server"))
    yield await _users(service)
    async for finding in _second_factor_roles(service):
        yield finding
    yield await _keys(service)
    yield await _outbox(service)
    async for finding in _recipients(service):
        yield finding
    yield await _clock(service)


async def _users(service: Service) -> Finding:
    number = await service.stores.users.count()
    if number == 0:
        return warn("users", message("findings.no_users"), message("advice.users"))
    return ok("users", message("findings.users", users=number))


async def _outbox(service: Service) -> Finding:
    waiting, given_up = await service.outbox.backlog()
    if given_up:
        found = message("findings.outbox_given_up", given_up=given_up, waiting=waiting)
        return fail("outbox", found, message("advice.outbox_given_up"))
    if waiting:
        return warn("outbox", message("findings.outbox_waiting", waiting=waiting), message("advice.outbox_waiting"))
    return ok("outbox", message("findings.outbox_empty"))


async def _recipients(service: Service) -> AsyncIterator[Finding]:
    """An application that does not take its logout tokens keeps people logged in who have logged out."""
    for name, waiting, given_up, problem in await service.outbox.recipients():
        found = message("findings.recipient", name=name, waiting=waiting, given_up=given_up, problem=problem)
        yield warn("outbox", found, message("advice.recipient"))


async def _second_factor_roles(service: Service) -> AsyncIterator[Finding]:
    """A misspelled role would require a second factor of nobody, without a word."""
    known = {role.code for role in await service.stores.roles.all()}
    for code in sorted(set(service.settings.second_factor_roles) - known):
        yield fail("second factor", message("findings.no_such_role", role=code), message("advice.second_factor_roles"))


async def _keys(service: Service) -> Finding:
    try:
        await service.key_ring.load()
        if not service.key_ring.stored:
            return warn("signing keys", message("findings.no_signing_keys"), message("advice.signing_keys"))
        signer = service.key_ring.signer
    except WrongSecret as problem:
        return fail("signing keys", str(problem), message("advice.signing_keys_secret"))
    return ok("signing keys", message("findings.signing_keys", key=signer.kid, algorithm=signer.algorithm))


async def _clock(service: Service) -> Finding:
    """Against the database's clock where it has one of its own, else against what was written before."""
    now = time.time()
    if service.stores.database.path is None:
        theirs = await service.stores.database.clock()
        off = abs(time.time() - theirs)
        found = message("findings.clock_difference", seconds=f"{off:.1f}")
        return (
            ok("clock", found)
            if off <= CLOCK_WARNING_SECONDS
            else fail("clock", found, message("advice.clock_difference"))
        )
    newest = await service.stores.audit_trail.read(newest=1)
    written = max([EARLIEST, *(entry.at for entry in newest)])
    if now + CLOCK_WARNING_SECONDS < written:
        return fail("clock", message("findings.clock_behind"), message("advice.clock"))
    return ok("clock", message("findings.clock"))


async def check_state(service: Service) -> AsyncIterator[Finding]:
    try:
        await service.stores.state.ping()
    except StoreError as problem:
        yield fail("state", str(problem), message("advice.state"))
        return
    yield ok("state", message("findings.state"))
    yield ok("durability", await service.stores.state.durability())
    for each in await service.stores.state.configuration_warnings():
        yield warn("state", each, message("advice.server"))
