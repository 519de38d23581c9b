"""What the management consoles of this family call, a file for each page: bodies, data and the rows of the table."""

from __future__ import annotations

from gatehouse.api.console import (
    after_login_types,
    department_types,
    log_types,
    menu_data,
    profile_types,
    role_perm_types,
    role_types,
    service_status_types,
    session_types,
    user_access_types,
    user_data,
)

CONSOLE = (
    *after_login_types.OPERATIONS,
    *profile_types.OPERATIONS,
    *user_data.OPERATIONS,
    *role_types.OPERATIONS,
    *menu_data.OPERATIONS,
    *department_types.OPERATIONS,
    *log_types.OPERATIONS,
    *role_perm_types.OPERATIONS,
    *session_types.OPERATIONS,
    *user_access_types.OPERATIONS,
    *service_status_types.OPERATIONS,
)
