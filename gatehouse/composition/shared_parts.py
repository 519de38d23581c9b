"""What the parts of `auth/` and `management/` are built from: stores, clock, audit trail, keys, limits, sessions,
changes to accounts and sources of identity.
"""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

from gatehouse.auth.audit import Audit
from gatehouse.auth.factors.current_password_check import Reauthentication
from gatehouse.auth.keys.key_ring import KeyRing
from gatehouse.auth.limits.lockout import Lockout, NoLockout
from gatehouse.auth.limits.throttle import Limits, NoLimits, Throttle
from gatehouse.auth.oauth.grants import GRANTS_PER_USER
from gatehouse.auth.outbox import Outbox
from gatehouse.auth.passwords.hash_pool import HashPool
from gatehouse.auth.perms import is_administrator_role
from gatehouse.auth.sessions.sessions import Lifetimes, Sessions
from gatehouse.composition.identity_parts import IdentityParts
from gatehouse.composition.opened_stores import Stores
from gatehouse.management.account_changes import AccountChanges
from gatehouse.settings.master_secret import read_secrets
from gatehouse.stores.database.account_transactions import AccountTransactions

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.settings import Settings


class SharedParts:
    def __init__(self, settings: Settings, clock: Callable[[], float]) -> None:
        secrets = read_secrets(settings)
        self.settings = settings
        self.clock = clock
        self.stores = Stores(settings)
        self.audit = Audit(self.stores.audit_trail, clock)
        self.stopping = asyncio.Event()  # set when the worker is told to stop
        self.outbox = Outbox(self.stores.outbox, self.audit, clock, self.stopping)
        self.key_ring = KeyRing(self.stores.signing_keys, secrets, clock, token_ttl=settings.access_ttl)
        self.hash_pool = HashPool(_hash_threads(settings), settings.hash_queue)
        self.throttle = (Throttle if settings.limits else NoLimits)(self.stores.state, clock, _limits(settings))
        self.lockout = (Lockout if settings.limits else NoLockout)(
            state=self.stores.state,
            throttle=self.throttle,
            audit=self.audit,
            clock=clock,
            limit=settings.limit_login_name,
        )
        lifetimes = Lifetimes(settings.refresh_ttl, settings.session_max, settings.refresh_grace)
        self.sessions = Sessions(self.stores.state, self.audit, clock, lifetimes, settings.sessions_per_user)
        # The rows of grants are rotated by the same rules; there may be more of them.
        self.grant_rotations = Sessions(self.stores.state, self.audit, clock, lifetimes, GRANTS_PER_USER)
        self.transactions = AccountTransactions(self.stores.database, is_administrator_role)
        self.account_changes = AccountChanges(
            transactions=self.transactions,
            outbox=self.outbox,
            state=self.stores.state,
            sessions=self.sessions,
            audit=self.audit,
            clock=clock,
        )
        self.identity = IdentityParts(
            stores=self.stores,
            key_ring=self.key_ring,
            hash_pool=self.hash_pool,
            account_changes=self.account_changes,
            clock=clock,
        )
        self.reauthentication = Reauthentication(
            users=self.stores.users,
            hashes=self.hash_pool,
            passwords=self.identity.passwords,
            lockout=self.lockout,
            sessions=self.sessions,
            clock=clock,
        )


def _limits(settings: Settings) -> Limits:
    return Limits(
        login_address=settings.limit_login_address,
        login_total=settings.limit_login_total,
        captcha_address=settings.limit_captcha_address,
        refresh_address=settings.limit_refresh_address,
        password_user=settings.limit_password_user,
    )


def _hash_threads(settings: Settings) -> int:
    return settings.hash_threads or max(1, (os.cpu_count() or 1) // settings.workers)
