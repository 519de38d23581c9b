"""Who holds a token, and what that allows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from gatehouse.verify.errors import Forbidden, PermsUnknown


@dataclass(frozen=True, slots=True)
class Principal:
    """`perms`, `username` and `department` are None where the check does not know them."""

    user_id: int
    session: str
    roles: frozenset[str]
    expires: float
    perms: frozenset[str] | None = None
    username: str | None = None
    department: int | None = None

    def require_role(self, *any_of: str) -> None:
        """Refuse unless the user holds at least one of these roles."""
        if self.roles.isdisjoint(any_of):
            raise Forbidden(f"user {self.user_id} holds none of the roles {', '.join(any_of)}")

    def require(self, *perms: str) -> None:
        """Refuse unless the user has every one of these perms."""
        if self.perms is None:
            raise PermsUnknown(
                "perms are unknown: use an Introspector, Verifier(perms_in_token=True) or Verifier(role_perms=...)"
            )
        missing = [perm for perm in perms if perm not in self.perms]
        if missing:
            raise Forbidden(f"user {self.user_id} lacks {', '.join(missing)}")


class Checker(Protocol):
    """What the guards need: a `Verifier` or an `Introspector`."""

    @property
    def knows_perms(self) -> bool: ...

    def check(self, token: str) -> Principal:
        """Raises `TokenInvalid`, or `Unavailable` if it cannot be found out."""
        ...

    async def check_async(self, token: str) -> Principal: ...


def bearer(authorization: str | None) -> str | None:
    """The token of an `Authorization` header; None if it carries none."""
    scheme, _, token = (authorization or "").strip().partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None
