"""The tables and columns that an import reads from a youlai console, by all the names they have had."""

from __future__ import annotations

from gatehouse.stores.import_sources.connection import ColumnNames

_ID = ColumnNames(("id",))
_DELETED = ("is_deleted", "deleted")
TABLES = {
    "sys_user": {
        "id": _ID,
        "username": ColumnNames(("username", "user_name")),
        "password": ColumnNames(("password",)),
        "status": ColumnNames(("status",)),
        "deleted": ColumnNames(_DELETED),
        "nickname": ColumnNames(("nickname", "nick_name"), required=False),
        "department": ColumnNames(("dept_id",), required=False),
        "avatar": ColumnNames(("avatar",), required=False),
        "created": ColumnNames(("create_time", "gmt_create", "created_at"), required=False),
        "gender": ColumnNames(("gender", "sex"), required=False),
        "mobile": ColumnNames(("mobile", "phone"), required=False),
        "email": ColumnNames(("email",), required=False),
    },
    "sys_role": {
        "id": _ID,
        "code": ColumnNames(("code", "role_code")),
        "name": ColumnNames(("name", "role_name")),
        "status": ColumnNames(("status",)),
        "deleted": ColumnNames(_DELETED),
        "sort": ColumnNames(("sort",), required=False),
        "data_scope": ColumnNames(("data_scope",), required=False),
    },
    "sys_role_dept": {"role": ColumnNames(("role_id",)), "department": ColumnNames(("dept_id",))},
    "sys_menu": {
        "id": _ID,
        "type": ColumnNames(("type", "menu_type")),
        "perm": ColumnNames(("perm", "perms", "permission")),
        "parent": ColumnNames(("parent_id",), required=False),
        "name": ColumnNames(("name", "menu_name"), required=False),
        "route_name": ColumnNames(("route_name",), required=False),
        "route_path": ColumnNames(("route_path", "path"), required=False),
        "component": ColumnNames(("component",), required=False),
        "external_url": ColumnNames(("external_url",), required=False),
        "icon": ColumnNames(("icon",), required=False),
        "redirect": ColumnNames(("redirect", "redirect_url"), required=False),
        "params": ColumnNames(("params",), required=False),
        "sort": ColumnNames(("sort",), required=False),
        "visible": ColumnNames(("visible",), required=False),
        "keep_alive": ColumnNames(("keep_alive",), required=False),
        "always_show": ColumnNames(("always_show",), required=False),
        "deleted": ColumnNames(_DELETED, required=False),
    },
    "sys_user_role": {"user": ColumnNames(("user_id",)), "role": ColumnNames(("role_id",))},
    "sys_role_menu": {"role": ColumnNames(("role_id",)), "menu": ColumnNames(("menu_id",))},
    "sys_dept": {
        "id": _ID,
        "name": ColumnNames(("name", "dept_name")),
        "parent": ColumnNames(("parent_id",)),
        "code": ColumnNames(("code", "dept_code"), required=False),
        "sort": ColumnNames(("sort",), required=False),
        "deleted": ColumnNames(_DELETED, required=False),
    },
}
OPTIONAL = {"sys_role_dept"}
