"""What an operator sees of the second factors of others, and does to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.management.users import PASSKEY, TOTP

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gatehouse.management.authority import Actor
    from gatehouse.management.users import UserChanges
    from gatehouse.stores.database.passkeys import Passkeys
    from gatehouse.stores.database.totp_and_recovery_codes import Factors
    from gatehouse.stores.database.users import Users


class FactorAdministration:
    def __init__(self, *, factors: Factors, passkeys: Passkeys, users: Users, changes: UserChanges) -> None:
        self._factors = factors
        self._passkeys = passkeys
        self._users = users
        self._changes = changes

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
        return await self._changes.remove_factors(actor, user)
