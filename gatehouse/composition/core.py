"""What every part of auth/ is built from: the stores, the clock, the audit trail, signing keys, sessions, limits."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from gatehouse.auth.audit import Audit
from gatehouse.auth.keys.key_ring import KeyRing
from gatehouse.auth.limits.throttle import Limits, NoLimits, Throttle
from gatehouse.auth.outbox import Outbox
from gatehouse.auth.passwords.hash_pool import HashPool
from gatehouse.auth.sessions.sessions import Lifetimes, Sessions
from gatehouse.composition.stores import Stores, open_stores
from gatehouse.settings.master_secret import read_secrets

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.settings import Settings
    from gatehouse.stores.state.protocol import State


class Core(NamedTuple):
    settings: Settings
    clock: Callable[[], float]
    stores: Stores
    audit: Audit
    outbox: Outbox
    ring: KeyRing
    hashes: HashPool
    throttle: Throttle
    sessions: Sessions

    @property
    def state(self) -> State:
        return self.stores.state


def open_core(settings: Settings, clock: Callable[[], float]) -> Core:
    secrets = read_secrets(settings)
    stores = open_stores(settings)
    audit = Audit(stores.trail, clock)
    return Core(
        settings=settings,
        clock=clock,
        stores=stores,
        audit=audit,
        outbox=Outbox(stores.outbox, audit, clock),
        ring=KeyRing(stores.keys, secrets, clock, token_ttl=settings.access_ttl),
        hashes=HashPool(_hash_threads(settings), settings.hash_queue),
        throttle=_open_throttle(settings, stores.state, clock),
        sessions=_open_sessions(settings, stores.state, audit, clock),
    )


def _open_sessions(settings: Settings, state: State, audit: Audit, clock: Callable[[], float]) -> Sessions:
    lifetimes = Lifetimes(settings.refresh_ttl, settings.session_max, settings.refresh_grace)
    return Sessions(state, audit, clock, lifetimes, settings.sessions_per_user)


def _open_throttle(settings: Settings, state: State, clock: Callable[[], float]) -> Throttle:
    limits = Limits(
        login_address=settings.limit_login_address,
        login_name=settings.limit_login_name,
        login_total=settings.limit_login_total,
        captcha_address=settings.limit_captcha_address,
        refresh_address=settings.limit_refresh_address,
        password_user=settings.limit_password_user,
    )
    return (Throttle if settings.limits else NoLimits)(state, clock, limits)


def _hash_threads(settings: Settings) -> int:
    return settings.hash_threads or max(1, (os.cpu_count() or 1) // settings.workers)
