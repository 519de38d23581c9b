"""Changes to accounts by name, as an operator makes them on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gatehouse.cli.by_name import profile_of, role_of, user_id
from gatehouse.composition import Service
from gatehouse.management.authority import Actor
from gatehouse.stores.database.roles import Role
from gatehouse.stores.database.users import NewUser, Profile

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

    async def edit_user(self, username: str, /, **values: Any) -> None:
        await self._users.edit(OPERATOR, await user_id(self._service, username), values)

    async def set_password(self, username: str, hashed: str) -> None:
        await self._users.set_password(OPERATOR, await user_id(self._service, username), hashed)

    async def disable_user(self, username: str) -> None:
        await self.edit_user(username, enabled=False)

    async def enable_user(self, username: str) -> None:
        await self.edit_user(username, enabled=True)

    async def delete_user(self, username: str) -> None:
        await self._users.delete(OPERATOR, [await user_id(self._service, username)])

    async def grant(self, username: str, roles: Sequence[str]) -> None:
        await self._users.grant(OPERATOR, await user_id(self._service, username), roles)

    async def revoke(self, username: str, roles: Sequence[str]) -> None:
        await self._users.revoke(OPERATOR, await user_id(self._service, username), roles)

    async def role(self, code: str) -> Role:
        return await role_of(self._service, code)

    async def add_role(
        self, code: str, name: str, perms: Sequence[str] = (), departments: Sequence[int] = (), **values: Any
    ) -> None:
        await self._roles.add(OPERATOR, {"code": code, "name": name, **values}, perms, departments)

    async def edit_role(self, code: str, departments: Sequence[int] | None = None, /, **values: Any) -> None:
        await self._roles.edit(OPERATOR, (await self.role(code)).id, values, departments)

    async def delete_role(self, code: str) -> None:
        await self._roles.delete(OPERATOR, [(await self.role(code)).id])

    async def allow(self, code: str, perms: Sequence[str]) -> None:
        await self._roles.allow(OPERATOR, code, perms)

    async def deny(self, code: str, perms: Sequence[str]) -> None:
        await self._roles.deny(OPERATOR, code, perms)

    async def add_department(self, name: str, parent: int | None, **values: Any) -> int:
        return await self._departments.add(OPERATOR, {"name": name, "parent": parent, **values})

    async def edit_department(self, department: int, **values: Any) -> None:
        await self._departments.edit(OPERATOR, department, values)

    async def delete_department(self, department: int) -> None:
        await self._departments.delete(OPERATOR, [department])
