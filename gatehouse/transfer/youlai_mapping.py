"""Reads users, roles, menus and departments from the tables of a youlai backend.

    sys_user       id, username, nickname, password, dept_id, avatar, status, is_deleted, create_time,
                   gender, mobile, email
    sys_role       id, code, name, status, is_deleted, sort, data_scope
    sys_role_dept  role_id, dept_id         only where roles can have chosen departments
    sys_menu       id, type, perm, parent_id, name, route_path, component, ...
                                            a button (type B or 4) carries a perm
    sys_user_role  user_id, role_id         sys_role_menu  role_id, menu_id
    sys_dept       id, name, parent_id, is_deleted

Names of columns differ between versions: those in use are found, and what is missing is named. The rules are those of
the family itself: only status 1 is enabled, only is_deleted 0 is there, and roles get perms through buttons.
"""

from __future__ import annotations

import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, UnsetType

from gatehouse.auth.perms import canonical
from gatehouse.management import accepted_values
from gatehouse.stores.database.menus import MenuType
from gatehouse.stores.database.users import UserChange
from gatehouse.stores.import_sources.values import moment, number
from gatehouse.stores.import_sources.youlai_queries import connect_youlai
from gatehouse.transfer.import_rows import (
    BATCH,
    Remark,
    SourceDepartment,
    SourceMenu,
    SourceRole,
    SourceUser,
    printable,
)
from gatehouse.transfer.menu_import import read_row, type_of
from gatehouse.transfer.youlai_data_scopes import data_scopes

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from gatehouse.stores.import_sources.youlai_queries import YoulaiDatabase
    from gatehouse.transfer.import_rows import SourceFactors

# `{bcrypt}$2a$10$...`: Spring Security says in front which scheme a hash is of.
_SCHEME = re.compile(r"\{(bcrypt|argon2(@\w+)?)\}", re.IGNORECASE)


@asynccontextmanager
async def open_youlai(url: str) -> AsyncIterator[Youlai]:
    async with connect_youlai(url) as database:
        yield Youlai(database)


class Youlai:
    """The `Source` protocol over a console's database."""

    def __init__(self, database: YoulaiDatabase) -> None:
        self._database = database
        self._roles: dict[int, str] = {}  # by the source's id: its code
        self.refused: list[Remark] = []
        self.adapted: list[Remark] = []
        self.skipped = 0
        self.source_roles: frozenset[str] = frozenset()

    async def departments(self) -> Sequence[SourceDepartment]:
        rows = []
        for row in sorted(await self._database.all("sys_dept"), key=_key):
            key = _key(row)
            origin = f"sys_dept {row['id']}"
            if _is_deleted(row):
                continue
            if key <= 0:
                self.refused.append(Remark(origin, "not an id"))
                continue
            name = self._label(origin, row["name"], f"Department {key}")
            code = printable(str(row.get("code") or "")) if "code" in row else UNSET
            parent = number(row["parent"]) or None  # the top has the parent 0
            rows.append(SourceDepartment(origin, key, name, parent, code, _sort(row)))
        return rows

    async def roles(self) -> Sequence[SourceRole]:
        perms = await self._perms_by_role()
        table = sorted(await self._database.all("sys_role"), key=_key)
        # Deleted ones too: users who got such a role by an earlier import lose it.
        self.source_roles = frozenset(str(row["code"]) for row in table)
        chosen = await self._chosen_departments()
        given_scopes = {_key(row): number(row.get("data_scope")) for row in table}
        has_scopes = self._database.has_field("sys_role", "data_scope")
        scopes = data_scopes(given_scopes, newer=self._database.has_table("sys_role_dept")) if has_scopes else {}
        rows = []
        for row in table:
            key, code = _key(row), str(row["code"] or "")
            origin = f"sys_role {key} {code!r}"
            if _is_deleted(row) or not self._is_importable(origin, code):
                continue
            self._roles[key] = code
            name = self._label(origin, row["name"], code)
            enabled, given = number(row["status"]) == 1, tuple(sorted(perms.get(key, ())))
            scope = scopes.get(key, UNSET)
            rows.append(SourceRole(origin, code, name, enabled, given, _sort(row), scope, chosen.get(key, ())))
        return rows

    async def _chosen_departments(self) -> dict[int, tuple[int, ...]]:
        chosen: dict[int, set[int]] = {}
        for row in await self._database.all("sys_role_dept") if self._database.has_table("sys_role_dept") else []:
            role, department = number(row["role"]), number(row["department"])
            if role is not None and department is not None:
                chosen.setdefault(role, set()).add(department)
        return {role: tuple(sorted(departments)) for role, departments in chosen.items()}

    def _is_importable(self, origin: str, code: str) -> bool:
        try:
            accepted_values.check_role_code(code)
        except ValueError as problem:
            self.refused.append(Remark(origin, str(problem)))
            return False
        if code in self._roles.values():
            # Merging the two would give users of one role the perms of the other.
            self.refused.append(Remark(origin, "another role of this code came first"))
            return False
        return True

    async def _perms_by_role(self) -> dict[int, set[str]]:
        buttons: dict[int, str] = {}
        for row in await self._database.all("sys_menu"):
            perm = canonical(str(row["perm"] or "").strip())
            if type_of(row) is not MenuType.BUTTON or not perm or _is_deleted(row):
                continue
            try:
                accepted_values.check_perm(perm)
            except ValueError as problem:
                self.refused.append(Remark(f"sys_menu {_key(row)}", str(problem)))
                continue
            buttons[_key(row)] = perm
        given: dict[int, set[str]] = {}
        for row in await self._database.all("sys_role_menu"):
            role, menu = number(row["role"]), number(row["menu"])
            if role is not None and menu in buttons:
                given.setdefault(role, set()).add(buttons[menu])
        return given

    async def factors(self) -> AsyncIterator[SourceFactors]:
        """These consoles have none."""
        none: tuple[SourceFactors, ...] = ()
        for row in none:
            yield row

    async def menus(self) -> tuple[Sequence[SourceMenu], Mapping[str, frozenset[int]]]:
        """Only from a table that says where its pages are: versions without it keep them in the front end."""
        if not self._database.has_field("sys_menu", "route_path"):
            return [], {}
        rows: list[SourceMenu] = []
        for row in sorted(await self._database.all("sys_menu"), key=_key):
            if _is_deleted(row):
                continue
            read = read_row(row)
            if isinstance(read, Remark):
                self.refused.append(read)
            else:
                rows.append(read)
        assigned: dict[str, set[int]] = {code: set() for code in self._roles.values()}
        for row in await self._database.all("sys_role_menu"):
            role, menu = number(row["role"]), number(row["menu"])
            if role in self._roles and menu is not None:
                assigned[self._roles[role]].add(menu)
        pages = {row.menu.id for row in rows if row.menu.type is not MenuType.BUTTON}
        return rows, {code: frozenset(ids & pages) for code, ids in assigned.items()}

    async def count(self) -> int:
        return await self._database.count_users()

    async def users(self) -> AsyncIterator[tuple[int, Sequence[SourceUser]]]:
        async for rows in self._database.user_batches(BATCH):
            existing = [row for row in rows if not _is_deleted(row)]
            self.skipped += len(rows) - len(existing)
            roles = await self._roles_by_user(rows[0]["id"], rows[-1]["id"])
            yield len(rows), [_user(row, tuple(sorted(roles.get(_key(row), ())))) for row in existing]

    async def _roles_by_user(self, first: object, last: object) -> dict[int, set[str]]:
        """Role codes by user id. Roles that were deleted or refused are left out."""
        roles: dict[int, set[str]] = {}
        for row in await self._database.user_roles(first, last):
            user, role = number(row["user"]), number(row["role"])
            if user is not None and role in self._roles:
                roles.setdefault(user, set()).add(self._roles[role])
        return roles

    def _label(self, origin: str, given: object, otherwise: str) -> str:
        """A name that people see, put into a form that may be shown."""
        name = printable(str(given or "")) or otherwise
        if name != given:
            self.adapted.append(Remark(origin, f"the name became {name!r}"))
        return name


def _key(row: dict[str, Any]) -> int:
    return number(row["id"]) or 0


def _is_deleted(row: dict[str, Any]) -> bool:
    # As the backends ask: only rows with 0 exist, so an empty field is a deleted row too.
    return "deleted" in row and number(row["deleted"]) != 0


def _user(row: dict[str, Any], roles: tuple[str, ...]) -> SourceUser:
    return SourceUser(
        origin=f"sys_user {row['id']} {row['username']!r}",
        id=_key(row),
        username=str(row["username"] or ""),
        values=UserChange(
            nickname=row.get("nickname") or str(row["username"] or ""),
            avatar=str(row.get("avatar") or ""),
            department=number(row.get("department")) or UNSET,
            password_hash=_SCHEME.sub("", str(row["password"] or ""), count=1),
            enabled=number(row["status"]) == 1,
            gender=UNSET if row.get("gender") is None else _gender(row["gender"]),
            mobile=UNSET if "mobile" not in row else str(row["mobile"] or "").strip(),
            email=UNSET if "email" not in row else str(row["email"] or "").strip(),
        ),
        created=moment(row.get("created")),
        roles=roles,
    )


def _sort(row: dict[str, Any]) -> int | UnsetType:
    return max(0, number(row["sort"]) or 0) if "sort" in row else UNSET


def _gender(value: object) -> int:
    return given if (given := number(value)) in {1, 2} else 0
