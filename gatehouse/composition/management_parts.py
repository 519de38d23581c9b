"""The management of accounts: for consoles, for the command line, and for users themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.management.activity_log import ActivityLog
from gatehouse.management.departments import DepartmentChanges
from gatehouse.management.directory_sync import DirectorySync
from gatehouse.management.identity_sources import SourceChanges
from gatehouse.management.live_sessions import LiveSessions
from gatehouse.management.lockouts import Lockouts
from gatehouse.management.menus import MenuChanges
from gatehouse.management.oauth_clients import ClientChanges
from gatehouse.management.password_links import PasswordLinks
from gatehouse.management.roles import RoleChanges
from gatehouse.management.self_service import SelfService
from gatehouse.management.source_tests import SourceTests
from gatehouse.management.user_factors import FactorAdministration
from gatehouse.management.users import UserChanges

if TYPE_CHECKING:
    from gatehouse.auth.keys.key_rotation import KeyRotation
    from gatehouse.composition.shared_parts import SharedParts


class ManagementParts:
    def __init__(self, shared: SharedParts, key_rotation: KeyRotation) -> None:
        stores, sessions, audit, clock = shared.stores, shared.sessions, shared.audit, shared.clock
        self.account_changes = shared.account_changes
        self.user_changes = UserChanges(shared.transactions, self.account_changes, shared.hash_pool)
        self.role_changes = RoleChanges(self.account_changes)
        self.department_changes = DepartmentChanges(self.account_changes)
        self.menu_changes = MenuChanges(self.account_changes)
        self.self_service = SelfService(
            sessions=sessions,
            changes=self.user_changes,
            hashes=shared.hash_pool,
            throttle=shared.throttle,
            reauthentication=shared.reauthentication,
            clock=clock,
        )
        self.password_links = PasswordLinks(
            ring=shared.key_ring,
            users=stores.users,
            changes=self.user_changes,
            hashes=shared.hash_pool,
            throttle=shared.throttle,
            audit=audit,
            clock=clock,
            page=f"{shared.settings.public_url}/set-password",
        )
        self.user_factors = FactorAdministration(
            factors=stores.factors, passkeys=stores.passkeys, users=stores.users, changes=self.user_changes
        )
        self.lockouts = Lockouts(
            lockout=shared.lockout, users=stores.users, changes=self.user_changes, sessions=sessions, audit=audit
        )
        self.live_sessions = LiveSessions(
            days=stores.login_days,
            users=stores.users,
            sessions=sessions,
            changes=self.user_changes,
            clock=clock,
            absolute_lifetime=shared.settings.session_max,
        )
        self.source_changes = SourceChanges(
            changes=self.account_changes,
            users=self.user_changes,
            store=stores.sources,
            secrets=shared.identity.secrets,
            sources=shared.identity.sources,
        )
        self.source_tests = SourceTests(
            sources=shared.identity.sources,
            people=shared.identity.people,
            identities=stores.sources,
            users=stores.users,
        )
        self.directory_sync = DirectorySync(
            people=shared.identity.people,
            identities=stores.sources,
            users=stores.users,
            departments=stores.departments,
            roles=stores.roles,
        )
        self.client_changes = ClientChanges(
            self.account_changes, stores.oauth_clients, key_rotation, shared.settings.audience
        )
        self.activity_log = ActivityLog(stores.audit_trail, stores.login_days, stores.users, clock)
