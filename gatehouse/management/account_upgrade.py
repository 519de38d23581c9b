"""Upgrades accounts of an earlier release at the start, after the migration of the schema. Safe to repeat.

Tables and columns are changed by `stores/database/migrate.py`; here is what needs to know what a perm means.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from gatehouse.auth.audit import Event
from gatehouse.auth.perms import ADMIN, expand
from gatehouse.stores.database.audit_trail import AuditEntry

if TYPE_CHECKING:
    from gatehouse.stores.database.audit_trail import AuditTrail
    from gatehouse.stores.database.roles import Roles

# What the audit trail shows as the caller's address.
ADDRESS = "upgrade"


async def add_current_perm_names(roles: Roles, trail: AuditTrail, now: float) -> None:
    """Give the role ADMIN its perms under both generations of names: release 0.1 knew only the older one.

    Nothing is granted that was not granted before: to take a perm from a role takes all of its names.
    """
    role = await roles.by_code(ADMIN)
    added = sorted(set(expand(role.perms)) - set(role.perms)) if role else []
    if role is None or not added:
        return
    await roles.allow(role.id, added)
    detail = msgspec.json.encode({"role": role.code, "allowed": added}).decode()
    entry = AuditEntry(0, now, Event.ROLE_CHANGED.value, None, None, ADDRESS, None, None, detail)
    await trail.append([entry])
