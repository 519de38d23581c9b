"""Changes to accounts: what an operator does to users, roles and departments, and what each change entails.

Every change is committed first, then the epochs of all whom it touches are raised (so the next request of each sees
it), then sessions that must not survive it are ended. In this order, because a session that opens between the two
last steps reads the raised epoch and with it the change.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gatehouse.auth.accounts import policy
from gatehouse.auth.accounts.perms import allows, names_of
from gatehouse.auth.audit import Audit, Caller, Event, SessionEnd
from gatehouse.auth.sessions.profiles import effective_profile
from gatehouse.stores.errors import InUse, Missing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gatehouse.auth.sessions.sessions import Sessions
    from gatehouse.stores.accounts.departments import Departments
    from gatehouse.stores.accounts.roles import Role, Roles
    from gatehouse.stores.accounts.users import NewUser, Profile, Users
    from gatehouse.stores.state.protocol import State


class Accounts:
    def __init__(
        self,
        *,
        users: Users,
        roles: Roles,
        departments: Departments,
        state: State,
        sessions: Sessions,
        audit: Audit,
        clock: Callable[[], float],
        caller: Caller | None = None,
    ) -> None:
        self.users = users
        self.roles = roles
        self.departments = departments
        self._state = state
        self._sessions = sessions
        self._audit = audit
        self._clock = clock
        self._caller = caller or Caller()

    # Users

    async def user(self, username: str) -> Profile:
        found = await self.users.by_name(username)
        profile = await effective_profile(self.users, found.id) if found else None
        if profile is None:
            raise Missing(f"there is no user {username!r}")
        return profile

    async def add_user(self, new: NewUser, roles: Sequence[str] = ()) -> int:
        policy.check_username(new.username)
        policy.check_text("nickname", new.nickname)
        policy.check_avatar(new.avatar)
        user = await self.users.add(replace(new, created=self._clock()), roles)
        self._record(Event.USER_ADDED, user, username=new.username, roles=list(roles))
        return user

    async def edit_user(self, username: str, /, **values: Any) -> None:
        """Change username, nickname, avatar, department or captcha_exempt."""
        if "username" in values:
            policy.check_username(values["username"])
        if "nickname" in values:
            policy.check_text("nickname", values["nickname"])
        if "avatar" in values:
            policy.check_avatar(values["avatar"])
        user = (await self.user(username)).user.id
        await self.users.change(user, **values)
        await self._invalidate_profiles(user)
        self._record(Event.USER_CHANGED, user, changed=sorted(values))

    async def set_password(self, username: str, hashed: str) -> None:
        """Store the hash of a password that an operator has chosen; all sessions end."""
        user = (await self.user(username)).user.id
        await self.users.change(user, password=hashed)
        await self._password_changed(user, self._caller, keep=None)

    async def replace_own_password(self, user: int, checked: str, hashed: str, caller: Caller, *, keep: str) -> bool:
        """Store the hash of a password that the user has chosen; all sessions but `keep` end.

        False, and nothing changed, if the stored hash is no longer the one that was checked: an operator who sets a
        password while its owner changes it must win.
        """
        if not await self.users.replace_password(user, checked, hashed):
            return False
        await self._password_changed(user, caller, keep=keep)
        return True

    async def _password_changed(self, user: int, caller: Caller, *, keep: str | None) -> None:
        await self._invalidate_profiles(user)
        self._audit.record(Event.PASSWORD_CHANGED, caller, user=user)
        await self._sessions.end_all(user, SessionEnd.PASSWORD, caller, keep=keep)

    async def disable_user(self, username: str) -> None:
        user = (await self.user(username)).user.id
        await self.users.change(user, enabled=False)
        await self._invalidate_profiles(user)
        self._record(Event.USER_DISABLED, user)
        await self._sessions.end_all(user, SessionEnd.DISABLED, self._caller)

    async def enable_user(self, username: str) -> None:
        user = (await self.user(username)).user.id
        await self.users.change(user, enabled=True)
        await self._invalidate_profiles(user)
        self._record(Event.USER_ENABLED, user)

    async def delete_user(self, username: str) -> None:
        user = (await self.user(username)).user.id
        await self.users.delete(user)
        await self._invalidate_profiles(user)
        self._record(Event.USER_DELETED, user, username=username)
        await self._sessions.end_all(user, SessionEnd.DELETED, self._caller)

    async def grant(self, username: str, roles: Sequence[str]) -> None:
        user = (await self.user(username)).user.id
        await self.users.grant(user, roles)
        await self._invalidate_profiles(user)
        self._record(Event.USER_CHANGED, user, granted=list(roles))

    async def revoke(self, username: str, roles: Sequence[str]) -> None:
        user = (await self.user(username)).user.id
        await self.users.revoke(user, roles)
        await self._invalidate_profiles(user)
        self._record(Event.USER_CHANGED, user, revoked=list(roles))

    # Roles

    async def role(self, code: str) -> Role:
        found = await self.roles.by_code(code)
        if found is None:
            raise Missing(f"there is no role {code!r}")
        return found

    async def add_role(self, code: str, name: str, perms: Sequence[str] = ()) -> None:
        policy.check_role_code(code)
        policy.check_text("role name", name)
        _check_perms(perms)
        await self.roles.add(code, name, perms)
        self._record(Event.ROLE_ADDED, None, role=code, perms=list(perms))

    async def edit_role(self, code: str, /, **values: Any) -> None:
        """Change code, name or enabled."""
        if "code" in values:
            policy.check_role_code(values["code"])
        if "name" in values:
            policy.check_text("role name", values["name"])
        role = (await self.role(code)).id
        await self.roles.change(role, **values)
        await self._invalidate_profiles(*await self.roles.holders(role))
        self._record(Event.ROLE_CHANGED, None, role=code, changed=sorted(values))

    async def delete_role(self, code: str) -> None:
        role = (await self.role(code)).id
        holders = await self.roles.holders(role)
        await self.roles.delete(role)
        await self._invalidate_profiles(*holders)
        self._record(Event.ROLE_DELETED, None, role=code)

    async def allow(self, code: str, perms: Sequence[str]) -> None:
        _check_perms(perms)
        role = (await self.role(code)).id
        await self.roles.allow(role, perms)
        await self._invalidate_profiles(*await self.roles.holders(role))
        self._record(Event.ROLE_CHANGED, None, role=code, allowed=list(perms))

    async def deny(self, code: str, perms: Sequence[str]) -> None:
        role = await self.role(code)
        for perm in perms:
            if not allows(role.perms, perm):
                raise Missing(f"role {code!r} does not give {perm!r}")
        # By all names: the one that stays would give the same.
        await self.roles.deny(role.id, [name for perm in perms for name in names_of(perm)])
        await self._invalidate_profiles(*await self.roles.holders(role.id))
        self._record(Event.ROLE_CHANGED, None, role=code, denied=list(perms))

    # Departments

    async def add_department(self, name: str, parent: int | None) -> int:
        policy.check_text("department name", name)
        department = await self.departments.add(name, parent)
        self._record(Event.DEPARTMENT_ADDED, None, department=department)
        return department

    async def edit_department(self, department: int, *, name: str | None, parent: int | None) -> None:
        if name is not None:
            policy.check_text("department name", name)
        await self.departments.change(department, name=name, parent=parent)
        self._record(Event.DEPARTMENT_CHANGED, None, department=department)

    async def delete_department(self, department: int) -> None:
        if len(await self.departments.all()) == 1:
            raise InUse("the last department stays: every user has a place in one")
        await self.departments.delete(department)
        self._record(Event.DEPARTMENT_DELETED, None, department=department)

    async def _invalidate_profiles(self, *users: int) -> None:
        await self._state.raise_epochs(users, self._clock())

    def _record(self, event: Event, user: int | None, **detail: object) -> None:
        self._audit.record(event, self._caller, user=user, detail=detail)


def _check_perms(perms: Sequence[str]) -> None:
    for perm in perms:
        policy.check_perm(perm)
