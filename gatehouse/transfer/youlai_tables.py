"""The tables of the youlai family, and what their numbers mean in its different versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.stores.accounts.roles import DataScope
from gatehouse.transfer.foreign import Wanted

if TYPE_CHECKING:
    from collections.abc import Mapping

_ID = Wanted(("id",))
_DELETED = ("is_deleted", "deleted")
TABLES = {
    "sys_user": {
        "id": _ID,
        "username": Wanted(("username", "user_name")),
        "password": Wanted(("password",)),
        "status": Wanted(("status",)),
        "deleted": Wanted(_DELETED),
        "nickname": Wanted(("nickname", "nick_name"), required=False),
        "department": Wanted(("dept_id",), required=False),
        "avatar": Wanted(("avatar",), required=False),
        "created": Wanted(("create_time", "gmt_create", "created_at"), required=False),
        "gender": Wanted(("gender", "sex"), required=False),
        "mobile": Wanted(("mobile", "phone"), required=False),
        "email": Wanted(("email",), required=False),
    },
    "sys_role": {
        "id": _ID,
        "code": Wanted(("code", "role_code")),
        "name": Wanted(("name", "role_name")),
        "status": Wanted(("status",)),
        "deleted": Wanted(_DELETED),
        "sort": Wanted(("sort",), required=False),
        "data_scope": Wanted(("data_scope",), required=False),
    },
    "sys_role_dept": {"role": Wanted(("role_id",)), "department": Wanted(("dept_id",))},
    "sys_menu": {
        "id": _ID,
        "type": Wanted(("type", "menu_type")),
        "perm": Wanted(("perm", "perms", "permission")),
        "parent": Wanted(("parent_id",), required=False),
        "name": Wanted(("name", "menu_name"), required=False),
        "route_name": Wanted(("route_name",), required=False),
        "route_path": Wanted(("route_path", "path"), required=False),
        "component": Wanted(("component",), required=False),
        "external_url": Wanted(("external_url",), required=False),
        "icon": Wanted(("icon",), required=False),
        "redirect": Wanted(("redirect", "redirect_url"), required=False),
        "params": Wanted(("params",), required=False),
        "sort": Wanted(("sort",), required=False),
        "visible": Wanted(("visible",), required=False),
        "keep_alive": Wanted(("keep_alive",), required=False),
        "always_show": Wanted(("always_show",), required=False),
        "deleted": Wanted(_DELETED, required=False),
    },
    "sys_user_role": {"user": Wanted(("user_id",)), "role": Wanted(("role_id",))},
    "sys_role_menu": {"role": Wanted(("role_id",)), "menu": Wanted(("menu_id",))},
    "sys_dept": {
        "id": _ID,
        "name": Wanted(("name", "dept_name")),
        "parent": Wanted(("parent_id",)),
        "code": Wanted(("code", "dept_code"), required=False),
        "sort": Wanted(("sort",), required=False),
        "deleted": Wanted(_DELETED, required=False),
    },
}
OPTIONAL = {"sys_role_dept"}


def data_scopes(given: Mapping[int, int | None], *, newer: bool) -> dict[int, int]:
    """The data scope of each role, by its id.

    Versions up to 2.24 count from 0 (all, department and below, department, own), later ones from 1. Only the older
    ones have a 0, only the later ones a 4 or 5, or chosen departments. Where nothing tells, the older count is taken:
    by it a role sees less, not more.
    """
    values = set(given.values())
    newer = 0 not in values and (newer or bool(values & {4, 5}))
    scopes = {role: scope if newer or scope is None else scope + 1 for role, scope in given.items()}
    return {role: scope if scope in set(DataScope) else DataScope.OWN for role, scope in scopes.items()}
