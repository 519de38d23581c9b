"""The checks of `gatehouse doctor` and the administration page. Each yields findings: ok, warn or fail, what to do."""

from __future__ import annotations

import os
import shutil
import stat
import time
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from gatehouse.auth.keys.sealing import WrongSecret
from gatehouse.common.wording import plural, size
from gatehouse.settings import DEFAULT_CONFIG, Settings, SettingsError
from gatehouse.settings.master_secret import read_secrets, secret_path
from gatehouse.stores.database import migrate
from gatehouse.stores.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from gatehouse.composition.service import Service

# A node whose clock is off by more refuses fresh tokens of the others.
CLOCK_WARNING_SECONDS = 5.0
LOW_SPACE_BYTES = 500 * 2**20
# By IP version: a network of proxies is not wider than this.
WIDEST_PREFIX = {4: 16, 6: 48}
# A clock before this time is wrong: nothing was signed before this program was written.
EARLIEST = 1_760_000_000


class Level(StrEnum):
    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


class Finding(NamedTuple):
    level: Level
    check: str
    found: str
    advice: str = ""


def ok(check: str, found: str) -> Finding:
    return Finding(Level.OK, check, plural(found))


def warn(check: str, found: str, advice: str) -> Finding:
    return Finding(Level.WARN, check, plural(found), advice)


def fail(check: str, found: str, advice: str) -> Finding:
    return Finding(Level.FAIL, check, found, advice)


async def diagnose(service: Service) -> AsyncIterator[Finding]:
    """Everything that a running service can say of itself."""
    settings = service.settings
    for each in (*check_variables(settings), *check_secret(settings), *check_files(settings, None)):
        yield each
    async for each in check_accounts(service):
        yield each
    async for each in check_state(service):
        yield each
    for each in (*check_test_switches(settings), *check_workers(settings), *check_network(settings)):
        yield each


def check_variables(settings: Settings) -> Iterator[Finding]:
    """A misspelled variable leaves its setting at the default."""
    for name, meant in settings.unknown_variables.items():
        yield warn(
            "settings",
            f"{name} is ignored: there is no such setting",
            f"did you mean {meant}?" if meant else "unset it; docs/settings.md lists all settings",
        )


def check_secret(settings: Settings) -> Iterator[Finding]:
    try:
        known = read_secrets(settings)
    except SettingsError as problem:
        yield fail("secret", str(problem), "start `gatehouse serve` once, or set a random one of 32 characters or more")
        return
    source = "GATEHOUSE_SECRET" if settings.secret else str(secret_path(settings))
    found = f"strong enough, from {source}"
    yield ok("secret", f"{found}; {len(known) - 1} older one(s) to decrypt with" if len(known) > 1 else found)


def check_test_switches(settings: Settings) -> Iterator[Finding]:
    if settings.captcha_test_answer:
        yield warn(
            "test switches",
            "every captcha has the same answer",
            "unset GATEHOUSE_CAPTCHA_TEST_ANSWER before production use",
        )
    if not settings.limits:
        yield warn("test switches", "all limits are off", "unset GATEHOUSE_LIMITS before production use")
    if settings.limits and not settings.captcha_test_answer:
        yield ok("test switches", "all off")


def check_workers(settings: Settings) -> Iterator[Finding]:
    cores = os.cpu_count() or 1
    found = f"{settings.workers} worker(s) on {cores} core(s)"
    if settings.workers > cores:
        yield warn("workers", found, "more workers than cores only cost memory: lower GATEHOUSE_WORKERS")
    elif settings.workers * 4 <= cores:
        yield warn("workers", found, f"most cores stay idle: raise GATEHOUSE_WORKERS, up to {cores}")
    else:
        yield ok("workers", found)


def check_network(settings: Settings) -> Iterator[Finding]:
    everybody = [each for each in settings.trusted_proxies if each.prefixlen == 0]
    if everybody:
        yield fail(
            "proxies",
            f"{everybody[0]} is trusted: anybody can claim any address",
            "list only your own proxies in GATEHOUSE_TRUSTED_PROXIES",
        )
    elif wide := [each for each in settings.trusted_proxies if each.prefixlen < WIDEST_PREFIX[each.version]]:
        yield warn(
            "proxies",
            f"{wide[0]} is trusted: anyone with one of its addresses can claim any other",
            "list only your own proxies in GATEHOUSE_TRUSTED_PROXIES",
        )
    elif settings.listens_on_loopback and not settings.trusted_proxies and not settings.known_on_loopback:
        yield warn(
            "proxies",
            "listens on loopback, the issuer is a public URL and no proxy is trusted: all clients share one address",
            "set GATEHOUSE_TRUSTED_PROXIES to the proxy's address, such as 127.0.0.1",
        )
    else:
        yield ok("proxies", f"{len(settings.trusted_proxies)} network(s) trusted")
    if not settings.issuer and not settings.listens_on_loopback:
        yield warn("issuer", f"tokens name {settings.public_url}", "set GATEHOUSE_ISSUER to the URL that clients see")
    elif settings.issuer.startswith("http://") and not settings.listens_on_loopback:
        yield warn("issuer", f"{settings.issuer} is not https", "passwords travel in the clear: serve it over TLS")
    else:
        yield ok("issuer", settings.public_url)
    if "*" in settings.cors_origins:
        yield warn("cors", "every origin may call", "list the front ends in GATEHOUSE_CORS_ORIGINS")
    else:
        yield ok("cors", f"{len(settings.cors_origins)} origin(s)")


def check_files(settings: Settings, config: Path | None) -> Iterator[Finding]:
    """Databases, secret and settings must be readable by their owner only."""
    exposed = [path for path in _private(settings, config) if _readable_by_others(path)]
    for path in exposed:
        mode = "700" if path.is_dir() else "600"
        yield fail("files", f"others can read {path}", f"chmod {mode} {path}")
    if not exposed:
        yield ok("files", "readable by the owner only")
    if settings.data_dir.is_dir():
        free = shutil.disk_usage(settings.data_dir).free
        found = f"{size(free)} free in {settings.data_dir}"
        yield (
            ok("space", found)
            if free > LOW_SPACE_BYTES
            else warn("space", found, "a full disk stops logins: make room")
        )


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
        await service.database.ping()
        await migrate.check(service.database)
    except migrate.MigrationNeeded as problem:
        yield fail("accounts", str(problem), "run `gatehouse migrate`")
        return
    except StoreError as problem:
        yield fail("accounts", str(problem), "start the database, or correct GATEHOUSE_DATABASE_URL")
        return
    yield ok("accounts", f"{service.database.engine.url.get_backend_name()}, at version {migrate.HEAD}")
    for each in await service.database.configuration_warnings():
        yield warn("accounts", each, "see docs/many-nodes.md")
    yield await _users(service)
    async for finding in _second_factor_roles(service):
        yield finding
    yield await _keys(service)
    yield await _outbox(service)
    yield await _clock(service)


async def _users(service: Service) -> Finding:
    number = await service.accounts.users.count()
    if number == 0:
        return warn("users", "none: nobody can log in", "start `gatehouse serve` once, or `gatehouse user add NAME`")
    return ok("users", f"{number} user(s)")


async def _outbox(service: Service) -> Finding:
    waiting, given_up = await service.outbox.backlog()
    if given_up:
        return fail(
            "outbox", f"{given_up} given up, {waiting} waiting", "see `gatehouse audit --event delivery.given_up`"
        )
    if waiting:
        return warn(
            "outbox", f"{waiting} waiting: state was unavailable after a change", "a running node delivers them"
        )
    return ok("outbox", "nothing waits to be delivered")


async def _second_factor_roles(service: Service) -> AsyncIterator[Finding]:
    """A misspelled role would require a second factor of nobody, without a word."""
    known = {role.code for role in await service.accounts.roles.all()}
    for code in sorted(set(service.settings.second_factor_roles) - known):
        yield fail(
            "second factor",
            f"{code}: there is no role with this code, so nobody must have a second factor because of it",
            "correct GATEHOUSE_SECOND_FACTOR_ROLES; codes are compared exactly",
        )


async def _keys(service: Service) -> Finding:
    try:
        await service.key_ring.load()
        if not service.key_ring.stored:
            return warn("signing keys", "none yet", "start `gatehouse serve` once")
        signer = service.key_ring.signer
    except WrongSecret as problem:
        return fail("signing keys", str(problem), "restore the master secret that encrypted them")
    return ok("signing keys", f"{signer.kid} signs with {signer.algorithm}")


async def _clock(service: Service) -> Finding:
    """Against the database's clock where it has one of its own, else against what was written before."""
    now = time.time()
    if service.database.path is None:
        theirs = await service.database.clock()
        off = abs(time.time() - theirs)
        found = f"{off:.1f} s from the database's"
        return (
            ok("clock", found)
            if off <= CLOCK_WARNING_SECONDS
            else fail("clock", found, "run an NTP client on both machines")
        )
    newest = await service.audit_trail.read(newest=1)
    written = max([EARLIEST, *(entry.at for entry in newest)])
    if now + CLOCK_WARNING_SECONDS < written:
        return fail("clock", "is before the last audit event", "set it: run an NTP client")
    return ok("clock", "not before the last audit event")


async def check_state(service: Service) -> AsyncIterator[Finding]:
    try:
        await service.state.ping()
    except StoreError as problem:
        yield fail("state", str(problem), "start the state store, or correct GATEHOUSE_STATE_URL")
        return
    yield ok("state", "answers reads and writes")
    yield ok("durability", await service.state.durability())
    for each in await service.state.configuration_warnings():
        yield warn("state", each, "see docs/many-nodes.md")
