"""Changes to accounts by name, as an operator makes them on the command line."""

from __future__ import annotations

from collections.abc import Sequence

from gatehouse.cli.by_name import profile_of, role_of, user_id
from gatehouse.composition import Service
from gatehouse.management.authority import Actor
from gatehouse.stores.database.departments import DepartmentChange, NewDepartment
from gatehouse.stores.database.roles import DataScope, NewRole, Role, RoleChange
from gatehouse.stores.database.users import NewUser, Profile, UserChange

OPERATOR = Actor(None)


class Accounts:
    def __init__(self, service: Service) -> None:
        self._service = service
        self._users = service.management.user_changes
        self._roles = service.management.role_changes
        self._departments = service.management.department_changes

    async def user(self, username: str) -> Profile:
        return await profile_of(self._service, username)

    async def add_user(self, new: NewUser, roles: Sequence[str] = ()) -> int:
        return await self._users.add(OPERATOR, new, [(await self.role(code)).id for code in roles])

    async def edit_user(self, username: str, change: UserChange) -> None:
        await self._users.edit(OPERATOR, await user_id(self._service, username), change)

    async def set_password(self, username: str, hashed: str) -> None:
        await self._users.set_password(OPERATOR, await user_id(self._service, username), hashed)

    async def disable_user(self, username: str) -> None:
        await self.edit_user(username, UserChange(enabled=False))

    async def enable_user(self, username: str) -> None:
        await self.edit_user(username, UserChange(enabled=True))

    async def delete_user(self, username: str) -> None:
        await self._users.delete(OPERATOR, [await user_id(self._service, username)])

    async def grant(self, username: str, roles: Sequence[str]) -> None:
        await self._users.grant(OPERATOR, await user_id(self._service, username), roles)

    async def revoke(self, username: str, roles: Sequence[str]) -> None:
        await self._users.revoke(OPERATOR, await user_id(self._service, username), roles)

    async def role(self, code: str) -> Role:
        return await role_of(self._service, code)

    async def add_role(
        self,
        code: str,
        name: str,
        perms: Sequence[str] = (),
        departments: Sequence[int] = (),
        *,
        enabled: bool = True,
        sort: int = 0,
        data_scope: int = DataScope.OWN,
    ) -> None:
        await self._roles.add(OPERATOR, NewRole(code, name, enabled, sort, data_scope), perms, departments)

    async def edit_role(self, code: str, change: RoleChange, departments: Sequence[int] | None = None) -> None:
        await self._roles.edit(OPERATOR, (await self.role(code)).id, change, departments)

    async def delete_role(self, code: str) -> None:
        await self._roles.delete(OPERATOR, [(await self.role(code)).id])

    async def allow(self, code: str, perms: Sequence[str]) -> None:
        await self._roles.allow(OPERATOR, code, perms)

    async def deny(self, code: str, perms: Sequence[str]) -> None:
        await self._roles.deny(OPERATOR, code, perms)

    async def add_department(self, name: str, parent: int | None, *, enabled: bool = True) -> int:
        return await self._departments.add(OPERATOR, NewDepartment(name, parent, enabled=enabled))

    async def edit_department(self, department: int, change: DepartmentChange) -> None:
        await self._departments.edit(OPERATOR, department, change)

    async def delete_department(self, department: int) -> None:
        await self._departments.delete(OPERATOR, [department])
