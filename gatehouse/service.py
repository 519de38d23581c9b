"""Puts the parts together: settings in, a running service out. The one place that knows every part."""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from gatehouse import logs
from gatehouse.auth.accounts.accounts import Accounts
from gatehouse.auth.accounts.live_sessions import LiveSessions
from gatehouse.auth.accounts.log import ActivityLog
from gatehouse.auth.accounts.perms import is_administrator_role
from gatehouse.auth.accounts.self_service import SelfService
from gatehouse.auth.audit import Audit
from gatehouse.auth.authenticator import Authenticator
from gatehouse.auth.keys.ring import NODE_RELOAD_SECONDS, KeyRing
from gatehouse.auth.keys.rotation import KeyRotation
from gatehouse.auth.keys.sealing import WrongSecret, derive
from gatehouse.auth.keys.service_keys import ServiceKeyVerifier
from gatehouse.auth.login.captcha import Challenges
from gatehouse.auth.login.decoy_hashes import DecoyHashes
from gatehouse.auth.login.hash_pool import HashPool
from gatehouse.auth.login.login import Login
from gatehouse.auth.login.places import Places
from gatehouse.auth.login.throttle import Limits, Throttle, Unlimited
from gatehouse.auth.sessions.claims import ClaimSet
from gatehouse.auth.sessions.ended_sessions import EndedSessions
from gatehouse.auth.sessions.event_delivery import EventDelivery
from gatehouse.auth.sessions.front_ends import FrontEnds
from gatehouse.auth.sessions.presence import Presence
from gatehouse.auth.sessions.profiles import Profiles
from gatehouse.auth.sessions.sessions import Lifetimes, Sessions
from gatehouse.auth.sessions.tokens import AccessTokens, RefreshTokens
from gatehouse.factor_services import FactorServices, open_factors
from gatehouse.secret import read_secrets
from gatehouse.settings import Settings, SettingsError
from gatehouse.stores.accounts.audit_trail import AuditTrail
from gatehouse.stores.accounts.changes import Changes
from gatehouse.stores.accounts.database import Database
from gatehouse.stores.accounts.departments import Departments
from gatehouse.stores.accounts.factors import Factors
from gatehouse.stores.accounts.keys import Keys, ServiceKeyStore
from gatehouse.stores.accounts.login_days import LoginDays
from gatehouse.stores.accounts.login_places import LoginPlaces
from gatehouse.stores.accounts.menus import Menus
from gatehouse.stores.accounts.passkeys import Passkeys
from gatehouse.stores.accounts.roles import Roles
from gatehouse.stores.accounts.user_search import UserSearch
from gatehouse.stores.accounts.users import Users
from gatehouse.stores.errors import StoreUnavailable
from gatehouse.stores.state.sqlite.engine import SQLiteState

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from gatehouse.auth.audit import Caller
    from gatehouse.stores.state.protocol import State

SWEEP_SECONDS = 30.0
PRUNE_SECONDS = 3600.0
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
    factors: FactorServices
    places: Places
    activity_log: ActivityLog
    live_sessions: LiveSessions
    front_ends: FrontEnds
    presence: Presence
    service_keys: ServiceKeyVerifier
    ended_sessions: EndedSessions
    event_delivery: EventDelivery
    tasks: list[asyncio.Task[None]]

    async def start(self) -> None:
        try:
            await self.ring.load()
        except StoreUnavailable as problem:
            log.warning("database unavailable, signing keys not loaded yet", problem=str(problem))
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
        await _run_every(NODE_RELOAD_SECONDS, self.reload_keys)

    async def reload_keys(self) -> None:
        """Keep in step with the secret and the keys, which an operator or another node may change at any time."""
        try:
            self._reload_secrets()
            await self.ring.load()
            await self.key_rotation.rotate_if_due()
        except (SettingsError, WrongSecret) as problem:
            # What was good is kept: everybody stays logged in, and an operator has time to mend it.
            log.warning("the master secret cannot be used", problem=str(problem))

    async def reseal(self, secret: bytes) -> int:
        """Seal all that is stored sealed under `secret`; how many signing keys are among it."""
        await self.factors.vault.reseal(secret)
        return await self.key_rotation.reseal(secret)

    def _reload_secrets(self) -> None:
        secrets = read_secrets(self.settings)
        if secrets != self.ring.secrets:
            self.ring.secrets = secrets
            self.refresh.rekey(*_derive_each(secrets, "refresh tokens"))
            self.challenges.rekey(*_derive_each(secrets, "captcha"))


class Stores(NamedTuple):
    """What remembers: the accounts database with its repositories, and the state store."""

    database: Database
    users: Users
    factors: Factors
    roles: Roles
    departments: Departments
    menus: Menus
    keys: Keys
    service_keys: ServiceKeyStore
    trail: AuditTrail
    state: State


def open_service(settings: Settings, clock: Callable[[], float] = time.time, caller: Caller | None = None) -> Service:
    """Wire every part. `caller` is whom the audit trail names for changes to accounts."""
    secrets = read_secrets(settings)
    stores = open_stores(settings)
    audit = Audit(stores.trail, clock)
    ring = KeyRing(stores.keys, secrets, clock, token_ttl=settings.access_ttl)
    sessions = open_sessions(settings, stores.state, audit, clock)
    presence = Presence(stores.state, clock)
    ended_sessions = EndedSessions(stores.state, clock, presence.closing)
    hashes = HashPool(_hash_threads(settings), settings.hash_queue)
    challenges = open_challenges(settings, secrets)
    throttle = open_throttle(settings, stores.state, clock)
    access = AccessTokens(
        ring,
        settings.public_url,
        settings.audience,
        token_type=settings.token_type,
        claim_set=ClaimSet(perms=settings.token_perms, youlai=settings.token_claims == "youlai"),
    )
    refresh = RefreshTokens(*_derive_each(secrets, "refresh tokens"))
    factors = open_factors(
        settings,
        ring=ring,
        users=stores.users,
        store=stores.factors,
        passkeys=Passkeys(stores.database),
        state=stores.state,
        hashes=hashes,
        throttle=throttle,
        sessions=sessions,
        audit=audit,
        clock=clock,
    )
    login = Login(
        state=stores.state,
        users=stores.users,
        hashes=hashes,
        challenges=challenges,
        throttle=throttle,
        sessions=sessions,
        audit=audit,
        clock=clock,
        decoy_hashes=DecoyHashes(stores.users, derive(secrets[0], "stand-ins"), clock),
        second_factor=factors.at_login,
        exempt=settings.captcha_exempt_addresses,
    )
    places = Places(store=LoginPlaces(stores.database), trail=stores.trail, sessions=sessions, audit=audit, clock=clock)
    authenticator = Authenticator(
        login=login,
        places=places,
        sessions=sessions,
        profiles=Profiles(stores.users, clock),
        access=access,
        refresh=refresh,
        throttle=throttle,
        audit=audit,
        clock=clock,
        access_ttl=settings.access_ttl,
    )
    accounts = Accounts(
        users=stores.users,
        roles=stores.roles,
        departments=stores.departments,
        menus=stores.menus,
        user_search=UserSearch(stores.database),
        changes=Changes(stores.database, is_administrator_role),
        hashes=hashes,
        state=stores.state,
        sessions=sessions,
        audit=audit,
        clock=clock,
        caller=caller,
    )
    days = LoginDays(stores.database)
    return Service(
        settings=settings,
        clock=clock,
        database=stores.database,
        trail=stores.trail,
        state=stores.state,
        keys=stores.keys,
        ring=ring,
        key_rotation=KeyRotation(
            store=stores.keys,
            ring=ring,
            audit=audit,
            clock=clock,
            max_age=settings.key_max_age,
            algorithm=settings.signing_algorithm,
        ),
        audit=audit,
        hashes=hashes,
        challenges=challenges,
        throttle=throttle,
        sessions=sessions,
        access=access,
        refresh=refresh,
        authenticator=authenticator,
        accounts=accounts,
        self_service=SelfService(
            sessions=sessions, accounts=accounts, hashes=hashes, throttle=throttle, audit=audit, clock=clock
        ),
        factors=factors,
        places=places,
        activity_log=ActivityLog(stores.trail, days, stores.users, clock),
        live_sessions=LiveSessions(
            days=days,
            users=stores.users,
            sessions=sessions,
            changes=accounts.user_changes,
            clock=clock,
            session_max=settings.session_max,
        ),
        front_ends=FrontEnds(stores.state, clock, settings.session_max),
        presence=presence,
        service_keys=ServiceKeyVerifier(stores.service_keys),
        ended_sessions=ended_sessions,
        event_delivery=EventDelivery(
            feed=ended_sessions,
            state=stores.state,
            ring=ring,
            clock=clock,
            issuer=settings.public_url,
            audience=settings.audience,
        ),
        tasks=[],
    )


def open_stores(settings: Settings) -> Stores:
    database = open_database(settings)
    return Stores(
        database=database,
        users=Users(database),
        factors=Factors(database),
        roles=Roles(database),
        departments=Departments(database),
        menus=Menus(database),
        keys=Keys(database),
        service_keys=ServiceKeyStore(database),
        trail=AuditTrail(database),
        state=open_state(settings),
    )


def open_sessions(settings: Settings, state: State, audit: Audit, clock: Callable[[], float]) -> Sessions:
    lifetimes = Lifetimes(settings.access_ttl, settings.refresh_ttl, settings.session_max, settings.refresh_grace)
    return Sessions(state, audit, clock, lifetimes, settings.sessions_per_user)


def open_challenges(settings: Settings, secrets: tuple[bytes, ...]) -> Challenges:
    keys = _derive_each(secrets, "captcha")
    challenges = Challenges(keys[0], settings.captcha_ttl, fixed_answer=settings.captcha_test_answer or None)
    challenges.rekey(*keys)
    return challenges


def open_throttle(settings: Settings, state: State, clock: Callable[[], float]) -> Throttle:
    limits = Limits(
        login_address=settings.limit_login_address,
        login_name=settings.limit_login_name,
        login_total=settings.limit_login_total,
        captcha_address=settings.limit_captcha_address,
        refresh_address=settings.limit_refresh_address,
        password_user=settings.limit_password_user,
    )
    return (Throttle if settings.limits else Unlimited)(state, clock, limits)


def open_database(settings: Settings) -> Database:
    try:
        return Database(settings.accounts_url)
    except ImportError:
        raise SettingsError(
            ["GATEHOUSE_DATABASE_URL: PostgreSQL needs an extra: install Gatehouse with [postgres]"]
        ) from None
    except (ValueError, TypeError) as problem:
        raise SettingsError([f"GATEHOUSE_DATABASE_URL: {problem}"]) from None


def open_state(settings: Settings) -> State:
    if settings.embedded_state:
        return SQLiteState(settings.state_path, cache=settings.session_cache)
    try:
        from gatehouse.stores.state.redis.engine import RedisState  # noqa: PLC0415 - an extra: not everybody has it
    except ImportError:
        raise SettingsError(["GATEHOUSE_STATE_URL: Redis needs an extra: install Gatehouse with [redis]"]) from None
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
            log.warning("store unavailable, background task will retry", problem=str(problem))
