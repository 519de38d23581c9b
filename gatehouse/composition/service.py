"""The running service: holds every part, runs the background tasks, closes everything."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gatehouse.auth.factors.reauthentication import Reauthentication
from gatehouse.auth.keys.key_ring import NODE_RELOAD_SECONDS
from gatehouse.auth.keys.key_rotation import KeyRotation
from gatehouse.auth.keys.sealing import WrongSecret
from gatehouse.auth.keys.service_keys import ServiceKeyVerifier
from gatehouse.auth.sessions.console_versions import ConsoleVersions
from gatehouse.common import logs
from gatehouse.composition.accounts import open_accounts
from gatehouse.composition.background import run_every
from gatehouse.composition.core import Core, open_core
from gatehouse.composition.events import open_events
from gatehouse.composition.factors import FactorServices, open_factors
from gatehouse.composition.login import open_login, rekey
from gatehouse.settings import Settings, SettingsError
from gatehouse.settings.master_secret import read_secrets
from gatehouse.stores.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.auth.audit import Audit, ClientInfo
    from gatehouse.auth.authenticator import Authenticator
    from gatehouse.auth.keys.key_ring import KeyRing
    from gatehouse.auth.limits.throttle import Throttle
    from gatehouse.auth.login.captcha import Challenges
    from gatehouse.auth.login.login_history import LoginHistory
    from gatehouse.auth.outbox import Outbox
    from gatehouse.auth.passwords.hash_pool import HashPool
    from gatehouse.auth.sessions.ended_sessions import EndedSessionsFeed
    from gatehouse.auth.sessions.presence import Presence
    from gatehouse.auth.sessions.security_event_delivery import EventDelivery
    from gatehouse.auth.sessions.sessions import Sessions
    from gatehouse.auth.sessions.token_life import LongestTokenLife
    from gatehouse.auth.sessions.tokens import AccessTokens, RefreshTokens
    from gatehouse.management.accounts import Accounts
    from gatehouse.management.activity_log import ActivityLog
    from gatehouse.management.live_sessions import LiveSessions
    from gatehouse.management.locked_names import Lockouts
    from gatehouse.management.password_links import PasswordLinks
    from gatehouse.management.self_service import SelfService
    from gatehouse.management.user_factors import FactorAdministration
    from gatehouse.stores.database.audit_trail import AuditTrail
    from gatehouse.stores.database.sql_engine import Database
    from gatehouse.stores.state.protocol import State

SWEEP_SECONDS = 30.0
PRUNE_SECONDS = 3600.0
OUTBOX_SECONDS = 2.0
KEYS_RETRY_SECONDS = 0.5

log = logs.named("gatehouse")


@dataclass(frozen=True, slots=True)
class Service:
    """Every part, wired. Open it with `open_service`, run its tasks with `start`, leave with `stop`."""

    settings: Settings
    clock: Callable[[], float]
    database: Database
    audit_trail: AuditTrail
    state: State
    key_ring: KeyRing
    key_rotation: KeyRotation
    audit: Audit
    outbox: Outbox
    hash_pool: HashPool
    captcha_challenges: Challenges
    throttle: Throttle
    sessions: Sessions
    access_tokens: AccessTokens
    refresh_tokens: RefreshTokens
    authenticator: Authenticator
    accounts: Accounts
    self_service: SelfService
    factors: FactorServices
    login_history: LoginHistory
    activity_log: ActivityLog
    live_sessions: LiveSessions
    lockouts: Lockouts
    factor_administration: FactorAdministration
    password_links: PasswordLinks
    console_versions: ConsoleVersions
    presence: Presence
    service_keys: ServiceKeyVerifier
    ended_sessions: EndedSessionsFeed
    event_delivery: EventDelivery
    longest_token_life: LongestTokenLife
    tasks: list[asyncio.Task[None]] = field(default_factory=list)

    async def start(self) -> None:
        try:
            await self.key_ring.load()
        except StoreUnavailable as problem:
            log.warning("database unavailable, signing keys not loaded yet", problem=str(problem))
        with suppress(StoreUnavailable):  # the next sweep updates it
            await self.longest_token_life.update()
        self.audit.start()
        self.tasks.append(asyncio.create_task(run_every(SWEEP_SECONDS, self._sweep)))
        self.tasks.append(asyncio.create_task(run_every(OUTBOX_SECONDS, self.outbox.deliver_due)))
        self.tasks.append(asyncio.create_task(run_every(PRUNE_SECONDS, self.prune_audit)))
        self.tasks.append(asyncio.create_task(self._reload_keys_forever()))

    async def stop(self) -> None:
        for task in self.tasks:
            task.cancel()
        for task in self.tasks:
            with suppress(asyncio.CancelledError):
                await task
        await self.audit.stop()
        self.hash_pool.close()
        await self.state.close()
        await self.database.close()

    async def _sweep(self) -> None:
        # Small batches with a pause between them: sweeping never holds up a request.
        while await self.sessions.sweep():  # noqa: ASYNC110 - a pause, not a poll
            await asyncio.sleep(0.05)
        await self.longest_token_life.update()

    async def prune_audit(self) -> None:
        while await self.audit_trail.prune(self.clock() - self.settings.audit_keep):  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.05)

    async def _reload_keys_forever(self) -> None:
        """A worker that starts while the database is unavailable serves as soon as it is back."""
        while not self.key_ring.loaded:
            await asyncio.sleep(KEYS_RETRY_SECONDS)
            with suppress(StoreUnavailable, WrongSecret):  # `reload_keys` logs a wrong secret
                await self.key_ring.load()
        await run_every(NODE_RELOAD_SECONDS, self.reload_keys)

    async def reload_keys(self) -> None:
        """Reload the secret and the keys, which an operator or another node may change at any time."""
        try:
            self._reload_secrets()
            await self.key_ring.load()
            await self.key_rotation.rotate_if_due()
        except (SettingsError, WrongSecret) as problem:
            # The previous secrets and keys stay in use, so nobody is logged out while an operator fixes it.
            log.warning("the master secret cannot be used", problem=str(problem))

    async def reseal(self, secret: bytes) -> int:
        """Seal all that is stored sealed under `secret`; how many signing keys are among it."""
        await self.factors.vault.reseal(secret)
        return await self.key_rotation.reseal(secret)

    def _reload_secrets(self) -> None:
        secrets = read_secrets(self.settings)
        if secrets != self.key_ring.secrets:
            self.key_ring.secrets = secrets
            rekey(secrets, self.refresh_tokens, self.captcha_challenges)


def open_service(
    settings: Settings, clock: Callable[[], float] = time.time, client: ClientInfo | None = None
) -> Service:
    """Build every part. `client` is what the audit trail records for changes to accounts."""
    core = open_core(settings, clock)
    reauthentication = _open_reauthentication(core)
    factors = open_factors(core, reauthentication)
    login = open_login(core, factors.at_login, factors.session_policy)
    managed = open_accounts(core, reauthentication, client)
    events = open_events(core)
    return Service(
        settings=settings,
        clock=clock,
        database=core.stores.database,
        audit_trail=core.stores.trail,
        state=core.state,
        key_ring=core.ring,
        key_rotation=_open_key_rotation(core),
        audit=core.audit,
        outbox=core.outbox,
        hash_pool=core.hashes,
        throttle=core.throttle,
        sessions=core.sessions,
        factors=factors,
        console_versions=ConsoleVersions(core.state, clock, settings.session_max),
        service_keys=ServiceKeyVerifier(core.stores.service_keys),
        captcha_challenges=login.challenges,
        access_tokens=login.access,
        refresh_tokens=login.refresh,
        login_history=login.login_history,
        authenticator=login.authenticator,
        accounts=managed.accounts,
        self_service=managed.self_service,
        activity_log=managed.activity_log,
        live_sessions=managed.live_sessions,
        lockouts=managed.lockouts,
        factor_administration=managed.factor_administration,
        password_links=managed.password_links,
        presence=events.presence,
        ended_sessions=events.ended_sessions,
        event_delivery=events.event_delivery,
        longest_token_life=events.longest_token_life,
    )


def _open_reauthentication(core: Core) -> Reauthentication:
    return Reauthentication(
        users=core.stores.users,
        hashes=core.hashes,
        throttle=core.throttle,
        sessions=core.sessions,
        audit=core.audit,
        clock=core.clock,
    )


def _open_key_rotation(core: Core) -> KeyRotation:
    return KeyRotation(
        store=core.stores.keys,
        ring=core.ring,
        audit=core.audit,
        clock=core.clock,
        max_age=core.settings.key_max_age,
        algorithm=core.settings.signing_algorithm,
    )
