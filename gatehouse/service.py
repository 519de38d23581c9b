"""Puts the parts together: settings in, a running service out. The one place that knows every part."""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gatehouse import logs
from gatehouse.auth.accounts.accounts import Accounts
from gatehouse.auth.accounts.self_service import SelfService
from gatehouse.auth.audit import Audit
from gatehouse.auth.authenticator import Authenticator
from gatehouse.auth.keys.ring import KeyRing, WrongSecret, derive
from gatehouse.auth.keys.rotation import KeyRotation
from gatehouse.auth.keys.service_keys import ServiceKeyVerifier
from gatehouse.auth.login.captcha import Challenges
from gatehouse.auth.login.decoy_hashes import DecoyHashes
from gatehouse.auth.login.login import Login
from gatehouse.auth.login.passwords import HashPool
from gatehouse.auth.login.throttle import Limits, Throttle, Unlimited
from gatehouse.auth.sessions.profiles import Profiles
from gatehouse.auth.sessions.sessions import Lifetimes, Sessions
from gatehouse.auth.sessions.tokens import AccessTokens, RefreshTokens
from gatehouse.secret import read_secrets
from gatehouse.settings import Settings, SettingsError
from gatehouse.stores.accounts.audit_trail import AuditTrail
from gatehouse.stores.accounts.database import Database
from gatehouse.stores.accounts.departments import Departments
from gatehouse.stores.accounts.keys import Keys, ServiceKeyStore
from gatehouse.stores.accounts.roles import Roles
from gatehouse.stores.accounts.users import Users
from gatehouse.stores.errors import StoreUnavailable
from gatehouse.stores.state.sqlite.engine import SQLiteState

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from gatehouse.auth.audit import Caller
    from gatehouse.stores.state.protocol import State

SWEEP_SECONDS = 30.0
PRUNE_SECONDS = 3600.0
KEYS_SECONDS = 15.0
KEYS_RETRY_SECONDS = 0.5

log = logs.named("gatehouse")


@dataclass(frozen=True, slots=True)
class Service:
    """Every part, wired. Open it with `open_service`, run its tasks with `start`, leave with `stop`."""

    settings: Settings
    clock: Callable[[], float]
    database: Database
    trail: AuditTrail
    state: State
    keys: Keys
    ring: KeyRing
    key_rotation: KeyRotation
    audit: Audit
    hashes: HashPool
    challenges: Challenges
    throttle: Throttle
    sessions: Sessions
    access: AccessTokens
    refresh: RefreshTokens
    authenticator: Authenticator
    accounts: Accounts
    self_service: SelfService
    service_keys: ServiceKeyVerifier
    tasks: list[asyncio.Task[None]]

    async def start(self) -> None:
        try:
            await self.ring.load()
        except StoreUnavailable as problem:
            log.warning("the signing keys wait for the database", problem=str(problem))
        self.audit.start()
        self.tasks.append(asyncio.create_task(_run_every(SWEEP_SECONDS, self._sweep)))
        self.tasks.append(asyncio.create_task(_run_every(PRUNE_SECONDS, self.prune_audit)))
        self.tasks.append(asyncio.create_task(self._reload_keys_forever()))

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

    async def prune_audit(self) -> None:
        while await self.trail.prune(self.clock() - self.settings.audit_keep):  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.05)

    async def _reload_keys_forever(self) -> None:
        """A worker that starts while the database is away serves as soon as it is back."""
        while not self.ring.loaded:
            await asyncio.sleep(KEYS_RETRY_SECONDS)
            with suppress(StoreUnavailable, WrongSecret):  # `reload_keys` tells of a wrong secret
                await self.ring.load()
        await _run_every(KEYS_SECONDS, self.reload_keys)

    async def reload_keys(self) -> None:
        """Keep in step with the secret and the keys, which an operator or another node may change at any time."""
        try:
            self._reload_secrets()
            await self.ring.load()
            await self.key_rotation.rotate_if_due()
        except (SettingsError, WrongSecret) as problem:
            # What was good is kept: everybody stays logged in, and an operator has time to mend it.
            log.warning("the master secret cannot be used", problem=str(problem))

    def _reload_secrets(self) -> None:
        secrets = read_secrets(self.settings)
        if secrets != self.ring.secrets:
            self.ring.secrets = secrets
            self.refresh.rekey(*_derive_each(secrets, "refresh tokens"))
            self.challenges.rekey(*_derive_each(secrets, "captcha"))


def open_service(settings: Settings, clock: Callable[[], float] = time.time, caller: Caller | None = None) -> Service:
    """Wire every part. `caller` is whom the audit trail names for changes to accounts."""
    secrets = read_secrets(settings)
    database = open_database(settings)
    state = open_state(settings)
    users, keys, trail = Users(database), Keys(database), AuditTrail(database)
    audit = Audit(trail, clock)
    ring = KeyRing(keys, secrets, clock, token_ttl=settings.access_ttl)
    key_rotation = KeyRotation(store=keys, ring=ring, audit=audit, clock=clock, max_age=settings.key_max_age)
    lifetimes = Lifetimes(settings.access_ttl, settings.refresh_ttl, settings.session_max, settings.refresh_grace)
    sessions = Sessions(state, audit, clock, lifetimes, settings.sessions_per_user)
    access = AccessTokens(ring, settings.public_url, settings.audience)
    hashes = HashPool(_hash_threads(settings), settings.hash_queue)
    refresh = RefreshTokens(*_derive_each(secrets, "refresh tokens"))
    captcha_keys = _derive_each(secrets, "captcha")
    challenges = Challenges(captcha_keys[0], settings.captcha_ttl, fixed_answer=settings.captcha_test_answer or None)
    challenges.rekey(*captcha_keys)
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
        decoy_hashes=DecoyHashes(users, derive(secrets[0], "stand-ins"), clock),
        exempt=settings.captcha_exempt_addresses,
    )
    authenticator = Authenticator(
        login=login,
        sessions=sessions,
        profiles=Profiles(users, clock),
        access=access,
        refresh=refresh,
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
        key_rotation=key_rotation,
        audit=audit,
        hashes=hashes,
        challenges=challenges,
        throttle=throttle,
        sessions=sessions,
        access=access,
        refresh=refresh,
        authenticator=authenticator,
        accounts=accounts,
        self_service=SelfService(sessions=sessions, accounts=accounts, hashes=hashes, throttle=throttle, audit=audit),
        service_keys=ServiceKeyVerifier(ServiceKeyStore(database)),
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
        from gatehouse.stores.state.redis.engine import RedisState  # noqa: PLC0415 - an extra: not everybody has it
    except ImportError:
        raise SettingsError(["GATEHOUSE_STATE_URL: Redis needs an extra: pip install 'gatehouse[redis]'"]) from None
    try:
        return RedisState(settings.state_url)
    except (ValueError, OSError) as problem:
        raise SettingsError([f"GATEHOUSE_STATE_URL: {problem}"]) from None


def _derive_each(secrets: tuple[bytes, ...], purpose: str) -> list[bytes]:
    return [derive(secret, purpose) for secret in secrets]


def _hash_threads(settings: Settings) -> int:
    return settings.hash_threads or max(1, (os.cpu_count() or 1) // settings.workers)


async def _run_every(seconds: float, work: Callable[[], Awaitable[None]]) -> None:
    """Housekeeping that goes on whatever happens: a store that is away now is tried again next time."""
    while True:
        await asyncio.sleep(seconds)
        try:
            await work()
        except StoreUnavailable as problem:
            log.warning("housekeeping waits for a store", problem=str(problem))
