"""Changes to users, from the console and the command line.

Each is checked against `authority.py` inside its transaction, recorded with who did it and what changed, and takes
effect on the next request of the user.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from gatehouse.auth.accounts import authority, policy
from gatehouse.auth.accounts.authority import RoleGrant
from gatehouse.auth.accounts.field_checks import check_fields
from gatehouse.auth.audit import Event, SessionEndReason
from gatehouse.auth.passwords.policy import password_problem
from gatehouse.auth.refusals import PasswordRefused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatehouse.auth.accounts.authority import Actor
    from gatehouse.auth.accounts.effects import Effects
    from gatehouse.auth.accounts.field_checks import Check
    from gatehouse.auth.passwords.hash_pool import HashPool
    from gatehouse.stores.accounts.transactions import AccountTransaction, AccountTransactions, StoredRole, Target
    from gatehouse.stores.accounts.users import NewUser

USER_CHECKS: dict[str, Check] = {
    "username": policy.check_username,
    "nickname": policy.check_nickname,
    "avatar": policy.check_avatar,
    "gender": policy.check_gender,
    "mobile": policy.check_mobile,
    "email": policy.check_email,
}


class UserChanges:
    def __init__(self, transactions: AccountTransactions, effects: Effects, hashes: HashPool) -> None:
        self._transactions = transactions
        self._effects = effects
        self._hashes = hashes

    async def add(self, actor: Actor, new: NewUser, roles: Sequence[int] = (), password: str = "") -> int:
        """A password is checked by the policy first. Without one the user cannot log in until one is set."""
        if password:
            if problem := password_problem(password, new.username):
                raise PasswordRefused(problem)
            new = replace(new, password_hash=await self._hashes.hash(password))
        [user] = await self.add_many(actor, [(new, roles)])
        return user

    async def add_many(self, actor: Actor, entries: Sequence[tuple[NewUser, Sequence[int]]]) -> list[int]:
        """All of them, or none. Returns their ids."""
        added: list[int] = []
        async with self._transactions.begin() as transaction:
            granted = await transaction.roles({role for _, roles in entries for role in roles})
            authority.require_grant(actor, grants(granted))
            for new, roles in entries:
                check_fields(asdict(new), USER_CHECKS)
                user = await transaction.add_user(replace(new, created=self._effects.now))
                await transaction.replace_roles(user, roles)
                added.append(user)
        for user, (new, roles) in zip(added, entries, strict=True):
            held = codes([role for role in granted if role.id in roles])
            self._effects.record(Event.USER_ADDED, actor, user, username=new.username, roles=held)
        return added

    async def edit(self, actor: Actor, user: int, values: dict[str, Any], roles: Sequence[int] | None = None) -> None:
        """Set columns, and all roles unless they are None."""
        check_fields(values, USER_CHECKS)
        disabled = values.get("enabled") is False
        async with self._transactions.begin() as transaction:
            target = await self._target(transaction, actor, user)
            values = {name: value for name, value in values.items() if value != getattr(target.user, name)}
            if values:
                await transaction.set_user(user, **values)
            granted, revoked = await self._replace_roles(transaction, actor, target, roles)
        detail: dict[str, list[str]] = {"changed": sorted(values.keys() - {"enabled"})}
        detail |= {"granted": granted} if granted else {}
        detail |= {"revoked": revoked} if revoked else {}
        await self._effects.invalidate([user])
        if detail != {"changed": []}:
            self._effects.record(Event.USER_CHANGED, actor, user, **detail)
        if "enabled" in values:
            self._effects.record(Event.USER_ENABLED if values["enabled"] else Event.USER_DISABLED, actor, user)
        if disabled:
            await self._effects.end_sessions(actor, user, SessionEndReason.DISABLED)

    async def grant(self, actor: Actor, user: int, wanted: Sequence[str]) -> None:
        await self._change_roles(actor, user, wanted, give=True)

    async def revoke(self, actor: Actor, user: int, unwanted: Sequence[str]) -> None:
        await self._change_roles(actor, user, unwanted, give=False)

    async def reset_password(self, actor: Actor, user: int, password: str) -> None:
        """Checks the password by the policy; all sessions of the user end. One's own takes the current password."""
        authority.forbid_own_account(actor, [user])
        async with self._transactions.begin() as transaction:
            target = await self._target(transaction, actor, user)
        if problem := password_problem(password, target.user.username):
            raise PasswordRefused(problem)
        await self.set_password(actor, user, await self._hashes.hash(password))

    async def set_password(self, actor: Actor, user: int, hashed: str) -> None:
        """Store the hash of a password that has been checked; all sessions end."""
        await self.require_can_manage(actor, user)
        await self.password_will_change(actor, user)
        async with self._transactions.begin() as transaction:
            await self._target(transaction, actor, user)
            await transaction.set_user(user, password_hash=hashed)
        await self.password_changed(actor, user)

    async def password_will_change(self, actor: Actor, user: int, *, except_session: str | None = None) -> None:
        """End all sessions but `except_session` before the password is written, too.

        If a store or this process fails right after the write, it cannot be repeated with the old password, and a
        session of somebody who knew that one would live on.
        """
        reason = SessionEndReason.PASSWORD
        await self._effects.end_sessions(actor, user, reason, except_session=except_session, change_pending=True)

    async def password_changed(self, actor: Actor, user: int, *, except_session: str | None = None) -> None:
        """Record a changed password, and end all sessions but `except_session`."""
        await self._effects.invalidate([user])
        self._effects.record(Event.PASSWORD_CHANGED, actor, user)
        await self._effects.end_sessions(actor, user, SessionEndReason.PASSWORD, except_session=except_session)

    async def delete(self, actor: Actor, users: Sequence[int]) -> None:
        """All of them, or none."""
        authority.forbid_own_account(actor, users)
        async with self._transactions.begin() as transaction:
            targets = await transaction.targets(users)
            for target in targets:
                authority.require_manage(actor, target.user.id, grants(target.roles))
            await transaction.delete_users(users)
        await self._effects.invalidate(users)
        for target in targets:
            self._effects.record(Event.USER_DELETED, actor, target.user.id, username=target.user.username)
            await self._effects.end_sessions(actor, target.user.id, SessionEndReason.DELETED)

    async def require_can_manage(self, actor: Actor, user: int) -> None:
        """For what is done to a user outside its account, such as ending a session."""
        async with self._transactions.begin() as transaction:
            await self._target(transaction, actor, user)

    async def _target(self, transaction: AccountTransaction, actor: Actor, user: int) -> Target:
        [target] = await transaction.targets([user])
        authority.require_manage(actor, user, grants(target.roles))
        return target

    async def _change_roles(self, actor: Actor, user: int, named: Sequence[str], *, give: bool) -> None:
        async with self._transactions.begin() as transaction:
            target = await self._target(transaction, actor, user)
            held, meant = (
                {role.id for role in target.roles},
                {role.id for role in await transaction.roles_by_code(named)},
            )
            await self._replace_roles(transaction, actor, target, sorted(held | meant if give else held - meant))
        await self._effects.invalidate([user])
        self._effects.record(Event.USER_CHANGED, actor, user, **{"granted" if give else "revoked": list(named)})

    async def _replace_roles(
        self, transaction: AccountTransaction, actor: Actor, target: Target, roles: Sequence[int] | None
    ) -> tuple[list[str], list[str]]:
        """Replace the roles; returns the codes of those that were added, and of those that were removed."""
        if roles is None:
            return [], []
        held = {role.id for role in target.roles}
        added = await transaction.roles(set(roles) - held)
        authority.require_grant(actor, grants(added))
        removed = [role for role in target.roles if role.id not in roles]
        if added or removed:
            await transaction.replace_roles(target.user.id, roles)
        return codes(added), codes(removed)


def grants(roles: Sequence[StoredRole]) -> list[RoleGrant]:
    return [RoleGrant(role.code, role.perms) for role in roles]


def codes(roles: Sequence[StoredRole]) -> list[str]:
    return sorted(role.code for role in roles)
