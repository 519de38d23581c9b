"""The files that accounts are written to and read from.

JSON Lines: one object a line, its `type` department, role, menu, user or factor (user if there is none). CSV: users
only, a line with the names of the columns first; roles are separated by spaces. Both in UTF-8. A password appears as
its hash, a second factor as it is sealed, and both only if they were asked for. The sheet of the console, xlsx or CSV,
is read only (`user_sheet_reader.py`).
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import UNSET, Struct, UnsetType

from gatehouse.stores.database.factor_export import FactorCopy

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class FileFormat(StrEnum):
    JSONL = "jsonl"
    CSV = "csv"
    XLSX = "xlsx"


EXPORT_FORMATS = (FileFormat.JSONL, FileFormat.CSV)


def format_of(path: Path, formats: Sequence[FileFormat] = tuple(FileFormat)) -> FileFormat:
    suffix = path.suffix.lower().removeprefix(".")
    for known in formats:
        if suffix == known or (suffix == "ndjson" and known is FileFormat.JSONL):
            return known
    *most, last = (f".{known}" for known in formats)
    raise ValueError(f"{path.name}: expected a name that ends in {', '.join(most)} or {last}")


class DepartmentLine(Struct, tag="department", forbid_unknown_fields=True):
    id: int
    name: str
    parent: int | None
    code: str | UnsetType = UNSET
    sort: int | UnsetType = UNSET
    enabled: bool | UnsetType = UNSET


class RoleLine(Struct, tag="role", forbid_unknown_fields=True, rename="camel"):
    code: str
    name: str
    enabled: bool
    perms: list[str]
    menus: list[int] | UnsetType = UNSET  # folders, pages and links that the role shows
    sort: int | UnsetType = UNSET
    data_scope: int | UnsetType = UNSET  # 1 all, 2 department and below, 3 department, 4 own, 5 those of `depts`
    depts: list[int] | UnsetType = UNSET


class MenuLine(Struct, tag="menu", forbid_unknown_fields=True, rename="camel", omit_defaults=True):
    """`kind` is C for a folder, M a page, E a link, B a button."""

    id: int
    name: str
    kind: str
    parent: int | None = None
    route_name: str = ""
    route_path: str = ""
    component: str = ""
    perm: str = ""
    icon: str = ""
    redirect: str = ""
    params: str = ""
    sort: int = 0
    visible: bool = True
    keep_alive: bool = False
    always_show: bool = False
    created: float = 0.0
    external_url: str = ""


class UserLine(Struct, tag="user", forbid_unknown_fields=True, rename="camel", omit_defaults=True):
    """Only the username is needed: what is left out stays as it is, or gets the default of a new user."""

    username: str
    id: int | UnsetType = UNSET
    nickname: str | UnsetType = UNSET
    avatar: str | UnsetType = UNSET
    dept_id: int | UnsetType = UNSET
    enabled: bool | UnsetType = UNSET
    captcha_exempt: bool | UnsetType = UNSET
    created: float | UnsetType = UNSET
    roles: list[str] | UnsetType = UNSET
    password_hash: str | UnsetType = UNSET
    gender: int | UnsetType = UNSET
    mobile: str | UnsetType = UNSET
    email: str | UnsetType = UNSET
    claims: dict[str, str] | UnsetType = UNSET  # in JSON Lines


class FactorLine(FactorCopy, tag="factor", forbid_unknown_fields=True, rename="camel"):
    """The second factors of a user; bytes are in base64."""


Line = DepartmentLine | RoleLine | MenuLine | UserLine | FactorLine

# The columns of CSV, in this order; a file to read may have any of them, in any order.
COLUMNS = (
    "id", "username", "nickname", "avatar", "deptId", "enabled", "captchaExempt", "created", "roles", "passwordHash",
    "gender", "mobile", "email",
)  # fmt: skip
