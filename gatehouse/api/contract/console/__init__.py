"""What the management consoles of this family call, a file for each page: bodies, data and the rows of the table."""

from __future__ import annotations

from gatehouse.api.contract.console import (
    after_login,
    departments,
    logs,
    menus,
    profile,
    role_perms,
    roles,
    service_status,
    sessions,
    user_access,
    users,
)

CONSOLE = (
    *after_login.OPERATIONS,
    *profile.OPERATIONS,
    *users.OPERATIONS,
    *roles.OPERATIONS,
    *menus.OPERATIONS,
    *departments.OPERATIONS,
    *logs.OPERATIONS,
    *role_perms.OPERATIONS,
    *sessions.OPERATIONS,
    *user_access.OPERATIONS,
    *service_status.OPERATIONS,
)
