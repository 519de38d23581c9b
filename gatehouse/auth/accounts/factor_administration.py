"""What an operator sees of the second factors of others, and does to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.auth.accounts import authority
from gatehouse.auth.audit import Audit, Event

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gatehouse.auth.accounts.authority import Actor
    from gatehouse.auth.accounts.users import UserChanges
    from gatehouse.stores.accounts.factors import Factors
    from gatehouse.stores.accounts.passkeys import Passkeys
    from gatehouse.stores.accounts.users import Users

TOTP, PASSKEY = "totp", "passkey"


class FactorAdministration:
    def __init__(
        self, *, factors: Factors, passkeys: Passkeys, users: Users, changes: UserChanges, audit: Audit
    ) -> None:
        self._factors = factors
        self._passkeys = passkeys
        self._users = users
        self._changes = changes
        self._audit = audit

    async def kinds(self, users: Sequence[int]) -> Mapping[int, Sequence[str]]:
        """Which second factors each of these users has; those without any are left out."""
        found: dict[int, list[str]] = {}
        for kind, owners in ((TOTP, await self._factors.owners(users)), (PASSKEY, await self._passkeys.owners(users))):
            for user in owners:
                found.setdefault(user, []).append(kind)
        return found

    async def password_login(self, username: str) -> bool:
        credentials = await self._users.credentials(username)
        return credentials is not None and credentials.password_login

    async def reset(self, actor: Actor, user: int) -> list[str]:
        """Remove all factors of a user who lost them; returns which. From then on the password alone logs in."""
        authority.forbid_own_account(actor, [user])
        await self._changes.require_can_manage(actor, user)
        removed = [TOTP] if await self._factors.end_totp(user) else []
        if await self._passkeys.delete_all(user):
            removed.append(PASSKEY)
        for kind in removed:
            self._audit.record(Event.FACTOR_RESET, actor.client, user=user, actor=actor.user, detail={"factor": kind})
        return removed
