"""Puts the parts together: settings in, a running service out. The one place that knows every part."""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from gatehouse.auth.accounts import Accounts
from gatehouse.auth.audit import Audit
from gatehouse.auth.captcha import Challenges
from gatehouse.auth.first_start import furnish
from gatehouse.auth.gate import Gate
from gatehouse.auth.keys import KeyRing, derive
from gatehouse.auth.login import Login
from gatehouse.auth.passwords import HashPool
from gatehouse.auth.profiles import Profiles
from gatehouse.auth.self_service import SelfService
from gatehouse.auth.service_keys import ServiceKeys
from gatehouse.auth.sessions import Lifetimes, Sessions
from gatehouse.auth.throttle import Limits, Throttle, Unlimited
from gatehouse.auth.tokens import AccessTokens, RefreshTokens
from gatehouse.secret import make_secret, read_secret
from gatehouse.settings import Settings, SettingsError
from gatehouse.stores.accounts import migrate
from gatehouse.stores.accounts.database import Database
from gatehouse.stores.accounts.departments import Departments
from gatehouse.stores.accounts.keys import Keys
from gatehouse.stores.accounts.keys import ServiceKeys as StoredServiceKeys
from gatehouse.stores.accounts.roles import Roles
from gatehouse.stores.accounts.trail import Trail
from gatehouse.stores.accounts.users import Users
from gatehouse.stores.errors import StoreUnavailable
from gatehouse.stores.state.sqlite import SQLiteState
from gatehouse.stores.state.sqlite import create as create_state

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from gatehouse.auth.audit import Caller
    from gatehouse.stores.state import State

SWEEP_SECONDS = 30.0
KEYS_SECONDS = 15.0
KEYS_RETRY_SECONDS = 0.5

log = structlog.get_logger("gatehouse")


@dataclass(frozen=True, slots=True)
class Service:
    """Every part, wired. Open it with `open_service`, run its tasks with `start`, leave with `stop`."""

    settings: Settings
    clock: Callable[[], float]
    database: Database
    trail: Trail
    state: State
    keys: Keys
    ring: KeyRing
    audit: Audit
    hashes: HashPool
    challenges: Challenges
    throttle: Throttle
    sessions: Sessions
    access: AccessTokens
    gate: Gate
    accounts: Accounts
    self_service: SelfService
    service_keys: ServiceKeys
    tasks: list[asyncio.Task[None]]

    async def start(self) -> None:
        try:
            await self.ring.load()
        except StoreUnavailable as problem:
            log.warning("the signing keys wait for the database", problem=str(problem))
        self.audit.start()
        self.tasks.append(asyncio.create_task(_every(SWEEP_SECONDS, self._sweep)))
        self.tasks.append(asyncio.create_task(self._keep_keys()))

    async def stop(self) -> None:
        for task in self.tasks:
            task.cancel()
        for task in self.tasks:
            with suppress(asyncio.CancelledError):
                await task
        await self.audit.stop()
        self.hashes.close()
        await self.state.close()
        await self.database.close()

    async def _sweep(self) -> None:
        # Small batches with a pause between them: sweeping never holds up a request.
        while await self.sessions.sweep():  # noqa: ASYNC110 - a pause, not a poll
            await asyncio.sleep(0.05)

    async def _keep_keys(self) -> None:
        """A worker that starts while the database is away serves as soon as it is back."""
        while not self.ring.loaded:
            await asyncio.sleep(KEYS_RETRY_SECONDS)
            with suppress(StoreUnavailable):
                await self.ring.load()
        await _every(KEYS_SECONDS, self._reload_keys)

    async def _reload_keys(self) -> None:
        if await self.ring.load():
            self.access.forget()


async def prepare(settings: Settings) -> str | None:
    """Everything that must be there before a worker starts: folder, secret, tables, first administrator.

    Safe to run in several processes at once. Returns the administrator's password if one was made up.
    """
    if settings.embedded_accounts or settings.embedded_state or not (settings.secret or settings.secret_file):
        settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    make_secret(settings)
    secret = read_secret(settings)
    if settings.embedded_state:
        create_state(settings.state_path)
    database = open_database(settings)
    try:
        if settings.embedded_accounts:
            await migrate.migrate(database)
        else:
            await migrate.check(database)
        async with migrate.exclusive(database):
            return await furnish(
                users=Users(database),
                roles=Roles(database),
                departments=Departments(database),
                keys=Keys(database),
                secret=secret,
                password=settings.admin_password,
                now=time.time(),
            )
    finally:
        await database.close()


def open_service(settings: Settings, clock: Callable[[], float] = time.time, caller: Caller | None = None) -> Service:
    """Wire every part. `caller` is whom the audit trail names for changes to accounts."""
    secret = read_secret(settings)
    database = open_database(settings)
    state = open_state(settings)
    users, keys, trail = Users(database), Keys(database), Trail(database)
    audit = Audit(trail, clock)
    ring = KeyRing(keys, secret, clock, honoured_for=settings.access_ttl)
    lifetimes = Lifetimes(settings.access_ttl, settings.refresh_ttl, settings.session_max, settings.refresh_grace)
    sessions = Sessions(state, audit, clock, lifetimes, settings.sessions_per_user)
    access = AccessTokens(ring, settings.public_url, settings.audience)
    hashes = HashPool(_hash_threads(settings), settings.hash_queue)
    challenges = Challenges(
        derive(secret, "captcha"), settings.captcha_ttl, fixed_answer=settings.captcha_test_answer or None
    )
    throttle = (Throttle if settings.limits else Unlimited)(
        state,
        clock,
        Limits(
            settings.limit_login_address,
            settings.limit_login_name,
            settings.limit_login_total,
            settings.limit_captcha_address,
            settings.limit_refresh_address,
        ),
    )
    login = Login(
        state=state,
        users=users,
        hashes=hashes,
        challenges=challenges,
        throttle=throttle,
        sessions=sessions,
        audit=audit,
        clock=clock,
        exempt=settings.captcha_exempt_addresses,
    )
    gate = Gate(
        login=login,
        sessions=sessions,
        profiles=Profiles(users, clock),
        access=access,
        refresh=RefreshTokens(derive(secret, "refresh tokens")),
        throttle=throttle,
        audit=audit,
        clock=clock,
        access_ttl=settings.access_ttl,
    )
    accounts = Accounts(
        users=users,
        roles=Roles(database),
        departments=Departments(database),
        state=state,
        sessions=sessions,
        audit=audit,
        clock=clock,
        caller=caller,
    )
    return Service(
        settings=settings,
        clock=clock,
        database=database,
        trail=trail,
        state=state,
        keys=keys,
        ring=ring,
        audit=audit,
        hashes=hashes,
        challenges=challenges,
        throttle=throttle,
        sessions=sessions,
        access=access,
        gate=gate,
        accounts=accounts,
        self_service=SelfService(sessions=sessions, accounts=accounts, hashes=hashes, throttle=throttle, audit=audit),
        service_keys=ServiceKeys(StoredServiceKeys(database)),
        tasks=[],
    )


def open_database(settings: Settings) -> Database:
    try:
        return Database(settings.accounts_url)
    except ImportError:
        raise SettingsError(
            ["GATEHOUSE_DATABASE_URL: PostgreSQL needs an extra: pip install 'gatehouse[postgres]'"]
        ) from None
    except (ValueError, TypeError) as problem:
        raise SettingsError([f"GATEHOUSE_DATABASE_URL: {problem}"]) from None


def open_state(settings: Settings) -> State:
    if settings.embedded_state:
        return SQLiteState(settings.state_path)
    try:
        from gatehouse.stores.state.redis import RedisState  # noqa: PLC0415 - an extra: not everybody has it
    except ImportError:
        raise SettingsError(["GATEHOUSE_STATE_URL: Redis needs an extra: pip install 'gatehouse[redis]'"]) from None
    try:
        return RedisState(settings.state_url)
    except (ValueError, OSError) as problem:
        raise SettingsError([f"GATEHOUSE_STATE_URL: {problem}"]) from None


def _hash_threads(settings: Settings) -> int:
    return settings.hash_threads or max(1, (os.cpu_count() or 1) // settings.workers)


async def _every(seconds: float, work: Callable[[], Awaitable[None]]) -> None:
    """Housekeeping that goes on whatever happens: a store that is away now is tried again next time."""
    while True:
        await asyncio.sleep(seconds)
        try:
            await work()
        except StoreUnavailable as problem:
            log.warning("housekeeping waits for a store", problem=str(problem))
