"""Changes to users, from the console and the command line.

Each is checked against `authority.py` inside its transaction, recorded with who did it and what changed, and takes
effect on the next request of the user.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from msgspec import UNSET

from gatehouse.auth.audit import Event, SessionEndReason
from gatehouse.auth.passwords.password_policy import password_problem
from gatehouse.auth.refusals import PasswordElsewhere, PasswordRefused
from gatehouse.management import accepted_values, authority
from gatehouse.management.accepted_values import check_field
from gatehouse.management.authority import Actor, Holder, grant_of
from gatehouse.stores.database.row_changes import applied, set_columns, without_same
from gatehouse.stores.database.users import UserChange

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatehouse.auth.audit import ClientInfo
    from gatehouse.auth.passwords.hash_pool import HashPool
    from gatehouse.management.account_changes import AccountChanges, Change
    from gatehouse.stores.database.account_transactions import (
        AccountTransaction,
        AccountTransactions,
        StoredRole,
        Target,
    )
    from gatehouse.stores.database.users import NewUser

TOTP, PASSKEY = "totp", "passkey"  # the kinds of second factors


def check_user(user: NewUser | UserChange) -> None:
    check_field("username", user.username, accepted_values.check_username)
    check_field("nickname", user.nickname, accepted_values.check_nickname)
    check_field("avatar", user.avatar, accepted_values.check_avatar)
    check_field("gender", user.gender, accepted_values.check_gender)
    check_field("mobile", user.mobile, accepted_values.check_mobile)
    check_field("email", user.email, accepted_values.check_email)
    check_field("claims", user.claims, accepted_values.check_claims)


class UserChanges:
    def __init__(self, transactions: AccountTransactions, changes: AccountChanges, hashes: HashPool) -> None:
        self._transactions = transactions
        self._changes = changes
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
        async with self._changes.begin(actor) as change:
            transaction = change.transaction
            granted = await transaction.roles({role for _, roles in entries for role in roles})
            parents = await transaction.department_parents()
            for new, roles in entries:
                check_user(new)
                given = tuple(grant_of(role) for role in granted if role.id in roles)
                authority.require_user_change(actor, None, Holder(None, new.department, given), parents)
                user = await transaction.add_user(replace(new, created=self._changes.now))
                await transaction.replace_roles(user, roles)
                added.append(user)
                held = codes([role for role in granted if role.id in roles])
                change.record(Event.USER_ADDED, user, username=new.username, roles=held)
        return added

    async def edit(self, actor: Actor, user: int, values: UserChange, roles: Sequence[int] | None = None) -> None:
        """Set values, and all roles unless they are None."""
        check_user(values)
        disabled = values.enabled is False
        async with self._changes.begin(actor) as change:
            transaction = change.transaction
            target = await self._target(transaction, actor, user)
            values = without_same(values, target.user)
            after = applied(target.user, values)
            wanted = await self._wanted_roles(transaction, actor, target, after.department, roles)
            columns = set_columns(values)
            if columns:
                await transaction.set_user(user, values)
            granted, revoked = await self._replace_roles(transaction, target, wanted)
            detail: dict[str, list[str]] = {"changed": sorted(columns.keys() - {"enabled"})}
            detail |= {"granted": granted} if granted else {}
            detail |= {"revoked": revoked} if revoked else {}
            change.invalidate([user])
            if detail != {"changed": []}:
                change.record(Event.USER_CHANGED, user, **detail)
            if values.enabled is not UNSET:
                change.record(Event.USER_ENABLED if values.enabled else Event.USER_DISABLED, user)
            if disabled:
                change.end_sessions(user, SessionEndReason.DISABLED)

    async def grant(self, actor: Actor, user: int, wanted: Sequence[str]) -> None:
        await self._change_roles(actor, user, wanted, give=True)

    async def revoke(self, actor: Actor, user: int, unwanted: Sequence[str]) -> None:
        await self._change_roles(actor, user, unwanted, give=False)

    async def reset_password(self, actor: Actor, user: int, password: str) -> None:
        """Checks the password by the policy; all sessions of the user end. One's own takes the current password."""
        authority.forbid_own_account(actor, [user])
        target = await self.require_can_manage(actor, user)
        if problem := password_problem(password, target.user.username):
            raise PasswordRefused(problem)
        await self.set_password(actor, user, await self._hashes.hash(password))

    async def set_password(self, actor: Actor, user: int, hashed: str) -> None:
        """Store the hash of a password that has been checked; all sessions end."""
        await self.require_can_manage(actor, user)
        await self.require_own_password(user)
        await self._changes.end_sessions_before(actor, user)
        async with self._changes.begin(actor) as change:
            await self._target(change.transaction, actor, user)
            await change.transaction.set_user(user, UserChange(password_hash=hashed))
            _password_changed(change, user)

    async def replace_own_password(
        self, user: int, checked: str, hashed: str, client: ClientInfo, *, except_session: str | None = None
    ) -> bool:
        """Store the hash of a password that the user has chosen; all sessions but `except_session` end.

        False, and no password changed, if the stored hash is no longer the one that was checked: an operator who sets a
        password while its owner changes it must win.
        """
        await self.require_own_password(user)
        actor = Actor(None, client=client)  # nobody else: the trail names an actor only where that is another user
        await self._changes.end_sessions_before(actor, user, except_session=except_session)
        async with self._changes.begin(actor) as change:
            replaced = await change.transaction.replace_password_hash(user, checked, hashed)
            if replaced:
                _password_changed(change, user, except_session)
        return replaced

    async def require_own_password(self, user: int) -> None:
        """Refused if a directory keeps the user's password: it is changed there."""
        async with self._transactions.begin() as transaction:
            if await transaction.has_directory(user):
                raise PasswordElsewhere("a directory keeps it")

    async def remove_factors(self, actor: Actor, user: int) -> list[str]:
        """Remove all second factors of a user who lost them, or none; returns which there were."""
        authority.forbid_own_account(actor, [user])
        async with self._changes.begin(actor) as change:
            await self._target(change.transaction, actor, user)
            totp, passkeys = await change.transaction.remove_factors(user)
            removed = ([TOTP] if totp else []) + ([PASSKEY] if passkeys else [])
            for kind in removed:
                change.record(Event.FACTOR_RESET, user, factor=kind)
        return removed

    async def delete(self, actor: Actor, users: Sequence[int]) -> None:
        """All of them, or none."""
        authority.forbid_own_account(actor, users)
        async with self._changes.begin(actor) as change:
            targets = await change.transaction.targets(users)
            parents = await change.transaction.department_parents()
            for target in targets:
                authority.require_manage(actor, _holder(target), parents)
                change.record(Event.USER_DELETED, target.user.id, username=target.user.username)
                change.end_sessions(target.user.id, SessionEndReason.DELETED)
            await change.transaction.delete_users(users)
            change.invalidate(users)

    async def require_can_manage(self, actor: Actor, user: int) -> Target:
        """For what is done to a user outside its account, such as ending a session."""
        async with self._transactions.begin() as transaction:
            return await self._target(transaction, actor, user)

    async def _target(self, transaction: AccountTransaction, actor: Actor, user: int) -> Target:
        [target] = await transaction.targets([user])
        authority.require_manage(actor, _holder(target), await transaction.department_parents())
        return target

    async def _change_roles(self, actor: Actor, user: int, named: Sequence[str], *, give: bool) -> None:
        async with self._changes.begin(actor) as change:
            transaction = change.transaction
            target = await self._target(transaction, actor, user)
            held, meant = (
                {role.id for role in target.roles},
                {role.id for role in await transaction.roles_by_code(named)},
            )
            roles = sorted(held | meant if give else held - meant)
            wanted = await self._wanted_roles(transaction, actor, target, target.user.department, roles)
            await self._replace_roles(transaction, target, wanted)
            change.invalidate([user])
            change.record(Event.USER_CHANGED, user, **{"granted" if give else "revoked": list(named)})

    async def _wanted_roles(
        self,
        transaction: AccountTransaction,
        actor: Actor,
        target: Target,
        department: int,
        roles: Sequence[int] | None,
    ) -> Sequence[StoredRole]:
        """The roles that the user is to hold; refused if the actor may not give it these, or this department."""
        wanted = target.roles if roles is None else await transaction.roles(roles)
        after = Holder(target.user.id, department, tuple(grant_of(role) for role in wanted))
        parents = await transaction.department_parents()
        authority.require_user_change(actor, _holder(target), after, parents)
        return wanted

    async def _replace_roles(
        self, transaction: AccountTransaction, target: Target, wanted: Sequence[StoredRole]
    ) -> tuple[list[str], list[str]]:
        """Replace the roles; returns the codes of those that were added, and of those that were removed."""
        added = [role for role in wanted if role not in target.roles]
        removed = [role for role in target.roles if role not in wanted]
        if added or removed:
            await transaction.replace_roles(target.user.id, [role.id for role in wanted])
        return codes(added), codes(removed)


def _password_changed(change: Change, user: int, except_session: str | None = None) -> None:
    change.invalidate([user])
    change.record(Event.PASSWORD_CHANGED, user)
    change.end_sessions(user, SessionEndReason.PASSWORD, except_session=except_session)


def _holder(target: Target) -> Holder:
    return Holder(target.user.id, target.user.department, tuple(grant_of(role) for role in target.roles))


def codes(roles: Sequence[StoredRole]) -> list[str]:
    return sorted(role.code for role in roles)
