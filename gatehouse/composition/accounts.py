"""Builds the management of accounts: for consoles, for the command line, and for users themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gatehouse.auth.perms import is_administrator_role
from gatehouse.management.accounts import Accounts
from gatehouse.management.activity_log import ActivityLog
from gatehouse.management.live_sessions import LiveSessions
from gatehouse.management.locked_names import Lockouts
from gatehouse.management.password_links import PasswordLinks
from gatehouse.management.self_service import SelfService
from gatehouse.management.user_factors import FactorAdministration
from gatehouse.stores.database.transactions import AccountTransactions

if TYPE_CHECKING:
    from gatehouse.auth.audit import ClientInfo
    from gatehouse.auth.factors.reauthentication import Reauthentication
    from gatehouse.composition.core import Core


class AccountServices(NamedTuple):
    accounts: Accounts
    self_service: SelfService
    activity_log: ActivityLog
    live_sessions: LiveSessions
    lockouts: Lockouts
    factor_administration: FactorAdministration
    password_links: PasswordLinks


def open_accounts(core: Core, reauthentication: Reauthentication, client: ClientInfo | None) -> AccountServices:
    """`client` is what the audit trail records for changes to accounts."""
    accounts = _open_accounts(core, client)
    return AccountServices(
        accounts=accounts,
        self_service=SelfService(
            sessions=core.sessions,
            accounts=accounts,
            hashes=core.hashes,
            throttle=core.throttle,
            reauthentication=reauthentication,
            clock=core.clock,
        ),
        activity_log=ActivityLog(core.stores.trail, core.stores.login_days, core.stores.users, core.clock),
        live_sessions=LiveSessions(
            days=core.stores.login_days,
            users=core.stores.users,
            sessions=core.sessions,
            changes=accounts.user_changes,
            clock=core.clock,
            absolute_lifetime=core.settings.session_max,
        ),
        lockouts=Lockouts(
            throttle=core.throttle,
            users=core.stores.users,
            changes=accounts.user_changes,
            sessions=core.sessions,
            audit=core.audit,
        ),
        factor_administration=FactorAdministration(
            factors=core.stores.factors,
            passkeys=core.stores.passkeys,
            users=core.stores.users,
            changes=accounts.user_changes,
        ),
        password_links=PasswordLinks(
            ring=core.ring,
            accounts=accounts,
            hashes=core.hashes,
            throttle=core.throttle,
            audit=core.audit,
            clock=core.clock,
            page=f"{core.settings.public_url}/set-password",
        ),
    )


def _open_accounts(core: Core, client: ClientInfo | None) -> Accounts:
    return Accounts(
        users=core.stores.users,
        roles=core.stores.roles,
        departments=core.stores.departments,
        menus=core.stores.menus,
        user_search=core.stores.user_search,
        transactions=AccountTransactions(core.stores.database, is_administrator_role),
        hashes=core.hashes,
        state=core.state,
        outbox=core.outbox,
        sessions=core.sessions,
        audit=core.audit,
        clock=core.clock,
        client=client,
    )
