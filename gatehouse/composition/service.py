"""The service: every part, built from the settings in this order; its background tasks; and its end."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from gatehouse.auth.authentication import Authenticator
from gatehouse.auth.identity.sources import RELOAD_SECONDS
from gatehouse.auth.keys.key_ring import NODE_RELOAD_SECONDS
from gatehouse.auth.keys.key_rotation import KeyRotation
from gatehouse.auth.keys.sealing import WrongSecret
from gatehouse.auth.keys.service_keys import ServiceKeyVerifier
from gatehouse.auth.oauth.clients import Clients
from gatehouse.auth.sessions.console_versions import ConsoleVersions
from gatehouse.auth.sessions.profile_cache import Profiles
from gatehouse.common.logs import log
from gatehouse.composition.application_parts import ApplicationParts
from gatehouse.composition.factor_parts import FactorParts
from gatehouse.composition.feed_parts import FeedParts
from gatehouse.composition.login_parts import LoginParts
from gatehouse.composition.management_parts import ManagementParts
from gatehouse.composition.oauth_parts import OAuthParts
from gatehouse.composition.run_every import run_every
from gatehouse.composition.shared_parts import SharedParts
from gatehouse.composition.sign_in_parts import SignInParts
from gatehouse.composition.token_parts import TokenParts
from gatehouse.settings import Settings, SettingsError
from gatehouse.settings.master_secret import read_secrets
from gatehouse.stores.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable

SWEEP_SECONDS = 30.0
PRUNE_SECONDS = 3600.0
OUTBOX_SECONDS = 2.0
SESSION_ENDS_SECONDS = 1.0
# What an application did not take stays this long for an operator to see.
REFUSED_KEPT_SECONDS = 7 * 86_400
KEYS_RETRY_SECONDS = 0.5


class Service(SharedParts):
    """Run its tasks with `start`, and leave with `stop`."""

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.time) -> None:
        super().__init__(settings, clock)
        clients = Clients(self.stores.oauth_clients)
        self.key_rotation = KeyRotation(
            store=self.stores.signing_keys,
            ring=self.key_ring,
            audit=self.audit,
            clock=clock,
            max_age=settings.key_max_age,
            algorithm=settings.signing_algorithm,
            id_token_algorithms=clients.id_token_algorithms,
        )
        self.service_keys = ServiceKeyVerifier(self.stores.service_keys)
        self.factors = FactorParts(self)
        self.login = LoginParts(self, self.factors)
        self.tokens = TokenParts(self)
        self.authenticator = Authenticator(
            login=self.login.password,
            login_history=self.login.history,
            sessions=self.sessions,
            profiles=Profiles(self.stores.users, clock),
            access=self.tokens.access,
            refresh=self.tokens.refresh,
            throttle=self.throttle,
            audit=self.audit,
            clock=clock,
            access_ttl=settings.access_ttl,
            session_policy=self.factors.session_policy,
            directory_recheck=self.identity.recheck,
        )
        self.feeds = FeedParts(self)
        self.oauth = OAuthParts(self, clients, self.key_rotation, self.feeds.ended_sessions)
        self.sign_in = SignInParts(self, self.oauth, self.authenticator)
        self.applications = ApplicationParts(
            self,
            self.oauth,
            authenticator=self.authenticator,
            keys=self.key_rotation,
            refresh_tokens=self.tokens.application_refresh,
        )
        self.management = ManagementParts(self, self.key_rotation)
        self.console_versions = ConsoleVersions(self.stores.state, clock, settings.session_max)
        self.tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        try:
            await self.key_ring.load()
        except StoreUnavailable as problem:
            log.warning("database unavailable, signing keys not loaded yet", problem=str(problem))
        with suppress(StoreUnavailable):  # they are loaded again soon
            await self.identity.sources.load()
        with suppress(StoreUnavailable):  # the next sweep updates it
            await self.feeds.longest_token_life.update()
        self.audit.start()
        self.tasks.append(asyncio.create_task(run_every(SWEEP_SECONDS, self._sweep)))
        self.tasks.append(asyncio.create_task(run_every(OUTBOX_SECONDS, self.outbox.deliver_due)))
        self.tasks.append(asyncio.create_task(run_every(SESSION_ENDS_SECONDS, self.oauth.session_ends.follow)))
        self.tasks.append(asyncio.create_task(run_every(RELOAD_SECONDS, self.identity.sources.load)))
        self.tasks.append(asyncio.create_task(run_every(PRUNE_SECONDS, self.prune_audit)))
        self.tasks.append(asyncio.create_task(self._reload_keys_forever()))

    async def stop(self) -> None:
        for task in self.tasks:
            task.cancel()
        for task in self.tasks:
            with suppress(asyncio.CancelledError):
                await task
        await self.outbox.close()
        await self.oauth.form_post.close()
        await self.identity.sources.close()
        await self.audit.stop()
        self.hash_pool.close()
        await self.stores.state.close()
        await self.stores.database.close()

    async def _sweep(self) -> None:
        # Small batches with a pause between them: sweeping never holds up a request.
        while await self.sessions.sweep():  # noqa: ASYNC110 - a pause, not a poll
            await asyncio.sleep(0.05)
        await self.feeds.longest_token_life.update()

    async def prune_audit(self) -> None:
        while await self.stores.audit_trail.prune(self.clock() - self.settings.audit_keep):  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.05)
        await self.stores.provider_sessions.prune(self.clock() - self.settings.session_max)
        await self.oauth.session_ends.scan()
        await self.stores.outbox.prune(self.clock() - REFUSED_KEPT_SECONDS)

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
        await self.factors.totp_secrets.reseal(secret)
        await self.identity.secrets.reseal(secret)
        return await self.key_rotation.reseal(secret)

    def _reload_secrets(self) -> None:
        secrets = read_secrets(self.settings)
        if secrets != self.key_ring.secrets:
            self.key_ring.secrets = secrets
            self.tokens.rekey(secrets)
            self.login.rekey(secrets)
