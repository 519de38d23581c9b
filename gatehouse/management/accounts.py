"""Changes to accounts by the names that an operator types, and departments.

The rules of each change are in `users.py`, `roles.py` and `account_change.py`, which the console calls as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.auth.audit import Audit, ClientInfo
from gatehouse.auth.sessions.profile_cache import effective_profile
from gatehouse.management.account_change import AccountChanges
from gatehouse.management.authority import Actor
from gatehouse.management.departments import DepartmentChanges
from gatehouse.management.menus import MenuChanges
from gatehouse.management.roles import RoleChanges
from gatehouse.management.users import UserChanges
from gatehouse.stores.database.departments import NewDepartment
from gatehouse.stores.database.roles import DataScope, NewRole
from gatehouse.stores.database.users import UserChange
from gatehouse.stores.errors import Missing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gatehouse.auth.outbox import Outbox
    from gatehouse.auth.passwords.hash_pool import HashPool
    from gatehouse.auth.sessions.sessions import Sessions
    from gatehouse.stores.database.departments import DepartmentChange, Departments
    from gatehouse.stores.database.menus import Menus
    from gatehouse.stores.database.roles import Role, RoleChange, Roles
    from gatehouse.stores.database.transactions import AccountTransactions
    from gatehouse.stores.database.user_search import UserSearch
    from gatehouse.stores.database.users import NewUser, Profile, Users
    from gatehouse.stores.state.protocol import State


class Accounts:
    """`users`, `roles`, `departments` and `menus` are read here; `user_changes` and the like change them by id."""

    def __init__(
        self,
        *,
        users: Users,
        roles: Roles,
        departments: Departments,
        user_search: UserSearch,
        menus: Menus,
        transactions: AccountTransactions,
        hashes: HashPool,
        state: State,
        outbox: Outbox,
        sessions: Sessions,
        audit: Audit,
        clock: Callable[[], float],
        client: ClientInfo | None = None,
    ) -> None:
        self.users = users
        self.roles = roles
        self.departments = departments
        self.user_search = user_search
        self.menus = menus
        self.account_changes = AccountChanges(
            transactions=transactions, outbox=outbox, state=state, sessions=sessions, audit=audit, clock=clock
        )
        self.user_changes = UserChanges(transactions, self.account_changes, hashes)
        self.role_changes = RoleChanges(self.account_changes)
        self.department_changes = DepartmentChanges(self.account_changes)
        self.menu_changes = MenuChanges(self.account_changes)
        self._operator = Actor(None, client=client or ClientInfo())

    # Users

    async def user(self, username: str) -> Profile:
        found = await self.users.by_name(username)
        profile = await effective_profile(self.users, found.id) if found else None
        if profile is None:
            raise Missing(f"there is no user {username!r}")
        return profile

    async def add_user(self, new: NewUser, roles: Sequence[str] = ()) -> int:
        return await self.user_changes.add(self._operator, new, [(await self.role(code)).id for code in roles])

    async def edit_user(self, username: str, values: UserChange) -> None:
        await self.user_changes.edit(self._operator, await self._id_of(username), values)

    async def set_password(self, username: str, hashed: str) -> None:
        """Store the hash of a password that an operator has chosen; all sessions end."""
        await self.user_changes.set_password(self._operator, await self._id_of(username), hashed)

    async def disable_user(self, username: str) -> None:
        await self.user_changes.edit(self._operator, await self._id_of(username), UserChange(enabled=False))

    async def enable_user(self, username: str) -> None:
        await self.user_changes.edit(self._operator, await self._id_of(username), UserChange(enabled=True))

    async def delete_user(self, username: str) -> None:
        await self.user_changes.delete(self._operator, [await self._id_of(username)])

    async def grant(self, username: str, roles: Sequence[str]) -> None:
        await self.user_changes.grant(self._operator, await self._id_of(username), roles)

    async def revoke(self, username: str, roles: Sequence[str]) -> None:
        await self.user_changes.revoke(self._operator, await self._id_of(username), roles)

    async def _id_of(self, username: str) -> int:
        found = await self.users.by_name(username)
        if found is None:
            raise Missing(f"there is no user {username!r}")
        return found.id

    # Roles

    async def role(self, code: str) -> Role:
        found = await self.roles.by_code(code)
        if found is None:
            raise Missing(f"there is no role {code!r}")
        return found

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
        new = NewRole(code, name, enabled, sort, data_scope)
        await self.role_changes.add(self._operator, new, perms, departments)

    async def edit_role(self, code: str, values: RoleChange, departments: Sequence[int] | None = None) -> None:
        """Set values, and the chosen departments unless they are None."""
        await self.role_changes.edit(self._operator, (await self.role(code)).id, values, departments)

    async def delete_role(self, code: str) -> None:
        await self.role_changes.delete(self._operator, [(await self.role(code)).id])

    async def allow(self, code: str, perms: Sequence[str]) -> None:
        await self.role_changes.allow(self._operator, code, perms)

    async def deny(self, code: str, perms: Sequence[str]) -> None:
        await self.role_changes.deny(self._operator, code, perms)

    # Departments

    async def add_department(self, name: str, parent: int | None, *, enabled: bool = True) -> int:
        return await self.department_changes.add(self._operator, NewDepartment(name, parent, enabled=enabled))

    async def edit_department(self, department: int, values: DepartmentChange) -> None:
        await self.department_changes.edit(self._operator, department, values)

    async def delete_department(self, department: int) -> None:
        await self.department_changes.delete(self._operator, [department])
