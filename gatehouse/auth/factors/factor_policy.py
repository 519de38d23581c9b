"""Who must have a second factor, by the settings, and which sessions show one.

Enforced at login by `login/second_factor_step.py`, and for every session on each request, refresh and exchange by
`authentication.py`: however it was opened, and whenever the factor became required.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from gatehouse.auth.sessions.amr import SECOND_FACTORS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from gatehouse.stores.database.passkeys import Passkeys
    from gatehouse.stores.database.totp_and_recovery_codes import Factors
    from gatehouse.stores.database.users import Profile


class FactorMode(StrEnum):
    OPTIONAL = "optional"  # who has one is asked for it
    REQUIRED = "required"  # and everybody must have one
    OFF = "off"  # no login needs one


class FactorPolicy(NamedTuple):
    mode: FactorMode = FactorMode.OPTIONAL
    roles: frozenset[str] = frozenset()  # who holds one of these must have a second factor

    @property
    def is_on(self) -> bool:
        return self.mode is not FactorMode.OFF

    @property
    def requires_some(self) -> bool:
        """Whether any user must have a factor; if not, roles need not be read."""
        return self.mode is FactorMode.REQUIRED or (self.is_on and bool(self.roles))

    def accepts(self, roles: Iterable[str], methods: Collection[str]) -> bool:
        """Whether a session that was proven by these methods may have these roles."""
        return not self.requires(roles) or not SECOND_FACTORS.isdisjoint(methods)

    def requires(self, roles: Iterable[str]) -> bool:
        return self.mode is FactorMode.REQUIRED or (self.is_on and not self.roles.isdisjoint(roles))


class SessionPolicy:
    """The policy for a session and its user."""

    def __init__(self, policy: FactorPolicy, factors: Factors, passkeys: Passkeys) -> None:
        self._policy = policy
        self._factors = factors
        self._passkeys = passkeys
        self.requires_some = policy.requires_some

    async def accepts(self, profile: Profile, methods: Collection[str]) -> bool:
        if self._policy.accepts(profile.roles, methods):
            return True
        if methods:
            return False
        # Opened by 0.1.0, which kept no methods. Its users stay logged in if they have a factor: then its login asked.
        user = [profile.user.id]
        return bool(await self._factors.owners(user) or await self._passkeys.owners(user))
